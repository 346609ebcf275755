// What is there around the views: routes, the language, the shelf. Headless Chromium over web/dist, which `cargo xtask web` builds.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { test } from "./fixtures.js";
import { axe, inkAndPaper, openBook, openSample, opened, scrollsSideways } from "./harness.js";

test.use({ route: "#/find" });

test("each view has an address, a title and its own part of the page, and Back leads through them", async ({ page }) => {
    const fetched = [];
    page.on("request", (request) => fetched.push(request.url()));
    await page.waitForSelector("#find h1");
    assert.equal(await page.title(), "Find · closeread");
    await page.click("#to-runs");
    await page.waitForSelector("#runs h1");
    assert.equal(await page.title(), "Runs · closeread");
    assert.equal(await page.locator("#find").count(), 0);
    assert.ok(fetched.some((url) => /\/Runs-\w+\.js$/.test(url)) && !fetched.some((url) => /\/Watch-\w+\.js$/.test(url)));
    assert.equal(await page.getAttribute("#to-runs", "aria-current"), "page");
    assert.equal(await page.evaluate(() => document.activeElement.closest("main") !== null), true, "the focus is on the view's heading");
    await page.goBack();
    await page.waitForSelector("#find h1");
    assert.equal(await page.getAttribute("#to-find", "aria-current"), "page");
});

test("the language is chosen by the browser, changed by hand and kept", async ({ page }) => {
    await page.waitForSelector("#find h1");
    assert.equal(await page.getAttribute("html", "lang"), "en");
    await page.click("#language");
    assert.equal(await page.textContent("#to-watch"), "旁观");
    await page.waitForFunction(() => document.querySelector("#find h1")?.textContent === "检索");
    await page.reload();
    await page.waitForFunction(() => document.querySelector("#find h1")?.textContent === "检索");
    assert.equal(await page.getAttribute("html", "lang"), "zh");
    assert.equal(await page.textContent("label[for=file]"), "打开文件", "the button for files is the page's own, in its language");
});

test("arrows move among the works of the sample and open none", async ({ page }) => {
    await page.focus("#book-chip");
    await page.keyboard.press("Enter");
    await page.locator("[data-work]").first().waitFor();
    await page.focus("[data-work]");
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.evaluate(() => document.activeElement.dataset.work), "the-loan-of-the-bell");
    assert.equal(await page.textContent("#status"), "");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /token/.test(document.querySelector("#status").textContent), null, { timeout: 60_000 });
    assert.match(await page.textContent("#status"), /^赊渡簿: [\d,]+ tokens in [\d,]+ passages; Chinese/);
});

test("pasted text is a book", async ({ page }) => {
    await page.click("#book-chip");
    await page.click("#books summary");
    await page.fill("#pasted", "Ana lit the lamp. The boats stayed in the harbour.");
    await page.click("#open-pasted");
    await opened(page, "pasted text");
    assert.match(await page.textContent("#status"), /in 1 passage;/, "one is not many");
});

test("book and question are in the address, and a reload finds both again", async ({ page, origin }) => {
    await openBook(page, { name: "lamp.txt", bytes: "Ana lit the lamp. The boats stayed in the harbour." });
    await page.fill("#question", "Who lit the lamp?");
    await page.press("#question", "Enter");
    await page.waitForSelector("#passages li");
    assert.match(page.url(), /#\/find\?b=[0-9a-f]{16}&q=Who/);
    assert.equal(await page.title(), "Find · lamp · closeread");
    await page.reload();
    await page.waitForSelector("#passages li");
    assert.equal(await page.inputValue("#question"), "Who lit the lamp?");
    assert.equal(await page.textContent("#book-chip i"), "lamp");
    await page.goto(`${origin}#/find?b=0123456789abcdef&q=x`);
    await page.waitForFunction(() => /does not have the book/.test(document.querySelector("#problem").textContent));
});

test("a book that was opened before is offered, and forgotten on demand", async ({ page }) => {
    await openBook(page, { name: "lamp.txt", bytes: "Ana lit the lamp." });
    await openBook(page, { name: "boat.txt", bytes: "The boats stayed in the harbour." });
    await page.click("#book-chip");
    await page.click("[data-recent]:has-text('lamp')");
    await opened(page, "lamp");
    await page.goBack();
    await page.waitForFunction(() => document.querySelector("#book-chip i")?.textContent === "boat");
    await page.click("#book-chip");
    await page
        .locator("li", { has: page.locator("[data-recent]:has-text('lamp')") })
        .getByRole("button", { name: "Forget lamp" })
        .click();
    await page.waitForFunction(() => document.querySelectorAll("[data-recent]").length === 1);
});

test("an address whose book is not here yet asks its question once the file is opened", async ({ page, origin }) => {
    const lamp = { name: "lamp.txt", bytes: "Ana lit the lamp. The boats stayed in the harbour." };
    await openBook(page, lamp);
    await page.fill("#question", "Who lit the lamp?");
    await page.press("#question", "Enter");
    await page.waitForSelector("#passages li");
    const address = page.url();
    await page.click("#book-chip");
    const forget = page.getByRole("button", { name: "Forget lamp" });
    await forget.click();
    await forget.waitFor({ state: "detached" });
    await page.goto("about:blank");
    await page.goto(`${origin}#/find`);
    await openBook(page, { name: "boat.txt", bytes: "The boats stayed in the harbour." });
    await page.goto(address);
    await page.waitForFunction(() => /does not have the book/.test(document.querySelector("#problem").textContent));
    // What is asked meanwhile is about the book that is open.
    await page.fill("#question", "Where are the boats?");
    await page.press("#question", "Enter");
    await page.waitForSelector("#passages li");
    assert.notEqual(new URL(page.url()).hash.slice(0, 26), new URL(address).hash.slice(0, 26));
    await page.goto(address);
    await page.waitForFunction(() => /does not have the book/.test(document.querySelector("#problem").textContent));
    await openBook(page, lamp);
    await page.waitForFunction(() => document.querySelector("#question").value === "Who lit the lamp?");
    await page.waitForSelector("#passages li");
    assert.equal(page.url(), address);
});

test("a book that another tab forgot is said to be gone", async ({ page, context }) => {
    await openBook(page, { name: "lamps.txt", bytes: "Ana lit the lamp in the long hall." });
    await openSample(page, "the-loan-of-the-bell");
    await page.click("#book-chip");
    const kept = page.locator("[data-recent]");
    await kept.waitFor();
    const other = await context.newPage();
    await other.goto(page.url());
    await other.click("#book-chip");
    await other.locator(".forget").click();
    await other.locator("[data-recent]").waitFor({ state: "detached" });
    await kept.click();
    await page.waitForFunction(() => /does not have the book/.test(document.querySelector("#problem").textContent));
    await page.click("#book-chip");
    assert.equal(await kept.count(), 0);
});

test("a book that the browser has no room for is said to be open in this tab alone", async ({ page }) => {
    await page.evaluate(() => {
        IDBObjectStore.prototype.put = () => {
            throw new DOMException("full", "QuotaExceededError");
        };
    });
    const give = (name, words) => page.setInputFiles("#file", { name, mimeType: "text/plain", buffer: Buffer.from(words) });
    await give("lamps.txt", "Ana lit the lamp in the long hall.");
    const said = () => page.waitForFunction(() => /no room or leave to keep this book/.test(document.querySelector("#problem").textContent));
    await said();
    // What is done next does not take it away; another book does.
    await page.fill("#question", "Who lit the lamp?");
    await page.press("#question", "Enter");
    await page.waitForSelector("#passages li");
    await said();
    await page.click(".toast button");
    await page.waitForFunction(() => document.querySelector(".toast").hidden);
    await give("boat.txt", "The boats stayed in the harbour.");
    await said();
    await page.click("#book-chip");
    await page.click('[data-work="shedu-bu"]');
    await page.waitForFunction(() => document.querySelector("#problem").textContent === "");
});

test("a book that came by plain http is said to be open in this tab alone", async ({ page }) => {
    // Such a page has no hashes.
    await page.evaluate(() => delete Crypto.prototype.subtle);
    await page.setInputFiles("#file", { name: "lamps.txt", mimeType: "text/plain", buffer: Buffer.from("Ana lit the lamp in the long hall.") });
    await page.waitForFunction(() => /no room or leave to keep this book/.test(document.querySelector("#problem").textContent));
    await page.click(".toast button");
    await page.waitForFunction(() => document.querySelector(".toast").hidden);
});

test.describe("a page of an older version", () => {
    test.use({ expected: /404|dynamically imported module/ });

    test("says that there is a new one where a view of its own is gone", async ({ page }) => {
        await page.route("**/Watch-*.js", (route) => route.fulfill({ status: 404 }));
        await page.evaluate(() => (location.hash = "#/watch"));
        await page.waitForFunction(() => /there is a new version.* Reload the page/.test(document.querySelector("#problem").textContent));
    });
});

test("the link to what is shown is copied", async ({ page, context, origin }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await openSample(page, "shedu-bu");
    await page.click("#copy-link");
    await page.waitForFunction(() => document.querySelector("#copy-link").textContent === "Copied");
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${origin}#/find?b=shedu-bu`);
    await page.setViewportSize({ width: 360, height: 800 });
    // On a phone, too.
    await page.locator("#copy-link svg").waitFor();
    assert.ok((await page.locator("#language").boundingBox()).height <= 48, "a language is named in one line");
});

test("a page that may not copy says so", async ({ page }) => {
    // A page that came by plain http has no clipboard.
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
    await openSample(page, "shedu-bu");
    await page.click("#copy-link");
    await page.waitForFunction(() => /lets this page copy nothing/.test(document.querySelector("#problem").textContent));
    assert.equal(await page.textContent("#copy-link"), "Copy link");
});

test("a file that is no text says so and keeps the book before it", async ({ page }) => {
    await openBook(page, { name: "lamp.txt", bytes: "Ana lit the lamp." });
    await page.setInputFiles("#file", { name: "x.png", mimeType: "image/png", buffer: Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0]) });
    await page.waitForFunction(() => document.querySelector("#problem").textContent !== "");
    assert.match(await page.textContent("#problem"), /PNG|binary|image/i);
    assert.ok(await page.locator(".toast").isVisible());
    const { y, height } = await page.locator(".toast").boundingBox();
    assert.ok(y > 0 && y + height <= 800, "it is in sight, wherever the page was scrolled to");
    assert.match(await page.textContent("#status"), /still open/);
});

for (const colorScheme of ["light", "dark"]) {
    test(`a page 360 pixels wide does not scroll sideways and axe finds nothing, ${colorScheme}`, async ({ page }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width: 360, height: 700 });
        await page.waitForSelector("#find h1");
        assert.ok(!(await scrollsSideways(page)));
        const [ink, paper] = await inkAndPaper(page);
        assert.ok(colorScheme === "light" ? paper - ink > 150 : ink - paper > 150, `ink ${ink} on paper ${paper}`);
        assert.deepEqual(await axe(page), []);
    });
}

test("a scorecard has the bytes that the command line prints", async ({ page }) => {
    const file = (path) => readFile(new URL(`../../${path}`, import.meta.url));
    const texts = await Promise.all(["items.jsonl", "predictions.jsonl", "scorecard.json"].map((name) => file(`tests/scoring/${name}`)));
    const [gold, predictions, expected] = texts.map(String);
    const wordnet = gunzipSync(await file("core/metrics/assets/wordnet/wordnet-3.0.bin.gz")).toString("base64");
    const punkt = (await file("core/text/assets/punkt-en.txt")).toString("base64");
    const [card, refusal] = await page.evaluate(
        async ([gold, predictions, wordnet, punkt]) => {
            const { default: init, scoreJson } = await import("./closeread_wasm.js");
            await init();
            const named = (name, content) => ({ name, content });
            const options = { metrics: ["f1", "accuracy", "infinitebench_zh_f1", "rougeL", "bleu_2", "meteor"], by: ["kind"] };
            const score = (assets) => scoreJson(named("items.jsonl", gold), named("predictions.jsonl", predictions), options, assets);
            let refusal = "";
            try {
                score(undefined);
            } catch (error) {
                refusal = error.message;
            }
            const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
            return [score({ wordnet: bytes(wordnet), punkt: bytes(punkt) }), refusal];
        },
        [gold, predictions, wordnet, punkt],
    );
    assert.equal(`${card}\n`, expected);
    assert.match(refusal, /^meteor needs .*hand in/);
});

test("a book that comes late takes neither the place nor the passages of one that was chosen after it", async ({ page }) => {
    let come;
    const late = new Promise((resolve) => (come = resolve));
    await page.route("**/sample/the-loan-of-the-bell.txt", async (route) => {
        await late;
        await route.continue();
    });
    await page.click("#book-chip");
    await page.click('[data-work="the-loan-of-the-bell"]');
    await openBook(page, { name: "lamp.txt", bytes: "Ana lit the lamp. The boats stayed in the harbour." });
    const came = page.waitForResponse("**/sample/the-loan-of-the-bell.txt");
    come();
    await (await came).finished();
    // What the page may have asked of its worker by then comes before the next question.
    await page.waitForTimeout(1000);
    await page.fill("#question", "Who lit the lamp?");
    await page.press("#question", "Enter");
    await page.waitForSelector("#passages li");
    assert.match(await page.textContent("#passages li"), /Ana lit the lamp/);
    assert.equal(await page.textContent("#book-chip i"), "lamp");
});

test("a file that is no book leaves the passages of the book before it, whatever was on its way", async ({ page }) => {
    await openBook(page, { name: "lamp.txt", bytes: "Ana lit the lamp. The boats stayed in the harbour." });
    const take = (name, bytes) =>
        page.evaluate(
            ([name, bytes]) => {
                const transfer = new DataTransfer();
                transfer.items.add(new File([bytes], name));
                document.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
            },
            [name, bytes],
        );
    await take("long.txt", "Bert sold the lamp to the miller and went home. ".repeat(20_000));
    await take("picture.txt", "%PDF-1.7");
    await page.waitForFunction(() => /PDF/.test(document.querySelector("#problem").textContent), undefined, { timeout: 60_000 });
    await page.waitForTimeout(1000);
    assert.equal(await page.textContent("#book-chip i"), "lamp");
    await page.fill("#question", "Who lit the lamp?");
    await page.press("#question", "Enter");
    await page.waitForSelector("#passages li");
    assert.match(await page.textContent("#passages li"), /Ana lit the lamp/);
});

test("of several files that are dropped the first is opened, and the others are named", async ({ page }) => {
    const drop = (...names) =>
        page.evaluate((names) => {
            const transfer = new DataTransfer();
            for (const name of names) transfer.items.add(new File([`${name}: Ana lit the lamp.`], name));
            document.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
        }, names);
    const says = (words) => page.waitForFunction((words) => document.querySelector("#problem").textContent.includes(words), words);
    await page.locator("#find-heading").waitFor();
    await drop("a.txt", "b.txt", "c.txt");
    await says("Not opened: b.txt, c.txt.");
    assert.equal(await page.textContent("#book-chip i"), "a");
    await drop(..."abcdefgh".split("").map((name) => `${name}.txt`));
    await says("Not opened: b.txt, c.txt, d.txt, e.txt, f.txt and 2 more.");
    await drop("d.txt");
    await page.waitForFunction(() => document.querySelector("#book-chip i")?.textContent === "d");
    assert.equal(await page.textContent("#problem"), "");
});

test("who goes back twice at once arrives at the book of the address", async ({ page }) => {
    await openSample(page, "the-loan-of-the-bell");
    await openBook(page, { name: "lamp.txt", bytes: "Ana lit the lamp." });
    await openBook(page, { name: "boat.txt", bytes: "The boats stayed in the harbour." });
    await page.evaluate(() => {
        addEventListener("popstate", () => history.back(), { once: true });
        history.back();
    });
    await page.waitForFunction(() => /b=the-loan-of-the-bell/.test(location.hash));
    await page.waitForTimeout(2000);
    assert.match(await page.textContent("#book-chip i"), /Bell/);
});

test.describe("without a network for a moment", () => {
    test.use({ expected: /ERR_FAILED/ });

    test("a book is opened at the second try, though the worker could not be fetched at the first", async ({ page }) => {
        await page.waitForSelector("#find h1");
        await page.route("**/worker.js", (route) => route.abort());
        await page.setInputFiles("#file", { name: "lamp.txt", mimeType: "text/plain", buffer: Buffer.from("Ana lit the lamp.") });
        await page.waitForFunction(() => /worker could not be started/.test(document.querySelector("#problem").textContent));
        await page.unroute("**/worker.js");
        await openBook(page, { name: "lamp.txt", bytes: "Ana lit the lamp." });
    });
});

// What is there around the views: routes, the language, the shelf. Headless Chromium over web/dist, which `cargo xtask web` builds.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { axe, inkAndPaper, openBook, scrollsSideways, useBrowser } from "./harness.js";

const use = useBrowser();
const visible = (page) => page.$$eval("main > section", (sections) => sections.filter(({ hidden }) => !hidden).map(({ id }) => id));

test("each view has an address and is fetched when it is first shown", async () => {
    const { page } = use;
    const fetched = [];
    page.on("request", (request) => fetched.push(request.url()));
    await page.waitForSelector("#lab h2");
    assert.deepEqual(await visible(page), ["book", "lab"]);
    await page.click("#to-runs");
    await page.waitForSelector("#runs h2");
    assert.deepEqual(await visible(page), ["runs"]);
    assert.ok(fetched.some((url) => url.endsWith("runs/index.js")) && !fetched.some((url) => url.endsWith("theatre/index.js")));
    assert.equal(await page.getAttribute("#to-runs", "aria-current"), "page");
    await page.goBack();
    assert.deepEqual(await visible(page), ["book", "lab"]);
});

test("the language is chosen by the browser, changed by hand and kept", async () => {
    const { page } = use;
    await page.waitForSelector("#lab h2");
    assert.equal(await page.getAttribute("html", "lang"), "en");
    await page.selectOption("#language", "zh");
    assert.equal(await page.textContent("#to-theatre"), "方法剧场");
    await page.waitForFunction(() => document.querySelector("#lab h2")?.textContent === "检索实验室");
    await page.reload();
    await page.waitForFunction(() => document.querySelector("#lab h2")?.textContent === "检索实验室");
    assert.equal(await page.getAttribute("html", "lang"), "zh");
});

test("a work of the sample opens by keyboard alone", async () => {
    const { page } = use;
    await page.locator("#sample").waitFor();
    await page.focus("#sample");
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => /tokens in/.test(document.querySelector("#status").textContent), null, { timeout: 60_000 });
    assert.match(await page.textContent("#status"), /^The Loan of the Bell: [\d,]+ tokens in [\d,]+ passages; English/);
});

test("pasted text is a book", async () => {
    const { page } = use;
    await page.click("#book summary");
    await page.fill("#pasted", "Ana lit the lamp. The boats stayed in the harbour.");
    await page.click("#open-pasted");
    await page.waitForFunction(() => document.querySelector("#status").textContent.startsWith("pasted text: "), null, { timeout: 60_000 });
});

test("a file that is no text says so and keeps the book before it", async () => {
    const { page } = use;
    await openBook(page, { name: "lamp.txt", bytes: "Ana lit the lamp." });
    await page.setInputFiles("#file", { name: "x.png", mimeType: "image/png", buffer: Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0]) });
    await page.waitForFunction(() => document.querySelector("#problem").textContent !== "");
    assert.match(await page.textContent("#problem"), /PNG|binary|image/i);
    assert.match(await page.textContent("#status"), /still open/);
});

for (const colorScheme of ["light", "dark"]) {
    test(`a page 360 pixels wide does not scroll sideways and axe finds nothing, ${colorScheme}`, async () => {
        const { page } = use;
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width: 360, height: 700 });
        await page.waitForSelector("#lab h2");
        assert.ok(!(await scrollsSideways(page)));
        const [ink, paper] = await inkAndPaper(page);
        assert.ok(colorScheme === "light" ? paper - ink > 150 : ink - paper > 150, `ink ${ink} on paper ${paper}`);
        assert.deepEqual(await axe(page), []);
    });
}

test("a scorecard has the bytes that the command line prints", async () => {
    const file = (path) => readFile(new URL(`../../${path}`, import.meta.url));
    const texts = await Promise.all(["items.jsonl", "predictions.jsonl", "scorecard.json"].map((name) => file(`tests/scoring/${name}`)));
    const [gold, predictions, expected] = texts.map(String);
    const wordnet = (await file("core/metrics/assets/wordnet/wordnet-3.0.bin")).toString("base64");
    const punkt = (await file("core/text/assets/punkt-en.txt")).toString("base64");
    const [card, refusal] = await use.page.evaluate(async ([gold, predictions, wordnet, punkt]) => {
        const { default: init, scoreJson } = await import("./closeread_wasm.js");
        await init();
        const named = (name, content) => ({ name, content });
        const options = { metrics: ["f1", "accuracy", "infinitebench_zh_f1", "rougeL", "bleu_2", "meteor"], by: ["kind"] };
        const score = (assets) => scoreJson(named("items.jsonl", gold), named("predictions.jsonl", predictions), options, assets);
        let refusal = "";
        try { score(undefined); } catch (error) { refusal = error.message; }
        const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
        return [score({ wordnet: bytes(wordnet), punkt: bytes(punkt) }), refusal];
    }, [gold, predictions, wordnet, punkt]);
    assert.equal(card + "\n", expected);
    assert.match(refusal, /^meteor needs .*hand in/);
});

// Find as its users meet it, and held against the command line on the same books.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ask, column } from "./finding.js";
import { needs, test } from "./fixtures.js";
import { BINARY, axe, inkAndPaper, openBook, openSample, scrollsSideways } from "./harness.js";

test.use({ route: "#/find" });
const run = promisify(execFile);

/** Sixty chapters; the lamp is lit in the first, the fortieth and, with markup, the last. */
const CHAPTERS = Array.from(
    { length: 60 },
    (_, n) =>
        `The ${n}th day was grey. The boats stayed in the harbour and the men mended nets until the evening bell rang. ` +
        `Nobody spoke of the journey, and the gulls walked about the empty market as if they had bought it. ` +
        (n === 0 ? "Then Ana lit the lamp in the tower. " : "") +
        (n === 40 ? "Ana climbed up again and lit the lamp; the lamp burned green. " : "") +
        (n === 59 ? "On the lamp somebody had written \u202e<img src=x onerror=\"document.title='taken'\"><script>alert(1)</script> and left. " : ""),
);
const BOOK = { name: "harbour.txt", bytes: CHAPTERS.join("\n\n") };

/** Moves the slider to a place between 0 and 1. */
const slide = (page, share) =>
    page.$eval(
        "#budget",
        (slider, share) => {
            slider.value = String(Math.round(share * Number(slider.max)));
            slider.dispatchEvent(new Event("input", { bubbles: true }));
        },
        share,
    );

test("a question finds the same passages in two orders, and the order is in the address", async ({ page }) => {
    await openBook(page, BOOK);
    await ask(page, "Who lit the lamp?");
    const byScore = await column(page, "score");
    const byBook = await column(page, "book");
    assert.match(byScore[0].text, /Ana.*lamp/);
    assert.deepEqual(
        byBook,
        [...byScore].sort((a, b) => a.index - b.index),
    );
    assert.notDeepEqual(byBook, byScore);
    assert.match(await page.textContent("#summary"), /^\d+ passages? of \d+/);
    assert.match(page.url(), /&o=book/);
    await page.goBack();
    assert.ok(await page.isChecked("#order-score"), "Back takes the order back");
});

test("a smaller budget keeps fewer passages; the slider says its budget and makes no step for Back", async ({ page }) => {
    await openBook(page, BOOK);
    await ask(page, "lamp");
    const before = (await column(page, "score")).length;
    const steps = await page.evaluate(() => history.length);
    await page.focus("#budget");
    await page.keyboard.press("Home");
    await page.waitForFunction((n) => document.querySelectorAll("#passages li").length < n, before);
    assert.equal(await page.getAttribute("#budget", "aria-valuetext"), "100 tokens");
    assert.match(page.url(), /k=100/);
    assert.equal(await page.evaluate(() => history.length), steps);
});

test("a question of which the book has no word retrieves nothing, and says so", async ({ page }) => {
    await openBook(page, BOOK);
    await page.fill("#question", "zzzqqq xqzt");
    await page.press("#question", "Enter");
    await page.waitForFunction(() => /No word of the question/.test(document.querySelector("#summary")?.textContent ?? ""));
    assert.equal(await page.locator("#passages li").count(), 0);
    assert.equal(await page.locator(".ribbon rect.retrieved").count(), 0);
    assert.equal(await page.locator(".chart").count(), 0, "no curve of passages that fit by chance");
});

test("a single Chinese character finds nothing, and the page says why", async ({ page }) => {
    await openSample(page, "shedu-bu");
    await page.fill("#question", "船");
    await page.press("#question", "Enter");
    await page.waitForFunction(() => /pairs of characters/.test(document.querySelector("#summary")?.textContent ?? ""));
    await page.fill("#question", "马锣");
    await page.press("#question", "Enter");
    await page.waitForSelector("#passages li");
});

test("markup and direction marks in a book are shown as text", async ({ page }) => {
    await openBook(page, BOOK);
    await ask(page, "somebody had written on the lamp");
    const place = (await column(page, "score")).findIndex(({ text }) => text.includes("<img src=x"));
    assert.ok(place >= 0);
    assert.equal(await page.locator("#find img, #find script").count(), 0);
    await page.locator("#passages li button").nth(place).click();
    await page.waitForFunction(() => /alert/.test(document.querySelector("#reading .passage")?.textContent ?? ""));
    assert.match(await page.textContent("#reading .page"), /<script>alert\(1\)<\/script>/);
    assert.notEqual(await page.title(), "taken");
    const isolated = await page.$eval("#passages li .text", (text) => [getComputedStyle(text).unicodeBidi, text.dir]);
    assert.deepEqual(isolated, ["isolate", "auto"]);
});

test("a passage opens in its place, is copied with it, and gives the focus back", async ({ page, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await openBook(page, BOOK);
    await ask(page, "green lamp");
    const [{ text }] = await column(page, "score");
    await page.locator("#passages li button").first().focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("#reading .page")?.textContent.length > 1500);
    const plain = (words) => words.replace(/\s+/g, " ").trim();
    assert.equal(plain(await page.textContent("#reading .passage")), plain(text));
    assert.ok(BOOK.bytes.includes(await page.textContent("#reading .page")), "the file's own text, before and behind");
    await page.click("#copy-passage");
    await page.waitForFunction(() => /copied/.test(document.querySelector("#status").textContent));
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.ok(plain(copied).startsWith(plain(text)) && /harbour, \d+% into the book$/.test(copied), copied);
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#reading").isHidden());
    assert.equal(await page.evaluate(() => document.activeElement.closest("#passages") !== null), true);
});

test("the ribbon is read by arrow keys, and opens the passage", async ({ page }) => {
    await openBook(page, BOOK);
    await ask(page, "lamp");
    const ribbon = page.locator(".pinned .ribbon svg");
    assert.match(await ribbon.getAttribute("aria-label"), /The book from start to end: \d+ passages? retrieved/);
    await ribbon.focus();
    await page.keyboard.press("ArrowRight");
    assert.match(await ribbon.getAttribute("aria-valuetext"), /^\d+% into the book$/);
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#reading[open] .passage");
});

test("a question of the sample comes with its evidence: marked, counted, found as the budget moves", async ({ page }) => {
    await openSample(page, "the-loan-of-the-bell");
    await page.selectOption("#items", "en-001");
    await page.waitForSelector("#passages li");
    assert.match(await page.textContent("#answers"), /my great-grandfather/);
    assert.match(await page.getAttribute(".pinned .ribbon svg", "aria-label"), /of 1 piece of evidence/);
    assert.equal(await page.locator(".ribbon rect.not-read").count(), 12, "a gap for each chapter");
    await slide(page, 1);
    await page.waitForFunction(() => /1 of 1 piece of evidence/.test(document.querySelector("#summary").textContent));
    const chart = page.locator(".curve svg.drawing");
    await chart.focus();
    await page.keyboard.press("End");
    assert.match(await chart.getAttribute("aria-valuetext"), /found 100%/);
    const [saved] = await Promise.all([page.waitForEvent("download"), page.click(".curve [data-save=csv]")]);
    const recalls = (await readFile(await saved.path(), "utf8"))
        .trim()
        .split("\r\n")
        .slice(1)
        .map((line) => Number(line.split(",")[1]));
    assert.deepEqual(
        recalls,
        [...recalls].sort((a, b) => a - b),
        "more budget, more recall",
    );
    assert.equal(recalls.at(-1), 1);
    await slide(page, 0.6);
    await page.locator("#passages li.evident button").first().click();
    await page.waitForFunction(() =>
        /He was my great-grandfather/.test([...document.querySelectorAll("#reading mark")].map(({ textContent }) => textContent).join("")),
    );
});

test("each figure is saved as CSV, as SVG that stands for itself, and as PNG", async ({ page }) => {
    await openBook(page, BOOK);
    await ask(page, "lamp");
    await page.waitForSelector(".curve svg.drawing");
    const saved = async (kind) => {
        const [download] = await Promise.all([page.waitForEvent("download"), page.click(`.curve [data-save=${kind}]`)]);
        return readFile(await download.path());
    };
    const svg = String(await saved("svg"));
    assert.match(svg, /^<svg[^>]* xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    assert.ok(!/class=|style=|var\(/.test(svg) && /stroke="rgb/.test(svg), "what the style sheet says is in the attributes");
    assert.deepEqual([...(await saved("png")).subarray(1, 4)], [0x50, 0x4e, 0x47]);
    assert.match(String(await saved("csv")), /^tokens of passages,places\r\n\d+,\d+\r\n/);
});

test("a reader marks what proves the answer in a book of their own, and sees at which budget it is found", async ({ page }) => {
    await openBook(page, BOOK);
    await ask(page, "Who lit the lamp?");
    await page.locator("#passages li button").first().click();
    await page.click("#prove");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => /of 1 piece of evidence/.test(document.querySelector("#summary").textContent));
    await page.waitForFunction(() => /found/.test(document.querySelector(".curve svg.drawing")?.getAttribute("aria-valuetext") ?? ""));
});

test("terms explain themselves in one sentence, on focus and to a screen reader", async ({ page }) => {
    await openBook(page, BOOK);
    await ask(page, "lamp");
    const term = page.locator(".budget .term");
    await term.focus();
    const tip = page.locator(`[id="${await term.getAttribute("aria-describedby")}"]`);
    assert.ok(await tip.isVisible());
    assert.match(await tip.textContent(), /^The most tokens .*\.$/);
    await page.keyboard.press("Escape");
    assert.ok(await tip.isHidden());
});

test("everything is done by keyboard alone, in Chinese", async ({ page }) => {
    await page.click("#language");
    await openSample(page, "shedu-bu");
    await page.waitForFunction(() => document.activeElement?.id === "question");
    await page.keyboard.type("赊渡簿");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#passages li");
    assert.match(await page.textContent("#summary"), /个段落中的/);
    assert.deepEqual(await axe(page), []);
});

test("a question that is half typed stays while another view is shown, and belongs to its book", async ({ page }) => {
    await openBook(page, { name: "lamp.txt", bytes: "Ana lit the lamp." });
    await page.fill("#question", "Who lit");
    for (const view of ["ask", "find"]) {
        await page.click(`#to-${view}`);
        await page.locator(`#${view}-heading`).waitFor();
    }
    assert.equal(await page.inputValue("#question"), "Who lit");
    await openBook(page, { name: "boat.txt", bytes: "Ben had a boat." });
    assert.equal(await page.inputValue("#question"), "");
});

for (const colorScheme of ["light", "dark"]) {
    test(`360 pixels wide, with results and a passage open: no sideways scrolling, nothing for axe, ${colorScheme}`, async ({ page }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width: 360, height: 700 });
        await openBook(page, BOOK);
        await ask(page, "lamp");
        assert.ok(!(await scrollsSideways(page)));
        const tall = await page.evaluate(() => document.querySelector("#passages").getBoundingClientRect().top);
        assert.ok(tall < 700, `the first passage is in sight, at ${tall}`);
        await page.evaluate(() => scrollTo(0, document.querySelector("#passages").getBoundingClientRect().top));
        assert.ok(await page.locator(".pinned .ribbon").isVisible(), "the ribbon stays");
        assert.deepEqual(await axe(page), []);
        await page.locator("#passages li button").first().click();
        await page.waitForSelector("#reading[open] .passage");
        const [ink, paper] = await inkAndPaper(page);
        assert.ok(colorScheme === "light" ? paper - ink > 150 : ink - paper > 150, `ink ${ink} on paper ${paper}`);
        assert.deepEqual(await axe(page), []);
    });
}

/** Novels of the shared data with a question each. */
const NOVELS = [
    ["novels/en/pride-and-prejudice.txt", "Why does Elizabeth refuse Mr. Darcy's first proposal?"],
    ["novels/en/dracula.txt", "What does Jonathan Harker see in the castle at night?"],
    ["novels/zh/laocan-youji.txt", "老残在济南听了谁说书？"],
    ["encodings/laocan-youji.gb18030.txt", "老残在济南听了谁说书？"],
];

for (const [path, question] of NOVELS) {
    test(`search over ${path} has the bytes that the command line prints`, async ({ page }) => {
        needs("CLOSEREAD_DATA", "CLOSEREAD_BINARY");
        const data = process.env.CLOSEREAD_DATA;
        const bytes = (await readFile(`${data}/${path}`)).toString("base64");
        for (const [budget, order] of [
            [1500, "document"],
            [20000, "score"],
        ]) {
            const options = ["--retriever", "bm25", "--budget", budget, "--order", order, "--neighbours", 1, "--json"].map(String);
            const { stdout } = await run(BINARY, ["search", `${data}/${path}`, question, ...options], { maxBuffer: 1 << 28 });
            const json = await page.evaluate(
                async ([bytes, question, budget, order]) => {
                    const core = await import("./closeread_books.js");
                    const { need } = await import("./assets.js");
                    await core.default();
                    await need(core, "cl100k", "punkt-en");
                    const index = new core.Index();
                    index.add(
                        "book",
                        Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0)),
                    );
                    return index.searchJson(question, { budget, order, neighbours: 1 });
                },
                [bytes, question, budget, order],
            );
            assert.equal(`${json}\n`, stdout);
        }
        // And the page itself shows them.
        await openBook(page, { name: "novel.txt", bytes: Buffer.from(bytes, "base64") });
        await ask(page, question);
        const { stdout } = await run(BINARY, ["search", `${data}/${path}`, question, "--retriever", "bm25", "--json"], { maxBuffer: 1 << 28 });
        const expected = JSON.parse(stdout).passages.map(({ index, text }) => ({ index, text }));
        assert.deepEqual(await column(page, "book"), expected);
    });
}

test("a ranking is worth what the command line says", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    const out = await mkdtemp(join(tmpdir(), "retrieve-"));
    await run(BINARY, ["retrieve", "--benchmark", "sample", "--retriever", "bm25", "--budget", "1500", "--out", out], { maxBuffer: 1 << 28 });
    const records = (await readFile(join(out, "records.jsonl"), "utf8"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    await openSample(page, "the-loan-of-the-bell");
    for (const id of ["en-001", "en-002", "en-026"]) {
        await page.selectOption("#items", id);
        const [ranked, within] = [
            records.find(({ item, budget }) => item === id && budget == null),
            records.find(({ item, budget }) => item === id && budget === 1500),
        ];
        const share = (value) => (100 * value).toFixed(1);
        const expected = [1, 3, 5, 10].map((k) => [String(k), ...["hit", "recall", "precision", "ndcg"].map((name) => share(ranked.scores[`${name}@${k}`]))]);
        const shown = () => page.$$eval("#worth tbody tr", (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
        await page.waitForFunction(([n]) => document.querySelector("#mrr")?.textContent === n, [share(ranked.scores.mrr)]);
        assert.deepEqual(await shown(), expected, id);
        assert.equal(await page.textContent("#precision"), share(within.scores.evidence_precision), id);
    }
    await rm(out, { recursive: true });
});

test("offsets are bytes; a slice and a conversion to UTF-16 lead to JavaScript's own", async ({ page }) => {
    const [slice, units, facts] = await page.evaluate(async () => {
        const core = await import("./closeread_books.js");
        const { need } = await import("./assets.js");
        await core.default();
        await need(core, "cl100k", "punkt-en");
        const index = new core.Index();
        index.add("a", "老殘 and 👩‍🚀 went. They came back.");
        const second = index.add("b", "Another book. It is short.");
        return [index.slice(0, 0, 4), index.toUtf16(0, new TextEncoder().encode("老殘 and 👩").length), second];
    });
    assert.equal(slice, "老殘", "widened to whole characters");
    assert.equal(units, "老殘 and 👩".length);
    assert.deepEqual([facts.firstPassage, facts.nPassages, facts.name], [1, 1, "b"]);
});

test("what is missing or wrong is said by name", async ({ page }) => {
    const messages = await page.evaluate(async () => {
        const core = await import("./closeread_books.js");
        await core.default();
        const said = (action) => {
            try {
                return action() && "";
            } catch (error) {
                return `${error.name}: ${error.message}`;
            }
        };
        const { need } = await import("./assets.js");
        const early = said(() => new core.Index());
        const wrong = said(() => core.provide("cl100k", new Uint8Array(7)));
        await need(core, "cl100k", "punkt-en");
        const index = new core.Index();
        index.add("a", "It rained.");
        return [
            early,
            wrong,
            said(() => index.add("a", "x")),
            said(() => index.search("x", { retriever: "dense" })),
            said(() => index.search("x", { bugdet: 5 })),
        ];
    });
    assert.match(messages[0], /^AssetError: `punkt-en` is needed first/);
    assert.match(messages[1], /^AssetError: vocabulary of `cl100k_base`: these 7 bytes/);
    assert.match(messages[2], /^UsageError: there is a book `a` already/);
    assert.match(messages[3], /^IndexError: retriever `dense` needs embeddings/);
    assert.match(messages[4], /^UsageError: .*bugdet/);
});

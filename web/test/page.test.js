// The page as its users meet it: headless Chromium over web/dist, which `cargo xtask web` builds.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { crc32 } from "node:zlib";
import { chromium } from "playwright-core";
import { FLAGS, folder, serve } from "./serve.js";

const DIST = new URL("../dist/", import.meta.url);
/** Sixty chapters; the lamp is lit in the first, the fortieth and, with markup, the last. */
const CHAPTERS = Array.from({ length: 60 }, (_, n) =>
    `The ${n}th day was grey. The boats stayed in the harbour and the men mended nets until the evening bell rang. ` +
    `Nobody spoke of the journey, and the gulls walked about the empty market as if they had bought it. ` +
    (n === 0 ? "Then Ana lit the lamp in the tower. " : "") +
    (n === 40 ? "Ana climbed up again and lit the lamp; the lamp burned green. " : "") +
    (n === 59 ? "On the lamp somebody had written <img src=x onerror=\"document.title='taken'\"> and left. " : ""));
const BOOK = { name: "harbour.txt", mimeType: "text/plain", buffer: Buffer.from(CHAPTERS.join("\n\n")) };

let server, browser, page, origin, complaints;

before(async () => {
    server = await serve(folder(DIST));
    origin = server.origin;
    const executablePath = process.env.CLOSEREAD_CHROMIUM ?? "/usr/bin/chromium";
    browser = await chromium.launch({ executablePath, args: FLAGS });
});
after(async () => {
    await browser?.close();
    server.close();
});
beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1000, height: 800 } });
    complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => {
        if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) complaints.push(request.url());
    });
    await page.goto(origin);
});
afterEach(async () => {
    await page.close();
    assert.deepEqual(complaints, [], "errors, or requests to elsewhere");
});

async function open(book = BOOK) {
    await page.setInputFiles("#file", book);
    await page.waitForFunction(() => !document.querySelector("#question").disabled, null, { timeout: 60_000 });
}

async function ask(question) {
    await page.fill("#question", question);
    await page.press("#question", "Enter");
    await page.waitForSelector("#by-document li");
}

/** Passage numbers and texts of a column. */
const column = (id) => page.$$eval(`#${id} li`, (items) => items.map((item) => ({
    index: Number(item.querySelector(".facts").textContent.match(/passage ([\d,]+)/)[1].replace(",", "")),
    text: item.querySelector("p:last-child").textContent,
})));

test("a question finds the same passages in two orders", async () => {
    await open();
    await ask("Who lit the lamp?");
    const [byScore, byDocument] = [await column("by-score"), await column("by-document")];
    assert.match(byScore[0].text, /Ana/);
    assert.match(byScore[0].text, /lamp/);
    const inOrder = (passages) => [...passages].sort((a, b) => a.index - b.index);
    assert.deepEqual(byDocument, inOrder(byScore));
    assert.notDeepEqual(byDocument, byScore);
    assert.equal(await page.locator("#strip span").count(), byScore.length);
    assert.match(await page.textContent("#status"), /^harbour\.txt: [\d,]+ tokens in \d+ passages; en, /);
});

test("a smaller budget keeps fewer passages", async () => {
    await open();
    await ask("lamp");
    const before = (await column("by-score")).length;
    await page.focus("#budget");
    await page.keyboard.press("Home");
    await page.waitForFunction((n) => document.querySelectorAll("#by-score li").length < n, before);
    assert.equal(await page.textContent("#budget-shown"), "100");
    const shownTokens = Number((await page.textContent("#summary")).match(/, (\d+) tokens/)?.[1] ?? 0);
    assert.ok(shownTokens <= 100, `${shownTokens} tokens for a budget of 100`);
});

test("markup in a book is shown as text", async () => {
    await open();
    await ask("somebody had written on the lamp");
    assert.ok((await column("by-score")).some(({ text }) => text.includes("<img src=x")));
    assert.equal(await page.locator("li img").count(), 0);
    assert.notEqual(await page.title(), "taken");
});

test("a file that is no text says so and keeps the book before it", async () => {
    await open();
    await page.setInputFiles("#file", { name: "x.png", mimeType: "image/png", buffer: Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0]) });
    await page.waitForFunction(() => document.querySelector("#problem").textContent !== "");
    assert.match(await page.textContent("#problem"), /PNG|binary|image/i);
    await ask("lamp");
    assert.equal(await page.textContent("#problem"), "");
});

/** A ZIP archive without compression. */
function zip(entries) {
    const [bodies, directory] = [[], []];
    let offset = 0;
    for (const [name, text] of entries) {
        const [file, data] = [Buffer.from(name), Buffer.from(text)];
        const common = Buffer.alloc(26);
        [20, 0, 0, 0, 0x21].forEach((word, n) => common.writeUInt16LE(word, 2 * n));
        common.writeUInt32LE(crc32(data), 10);
        common.writeUInt32LE(data.length, 14);
        common.writeUInt32LE(data.length, 18);
        common.writeUInt16LE(file.length, 22);
        const tail = Buffer.alloc(14);
        tail.writeUInt32LE(offset, 10);
        bodies.push(Buffer.from("PK\x03\x04"), common, file, data);
        directory.push(Buffer.from("PK\x01\x02\x14\x00"), common, tail, file);
        offset += 30 + file.length + data.length;
    }
    const end = Buffer.alloc(18);
    end.writeUInt16LE(entries.length, 4);
    end.writeUInt16LE(entries.length, 6);
    end.writeUInt32LE(Buffer.concat(directory).length, 8);
    end.writeUInt32LE(offset, 12);
    return Buffer.concat([...bodies, ...directory, Buffer.from("PK\x05\x06"), end]);
}

test("an EPUB is read chapter by chapter", async () => {
    const xml = '<?xml version="1.0"?>';
    const chapter = (text) => `${xml}<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><p>${text}</p></body></html>`;
    await open({ name: "b.epub", mimeType: "application/epub+zip", buffer: zip([
        ["mimetype", "application/epub+zip"],
        ["META-INF/container.xml", `${xml}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`],
        ["b.opf", `${xml}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="i">b</dc:identifier><dc:title>Harbour</dc:title><dc:language>en</dc:language><meta property="dcterms:modified">2026-01-01T00:00:00Z</meta></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/><itemref idref="a"/></spine></package>`],
        ["a.xhtml", chapter("Ana lit the lamp.")],
        ["c.xhtml", chapter("The boats stayed &amp; waited.")],
    ]) });
    assert.match(await page.textContent("#status"), /b\.epub.*EPUB/);
    await ask("lamp boats");
    assert.match((await column("by-document"))[0].text, /The boats stayed & waited\. Ana lit the lamp\./);
});

test("a dropped Chinese book in GB18030 is read and searched", async () => {
    // 船 = B4AC, 灯 = B5C6, 亮 = C1C1, 了 = C1CB, 。= A1A3, 海 = BAA3, 静 = BEB2
    const sentence = [0xb4, 0xac, 0xb5, 0xc6, 0xc1, 0xc1, 0xc1, 0xcb, 0xa1, 0xa3, 0xba, 0xa3, 0xbe, 0xb2, 0xc1, 0xcb, 0xa1, 0xa3];
    await page.evaluate((bytes) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([new Uint8Array(bytes)], "灯.txt"));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }, Array.from({ length: 40 }, () => sentence).flat());
    await page.waitForFunction(() => !document.querySelector("#question").disabled);
    assert.match(await page.textContent("#status"), /灯\.txt.*; zh, gb18030/);
    await ask("船灯");
    assert.match((await column("by-document"))[0].text, /船灯亮了/);
});

test("the sample story opens by keyboard alone", async (t) => {
    if (!(await page.locator("#sample").isVisible().catch(() => false))) {
        await page.waitForTimeout(500);
    }
    if (!(await page.locator("#sample").isVisible())) return t.skip("skipped: the sample story needs sample/");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "sample");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.id === "question", null, { timeout: 60_000 });
    await page.keyboard.type("bell");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#by-score li");
});

test("every control has a name", async () => {
    const nameless = await page.$$eval("input, button", (controls) => controls
        .filter((control) => !control.labels?.length && !control.textContent.trim()).map((control) => control.id));
    assert.deepEqual(nameless, []);
});

for (const colorScheme of ["light", "dark"]) {
    test(`a page 360 pixels wide does not scroll sideways, ${colorScheme}`, async () => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width: 360, height: 700 });
        await open();
        await ask("lamp");
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360);
        const [paper, ink] = await page.evaluate(() => {
            const { backgroundColor, color } = getComputedStyle(document.body);
            return [backgroundColor, color].map((rgb) => Number(rgb.match(/\d+/)[0]));
        });
        assert.ok(colorScheme === "light" ? paper - ink > 150 : ink - paper > 150, `ink ${ink} on paper ${paper}`);
    });
}

test("a scorecard has the bytes that the command line prints", async () => {
    const file = (path) => readFile(new URL(`../../${path}`, import.meta.url));
    const texts = await Promise.all(["items.jsonl", "predictions.jsonl", "scorecard.json"].map((name) => file(`tests/scoring/${name}`)));
    const [gold, predictions, expected] = texts.map(String);
    const wordnet = (await file("core/assets/wordnet/wordnet-3.0.bin")).toString("base64");
    const [card, refusal] = await page.evaluate(async ([gold, predictions, wordnet]) => {
        const { default: init, scoreJson } = await import("./closeread_wasm.js");
        await init();
        const named = (name, content) => ({ name, content });
        const options = { metrics: ["f1", "accuracy", "infinitebench_zh_f1", "rougeL", "bleu_2", "meteor"], by: ["kind"] };
        const score = (assets) => scoreJson(named("items.jsonl", gold), named("predictions.jsonl", predictions), options, assets);
        let refusal = "";
        try { score(undefined); } catch (error) { refusal = error.message; }
        return [score({ wordnet: Uint8Array.from(atob(wordnet), (c) => c.charCodeAt(0)) }), refusal];
    }, [gold, predictions, wordnet]);
    assert.equal(card + "\n", expected);
    assert.match(refusal, /meteor.*WordNet/i);
});

// Vectors in the page's workers, kept between visits; the page without a server; the first load.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { firstLoad } from "../tools/first-load.js";
import { needs, test } from "./fixtures.js";
import { BINARY, DIST, openBook, openSample, rankBy, rankedByVectors } from "./harness.js";
import { NoServer, folder } from "./serve.js";

const run = promisify(execFile);
const STORY = new URL("sample/the-loan-of-the-bell.txt", DIST);
const QUESTION = "Who rings the bell?";

test.describe("the encoder", () => {
    test.use({ route: "#/find" });

    test("passages are embedded in the background, the ranking is the command line's, and a second visit embeds nothing", async ({ page }) => {
        test.setTimeout(600_000);
        needs("CLOSEREAD_BINARY");
        // A few chapters: all of the story would take a development build minutes.
        const story = (await readFile(STORY, "utf8")).slice(0, 24_000);
        const visit = async () => {
            await openBook(page, { name: "story.txt", bytes: story });
            await rankBy(page, "hybrid");
            await page.fill("#question", QUESTION);
            await page.press("#question", "Enter");
            return rankedByVectors(page, 580_000);
        };
        const first = await visit();
        assert.match(await page.textContent("#embedding"), /kept in this browser/);
        await page.reload();
        const second = await visit();
        assert.match(await page.textContent("#embedding"), /kept from an earlier visit/);
        assert.deepEqual(second, first);
        const { mkdtemp, writeFile } = await import("node:fs/promises");
        const file = `${await mkdtemp("/tmp/closeread-encoder-")}/story.txt`;
        await writeFile(file, story);
        const { stdout } = await run(BINARY, ["search", file, QUESTION, "--retriever", "hybrid", "--order", "score", "--json"], { maxBuffer: 1 << 28 });
        const expected = JSON.parse(stdout).passages.map(({ index }) => index);
        // Instruction sets round differently, so that near ties may change places.
        const shared = expected.filter((index) => first.includes(index)).length;
        assert.ok(shared >= 0.9 * expected.length, `${shared} of ${expected.length} passages: ${first} against ${expected}`);
        assert.equal(first[0], expected[0]);
    });

    test("vectors that the browser has no room for are not said to be kept", async ({ page }) => {
        await page.route("**/worker.js", async (route) => {
            const worker = await (await route.fetch()).text();
            const full = 'IDBObjectStore.prototype.put = () => { throw new DOMException("full", "QuotaExceededError"); };';
            await route.fulfill({ contentType: "text/javascript", body: `${full}\n${worker}` });
        });
        await openBook(page, { name: "lamps.txt", bytes: "Ana lit the lamp in the long hall." });
        await rankBy(page, "hybrid");
        await page.fill("#question", "Who lit the lamp?");
        await page.press("#question", "Enter");
        await rankedByVectors(page);
        assert.match(await page.textContent("#embedding"), /no room or leave to keep them/);
    });

    test("a book in a language that the model does not know is ranked by BM25, and that is said", async ({ page }) => {
        await openSample(page, "shedu-bu");
        await rankBy(page, "hybrid");
        await page.fill("#question", "马锣");
        await page.press("#question", "Enter");
        await page.waitForFunction(() => /does not know the language “zh”/.test(document.querySelector("#embedding")?.textContent ?? ""));
        await page.waitForSelector("#passages li");
    });
});

test.describe("without a server", () => {
    let online = true;
    const find = folder(DIST);
    test.use({ route: "#/find", serviceWorkers: "allow", site: { find: (path) => (online ? find(path) : Promise.reject(new NoServer())) } });

    test("the page works after the first visit", async ({ page }) => {
        await page.evaluate(() => navigator.serviceWorker.ready);
        online = false;
        try {
            await page.reload();
            await openBook(page, { name: "lamp.txt", bytes: "Ana lit the lamp. The boats stayed in the harbour." });
            await page.fill("#question", "lamp");
            await page.press("#question", "Enter");
            await page.waitForSelector("#passages li");
            await page.click("#to-watch");
            await page.waitForSelector("#watch h1");
        } finally {
            online = true;
        }
    });
});

test.describe("the first load", () => {
    // What it weighs is held by tools/finish.js.
    test("fetches what its list says", async ({ page, origin, context }) => {
        const fetched = new Set();
        context.on("request", (request) => fetched.add(request.url().slice(origin.length).split(/[?#]/)[0] || "index.html"));
        await page.reload({ waitUntil: "networkidle" });
        const listed = firstLoad(fileURLToPath(DIST));
        const unlisted = [...fetched].filter((path) => !listed.includes(path) && !path.includes("data:"));
        assert.deepEqual(unlisted, []);
        const html = await readFile(new URL("index.html", DIST), "utf8");
        const late = [...fetched].filter((path) => path.endsWith(".js") && !html.includes(`"${path}"`));
        assert.deepEqual(late, [], "the page names every module of it, so that all are asked for at once");
    });
});

// `cargo xtask bench web --only interaction,memory`: how long a reader waits for each control on a long novel, and what the tab holds then.
//
// node waits.js TEXT [interaction|memory ...]

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { FLAGS, folder, serve } from "../test/serve.js";
import { chromiumPath } from "../tools/chromium.js";
import { asked, longNovel, median } from "./novel.js";

const [text, ...parts] = process.argv.slice(2);
const wanted = (part) => parts.length === 0 || parts.includes(part);
const N_TURNS = 5;
/** Milliseconds in which every interaction has been painted and told of. */
const SETTLED = 400;

/** The controls of Find, and how each is used. */
const CONTROLS = [
    ["budget, a stop less", async (page) => page.press("#budget", "ArrowLeft")],
    ["budget, the whole book", async (page) => page.press("#budget", "End")],
    ["budget, the least", async (page) => page.press("#budget", "Home")],
    ["order by score", async (page) => page.check("#order-score", { force: true })],
    ["order of the book", async (page) => page.check("#order-book", { force: true })],
    ["a letter of the question", async (page) => page.locator("#question").pressSequentially("x")],
    ["the question asked", async (page) => page.press("#question", "Enter")],
    ["the button that asks", async (page) => page.click("#go")],
    ["neighbours", async (page) => page.locator("#neighbours").press("ArrowDown")],
    ["retriever, hybrid", async (page) => page.check("#retriever-hybrid", { force: true })],
    ["retriever, BM25", async (page) => page.check("#retriever-bm25", { force: true })],
    ["more passages", async (page) => page.click("#more")],
    ["a passage in its book", async (page) => page.click("#passages li button")],
    ["back from the book", async (page) => page.click("#close-reading")],
];

// Isolated, as `closeread serve` serves it: only then does a page hear of its memory.
const ISOLATED = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };
const server = await serve(folder(new URL("../dist/", import.meta.url)), ISOLATED);
const profile = await mkdtemp(join(tmpdir(), "closeread-waits-"));
const browser = await chromium.launchPersistentContext(profile, { executablePath: chromiumPath(), args: FLAGS, headless: true });
try {
    const content = (await readFile(text, "utf8")).replace(/\r/g, "");
    console.log(`${browser.browser()?.version() ?? "Chromium"}, ${text}`);
    const file = await longNovel(content, profile);
    if (wanted("interaction")) await interactions(file);
    if (wanted("memory")) await memory(file);
} finally {
    await browser.close();
    server.close();
    await rm(profile, { recursive: true, force: true });
}

/** The page with the novel, asked about, and the drawer "How" open. */
async function opened(file) {
    const { page } = await asked(browser, server.origin, file);
    await page.locator("#how > summary").click();
    return page;
}

/** Milliseconds from each input to the next paint by the browser's own measure, which rounds to 8; below 16 it tells of none. */
async function interactions(file) {
    const page = await opened(file);
    await page.evaluate(() => {
        globalThis.waits = [];
        new PerformanceObserver((list) => {
            for (const { duration, interactionId } of list.getEntries()) if (interactionId > 0) globalThis.waits.push(duration);
        }).observe({ type: "event", durationThreshold: 16 });
    });
    const times = new Map(CONTROLS.map(([name]) => [name, []]));
    for (let turn = 0; turn < N_TURNS; turn++) {
        for (const [name, use] of CONTROLS) {
            if (name === "more passages" && !(await page.locator("#more").isVisible())) continue;
            await page.evaluate(() => (globalThis.waits.length = 0));
            await use(page);
            await page.waitForTimeout(SETTLED);
            times.get(name).push(Math.max(8, ...(await page.evaluate(() => globalThis.waits))));
        }
    }
    const told = [...times].filter(([, all]) => all.length > 0).map(([name, all]) => [name, median(all), Math.max(...all)]);
    told.sort(([, a], [, b]) => b - a);
    for (const [name, middle, most] of told) console.log(`    ${name}: ${middle} ms, at most ${most} ms`);
    console.log(`to the next paint, medians of ${N_TURNS} turns: ${told[0][1]} ms at the slowest of ${told.length} controls`);
    await page.close();
}

/** What page and workers hold, after a collection of garbage, by the browser's own measure. */
async function memory(file) {
    const page = await opened(file);
    console.log(`memory with the novel, words alone: ${await held(page)}`);
    const start = performance.now();
    await page.check("#retriever-hybrid", { force: true });
    await page.waitForFunction(() => document.querySelector("#pause-embedding") !== null, null, { timeout: 120_000 });
    await page.waitForFunction(() => document.querySelector("#pause-embedding") === null, null, { timeout: 3_600_000 });
    console.log(`memory with the novel and its vectors, embedded in ${((performance.now() - start) / 1000).toFixed(0)} s: ${await held(page)}`);
    await page.close();
}

async function held(page) {
    const { bytes, breakdown } = await page.evaluate(() => performance.measureUserAgentSpecificMemory());
    const of = (scope) =>
        breakdown.filter(({ attribution }) => attribution.some((part) => part.scope.startsWith(scope))).reduce((sum, part) => sum + part.bytes, 0);
    const [window, worker] = [of("Window"), of("DedicatedWorker")].map((part) => (part / 1e6).toFixed(0));
    return `${(bytes / 1e6).toFixed(0)} MB (window ${window}, workers ${worker})`;
}

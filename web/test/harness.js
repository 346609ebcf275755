// What tests do with the page, and what every view is held to.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

export { unit } from "../tools/unit.js";

export const DIST = new URL("../dist/", import.meta.url);
const AXE = new URL("../node_modules/axe-core/axe.min.js", import.meta.url);

/** Opens a book from bytes and waits until it is read. */
export async function openBook(page, { name, bytes, title = name.replace(/\.\w+$/, "") }) {
    await page.setInputFiles("#file", { name, mimeType: "text/plain", buffer: Buffer.from(bytes) });
    await opened(page, title);
}

/** Opens a work of the sample by its id. */
export async function openSample(page, id) {
    await page.click("#book-chip");
    const work = page.locator(`[data-work="${id}"]`);
    const title = await work.locator("i").textContent();
    await work.click();
    await opened(page, title);
}

/** Waits until a book is read, or says why it was not. */
export async function opened(page, title) {
    await page.waitForFunction(
        (start) => {
            const [status, problem] = ["#status", "#problem"].map((id) => document.querySelector(id).textContent);
            return problem !== "" || (status.startsWith(start) && /[:：].*\d/.test(status.slice(start.length)));
        },
        title,
        { timeout: 120_000 },
    );
    assert.equal(await page.textContent("#problem"), "");
}

/** Ranks by `bm25`, `dense` or `hybrid`, in the drawer "How". */
export async function rankBy(page, retriever, compute) {
    if (!(await page.locator("#how").evaluate((drawer) => drawer.open))) await page.click("#how > summary");
    if (compute) await page.selectOption("#compute", compute);
    await page.check(`#retriever-${retriever}`);
}

/** The order of the passages, once every passage has a vector and is ranked by it. */
export async function rankedByVectors(page, timeout = 60_000) {
    await page.waitForFunction(
        () => /^All /.test(document.querySelector("#embedding")?.textContent ?? "") && document.querySelector("#found")?.getAttribute("aria-busy") === "false",
        null,
        { timeout },
    );
    return page.$$eval("#passages li", (items) => items.map((item) => Number(item.dataset.passage)));
}

/** The command line's binary, for tests that hold the page against it: `cargo xtask test` names the one it has built. */
export const BINARY = process.env.CLOSEREAD_BINARY;

/** What axe finds, as lines; nothing, where all is well. */
export async function axe(page) {
    // A script tag would need the page's policy to allow it.
    await page.evaluate(await readFile(AXE, "utf8"));
    const { violations } = await page.evaluate(() => globalThis.axe.run(document));
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`));
}

/** Whether the page is wider than its window. */
export const scrollsSideways = (page) => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

/** Labels of charts that cannot be read: cut off at a side of the window, or smaller than 11 pixels. */
export const unreadable = (page) =>
    page.$$eval("svg.drawing:not(.vh) text", (texts) =>
        texts.flatMap((text) => {
            const { left, right, height } = text.getBoundingClientRect();
            return left < 0 || right > innerWidth || height < 11 ? [text.textContent] : [];
        }),
    );

/** Ink and paper of the page: the first channel of each colour. */
export const inkAndPaper = (page) =>
    page.evaluate(() => {
        const { backgroundColor, color } = getComputedStyle(document.body);
        return [color, backgroundColor].map((rgb) => Number(rgb.match(/\d+/)[0]));
    });

// A long novel, and the page that has opened it: what several measurements begin with.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Tokens of a long novel, and how many characters of English those are. */
const [NOVEL_TOKENS, CHARACTERS] = [300_000, 4.2];
export const QUESTION = "Who rings the bell?";

/** Writes a text of as many characters as a long novel into `folder`, from `content` as often as it takes. */
export async function longNovel(content, folder) {
    const novel = content.repeat(Math.ceil((NOVEL_TOKENS * CHARACTERS) / content.length)).slice(0, NOVEL_TOKENS * CHARACTERS);
    const file = join(folder, "novel.txt");
    await writeFile(file, novel);
    console.log(`a novel of about ${NOVEL_TOKENS} tokens (${novel.length} characters):`);
    return file;
}

/** Opens a novel in a fresh page and asks; seconds from its drop to the first passages. */
export async function asked(browser, origin, file) {
    const page = await browser.newPage();
    await page.goto(`${origin}index.html#/find`);
    await page.locator("#book-chip").waitFor();
    const start = performance.now();
    await page.setInputFiles("#file", file);
    await page.waitForSelector("#question", { timeout: 120_000 });
    await page.fill("#question", QUESTION);
    await page.press("#question", "Enter");
    await page.waitForSelector("#passages li", { timeout: 120_000 });
    return { page, seconds: (performance.now() - start) / 1000 };
}

export function median(values) {
    return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

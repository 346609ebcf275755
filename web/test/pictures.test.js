// Every view in two schemes and two languages, held against small pictures of it in pictures/: what moved, went or changed its colour
// is seen, what only reads differently is not. UPDATE_PICTURES=1 takes them again; look at them before they are kept.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "./fixtures.js";
import { openSample } from "./harness.js";

const KEPT = new URL("pictures/", import.meta.url);
const UPDATE = process.env.UPDATE_PICTURES;
/** A picture's size, a quarter of the window's, and that of the squares that are compared. */
const [WIDTH, HEIGHT, SQUARE] = [320, 200, 10];
/** How far the mean colour of a square may be off, of 255; how many of the 640 squares may be further; how far all may be in the mean. */
const [OFF, FEW, MEAN] = [20, 6, 6];
const WORKS = { en: "the-loan-of-the-bell", zh: "shedu-bu" };
const SCHEMES = ["light", "dark"];

test.use({ contextOptions: { reducedMotion: "reduce" } });
let work;
test.beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), "closeread-pictures-"));
    await run(join(work, "lamps"));
});
test.afterAll(() => rm(work, { recursive: true, force: true }));

/** A run of twelve questions in four cells. */
async function run(path) {
    await mkdir(path);
    const cells = ["vanilla-rag", "dos-rag"].flatMap((method) => [500, 1500].map((budget) => ({ method, model: "p/x", budget })));
    const items = Array.from({ length: 12 }, (_, n) => ({
        id: `item-${n}`,
        documents: ["harbour"],
        question: `Who lit lamp ${n}?`,
        task: "generative",
        answers: ["Ana"],
    }));
    const records = cells.flatMap((cell, arm) =>
        items.map(({ id }, n) => {
            const right = (n + arm) % 3 > 0;
            return {
                item: id,
                ...cell,
                repeat: 0,
                outcome: "answered",
                answer: right ? "Ana" : "Bert",
                scores: { f1: right ? 1 : 0 },
                prompt_tokens: 480 + n,
                seconds: 0.1,
                calls: [
                    {
                        prompt: "rag",
                        sha256: "0".repeat(64),
                        finish: "stop",
                        counted_tokens: 480,
                        response: "[[Ana]]",
                        usage: { prompt_tokens: 480, completion_tokens: 5 },
                    },
                ],
            };
        }),
    );
    const lines = (values) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
    await writeFile(
        join(path, "manifest.json"),
        JSON.stringify({ format: 2, closeread: "test", configuration: { benchmark: "lamps", cells, tokenizer: "cl100k" } }),
    );
    await writeFile(join(path, "items.jsonl"), lines(items));
    await writeFile(join(path, "records.jsonl"), lines(records));
}

/** Each view with something in it. */
const VIEWS = {
    essay: (page) => page.locator("#idea-whole").waitFor(),
    find: async (page, language) => {
        await openSample(page, WORKS[language]);
        await page.selectOption("#items", { index: 1 });
        await page.locator("#passages li").first().waitFor();
        await page.locator(".curve svg.drawing").waitFor();
    },
    model: async (page, language) => {
        await openSample(page, WORKS[language]);
        await page.locator("#choose-key").check();
    },
    ask: async (page, language) => {
        await openSample(page, WORKS[language]);
        await page.selectOption("#count", { index: 0 });
        await page.click("#ask-all");
        await page.locator("#again").waitFor({ timeout: 120_000 });
    },
    watch: async (page, language) => {
        await openSample(page, WORKS[language]);
        await page.selectOption("#method", "agentic-rag");
        await page.click("#play");
        await page.locator(".ending").waitFor({ timeout: 120_000 });
    },
    runs: async (page) => {
        await page.setInputFiles("#run-folder", join(work, "lamps"));
        await page.locator(".part.report .charts svg").first().waitFor({ timeout: 120_000 });
    },
};

/** Whether the system draws one Chinese character otherwise than another: without a font for them all are the same box. */
const readsChinese = (page) =>
    page.evaluate(() => {
        const drawn = [..."船铃"].map((character) => {
            const context = Object.assign(document.createElement("canvas"), { width: 40, height: 40 }).getContext("2d");
            context.font = "32px sans-serif";
            context.fillText(character, 2, 34);
            return context.getImageData(0, 0, 40, 40).data.join();
        });
        return drawn[0] !== drawn[1];
    });

/** What is seen, in small, and its mean colours square by square. */
const small = async (page, png) =>
    page.evaluate(
        async ([source, width, height]) => {
            const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${source}`)).blob(), {
                resizeWidth: width,
                resizeHeight: height,
                resizeQuality: "high",
            });
            const canvas = Object.assign(document.createElement("canvas"), { width, height });
            canvas.getContext("2d").drawImage(image, 0, 0);
            return canvas.toDataURL("image/webp", 0.7).split(",")[1];
        },
        [png.toString("base64"), WIDTH, HEIGHT],
    );

const squares = (page, webp) =>
    page.evaluate(
        async ([source, width, height, square]) => {
            const canvas = Object.assign(document.createElement("canvas"), { width, height });
            const context = canvas.getContext("2d");
            context.drawImage(await createImageBitmap(await (await fetch(`data:image/webp;base64,${source}`)).blob()), 0, 0);
            const means = [];
            for (let y = 0; y < height; y += square) {
                for (let x = 0; x < width; x += square) {
                    const { data } = context.getImageData(x, y, square, square);
                    const sums = [0, 0, 0];
                    for (let n = 0; n < data.length; n += 4) for (let c = 0; c < 3; c++) sums[c] += data[n + c];
                    means.push(sums.map((sum) => (4 * sum) / data.length));
                }
            }
            return means;
        },
        [webp.toString("base64"), WIDTH, HEIGHT, SQUARE],
    );

for (const [view, show] of Object.entries(VIEWS)) {
    for (const language of Object.keys(WORKS)) {
        test(`${view} in ${language} looks as it did`, async ({ page, origin }) => {
            await page.waitForSelector("#language");
            if (language === "zh" && !(await readsChinese(page))) test.skip(true, "needs a font for Chinese");
            if (language === "zh") await page.click("#language");
            await page.goto(`${origin}#/${view === "essay" ? "" : view}`);
            await page.locator(`#${view}`).waitFor();
            await show(page, language);
            // What has the focus, and where the page was scrolled to, is no part of a view.
            await page.evaluate(() => {
                document.activeElement.blur();
                scrollTo(0, 0);
            });
            // The view's policy lets no page read pictures of its own.
            const scratch = await page.context().newPage();
            for (const colorScheme of SCHEMES) {
                await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
                const name = `${view}-${language}-${colorScheme}.webp`;
                const taken = Buffer.from(await small(scratch, await page.screenshot()), "base64");
                if (UPDATE) {
                    await mkdir(KEPT, { recursive: true });
                    await writeFile(new URL(name, KEPT), taken);
                    continue;
                }
                const [now, kept] = [await squares(scratch, taken), await squares(scratch, await readFile(new URL(name, KEPT)))];
                const off = now.map((colour, n) => Math.max(...colour.map((value, c) => Math.abs(value - kept[n][c]))));
                const far = off.flatMap((by, n) => (by > OFF ? [n] : []));
                const mean = off.reduce((a, b) => a + b) / off.length;
                console.log(`${name}: ${far.length} squares are off, all by ${mean.toFixed(1)}`);
                if (far.length <= FEW && mean <= MEAN) continue;
                const path = test.info().outputPath(name);
                await writeFile(path, taken);
                assert.fail(
                    `${name} is off in ${far.length} of ${off.length} squares, by ${mean.toFixed(1)} in the mean: what is seen now is ${path}, what was kept ` +
                        `web/test/pictures/${name}. Mend the page, or keep the new one: UPDATE_PICTURES=1 npm test pictures`,
                );
            }
        });
    }
}

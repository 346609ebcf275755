// Three journeys from the first screen to an end, each by mouse, by keyboard alone, and on a phone of 360 pixels.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needs, test } from "./fixtures.js";
import { BINARY, opened } from "./harness.js";
import { firefox, keyboard, mouse, phone } from "./hands.js";
import { localServer } from "./reader.js";

const HANDS = { "by mouse": mouse, "by keyboard alone": keyboard, "at 360 pixels": phone, "in Firefox": firefox };
const LONG = { timeout: 300_000 };

/** A story in which the lamp is lit three times, last of all by Ana. */
const NOVEL = {
    name: "harbour.txt",
    mimeType: "text/plain",
    buffer: Buffer.from(
        Array.from(
            { length: 30 },
            (_, n) =>
                `Chapter ${n + 1}\n\nThe boats stayed in the harbour and the men mended nets until the evening bell rang over the mill. ` +
                `Nobody spoke of the journey, and the gulls walked about as if they had bought the market.${n % 10 === 4 ? ` ${["Bert", "Carl", "Ana"][(n - 4) / 10]} lit the lamp in the tower${", and lit the lamp again".repeat((n - 4) / 10)}.` : ""}`,
        ).join("\n\n"),
    ),
};

let work;
test.beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), "closeread-journeys-"));
    if (!BINARY) return;
    execFileSync(BINARY, ["run", "--method", "vanilla-rag,dos-rag", "--budget", "300", "--retriever", "bm25", "--out", "order"], {
        cwd: work,
        stdio: "ignore",
        env: { ...process.env, CLOSEREAD_CACHE: join(work, "cache") },
    });
});
test.afterAll(() => rm(work, { recursive: true, force: true }));

for (const [how, hand] of Object.entries(HANDS)) {
    test.describe(how, () => {
        needs(...(hand.needs ?? []));
        test.use({ allowed: ["http://127.0.0.1:"], ...hand.options });
        const order = (page) => page.$$eval("#passages li", (items) => items.map((item) => Number(item.dataset.passage)));
        const sorted = (numbers) => [...numbers].sort((a, b) => a - b);

        test("a novel of one's own is asked in both orders, and the link is sent to somebody", async ({ page, context }) => {
            const hands = hand.over(page);
            await page.waitForSelector("#passages li");
            await hands.seen();
            await hands.press("#try");
            await hands.take("#file", NOVEL);
            await opened(page, "harbour");
            await hands.type("#own", "Who lit the lamp?");
            await page.keyboard.press("Enter");
            await page.waitForFunction(() => /lamp/.test(document.querySelector("#passages li")?.textContent ?? ""));
            await hands.seen();
            const byScore = await order(page);
            await hands.tick("#order-book");
            await page.waitForFunction(() => /order=book|o=book/.test(location.hash));
            const byBook = await order(page);
            assert.deepEqual(byBook, sorted(byScore));
            assert.notDeepEqual(byBook, byScore);
            await hands.press("a:text('Open in Find')");
            await page.waitForSelector("#find #passages li");
            await hands.seen();
            await hands.press("#passages li:has-text('lit the lamp') button >> nth=0");
            await page.waitForFunction(() => /lit the lamp/.test(document.querySelector("#reading .passage")?.textContent ?? ""));
            await hands.press("#close-reading");
            assert.equal(await page.evaluate(() => document.activeElement.closest("#passages") !== null), true, "the focus is where it was");
            await hands.least("#budget");
            await page.waitForFunction((n) => document.querySelectorAll("#passages li").length < n, byScore.length);
            await hands.press("#copy-link");
            await page.waitForFunction(() => document.querySelector("#status").textContent !== "");
            const link = await hands.pasted();
            assert.equal(link, page.url());
            const somebody = await context.newPage();
            await somebody.goto(link);
            await somebody.waitForSelector("#find #passages li");
            assert.deepEqual(await order(somebody), await order(page));
        });

        test("a model answers in both orders, and is watched as it searches", async ({ after, page }) => {
            const say = (_, n) => (n <= 2 ? "[[1]]" : n === 3 ? "<query>goat Bailiff</query>" : "<answer>1</answer>");
            const server = await localServer(after, { say });
            const hands = hand.over(page);
            await page.waitForSelector("#passages li");
            await hands.press("#book-chip");
            await hands.press("[data-work='the-loan-of-the-bell']");
            await page.waitForFunction(() => /Bell/.test(document.querySelector("#book-chip i")?.textContent ?? ""));
            await hands.press(".hero .acts a");
            await page.waitForSelector("#count");
            await hands.seen();
            await hands.press("#model-chip");
            await page.waitForSelector("#choose-key");
            await hands.tick("#choose-key");
            await hands.choose("#provider", "openai-compatible");
            await hands.type("#model-name", "tiny");
            await hands.type("#base-url", `${server.url}/v1`);
            await hands.seen();
            await hands.press("#to-ask");
            await hands.choose("#count", "1");
            await hands.press("#ask-all");
            await page.waitForFunction(
                () => document.querySelector("#again") && document.querySelector("#progress").textContent.startsWith("1 of 1 "),
                undefined,
                LONG,
            );
            assert.match(await page.textContent("#verdict"), /One question cannot tell/);
            await hands.seen();
            await hands.press("#to-watch");
            await hands.choose("#method", "agentic-rag");
            await hands.choose("#item", "en-002");
            await hands.press("#step");
            await page.locator(".call[data-state=waiting]").waitFor();
            await hands.press("#step");
            await page.locator(".timeline li:nth-child(2)").waitFor();
            await hands.press("#step");
            await page.locator(".ending").waitFor(LONG);
            assert.match(await page.textContent(".ending .outcome"), /^Answered: ./);
            await hands.seen();
            await hands.press(".timeline li:nth-child(1) button");
            await page.waitForFunction(() => /a search for “goat Bailiff”/.test(document.querySelector(".call .parsed")?.textContent ?? ""));
            assert.equal(server.asked.length, 4);
        });

        test("a run is opened, a trial of it read, and its two orders compared", async ({ page }) => {
            needs("CLOSEREAD_BINARY");
            const hands = hand.over(page);
            await page.waitForSelector("#passages li");
            await hands.press("#to-runs");
            await hands.takeFolder("#run-folder", "#run-files", join(work, "order"));
            await page.locator(".part.report table").first().waitFor(LONG);
            assert.match(await page.textContent("#finding"), /\w.*\.$/);
            await hands.seen();
            await hands.press("#part-trials");
            await page.locator(".trial strong").first().waitFor();
            await hands.tick("#verdict-wrong");
            await page.waitForFunction(() => /f=wrong|verdict=wrong|wrong/.test(location.hash));
            await page.locator(".trial strong").first().waitFor();
            if (hand === keyboard) {
                await hands.press(".trial-list");
                await page.keyboard.press("ArrowDown");
                await page.keyboard.press("Enter");
            } else await hands.press(".trial >> nth=0");
            await page.locator("#trace-heading").waitFor();
            await hands.seen();
            const before = await page.textContent("#trace-heading");
            await hands.press("#next-trial");
            await page.waitForFunction((before) => document.querySelector("#trace-heading").textContent !== before, before);
            await page.goBack();
            await page.waitForFunction((before) => document.querySelector("#trace-heading").textContent === before, before);
            await hands.press("#part-compare");
            await page.locator("#compared .conclusion").first().waitFor(LONG);
            assert.match(await page.textContent("#compared"), /dos-rag at 300 .*vanilla-rag at 300/);
            await hands.seen();
        });
    });
}

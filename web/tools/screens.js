// The pictures of docs/screens: `npm run screens`, after `cargo xtask web`; those of the run viewer where CLOSEREAD_BINARY names the program.

import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { BINARY, DIST, openSample } from "../test/harness.js";
import { FLAGS, files, folder, serve } from "../test/serve.js";
import { chromiumPath } from "./chromium.js";

const SCREENS = fileURLToPath(new URL("../../docs/screens/", import.meta.url));
const scored = (name) => readFile(new URL(`../../tests/scoring/${name}`, import.meta.url));

const server = await serve(folder(DIST));
const browser = await chromium.launch({ executablePath: chromiumPath(), args: FLAGS });

/** Opens an address, does something there and keeps what is seen. */
async function shot(name, address, act, { height = 800, colorScheme = "light" } = {}) {
    const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme });
    await page.goto(address);
    await act(page);
    await page.screenshot({ path: `${SCREENS}${name}.png` });
    await page.close();
    console.log(`docs/screens/${name}.png`);
}

const story = async (page) => {
    await openSample(page, "the-loan-of-the-bell");
    await page.locator("#item, #count").first().waitFor();
};
const fromTop = (page, selector) => page.$eval(selector, (element) => element.scrollIntoView());

await shot("essay", server.origin, (page) => page.locator("#passages li").first().waitFor());
await shot("lab", `${server.origin}#/find?b=the-loan-of-the-bell&q=en-060&o=book`, (page) => page.locator("#passages li").first().waitFor({ timeout: 60_000 }));
await shot(
    "model",
    `${server.origin}#/model`,
    async (page) => {
        await openSample(page, "the-loan-of-the-bell");
        await page.locator("#look").waitFor();
    },
    { height: 1000 },
);
await shot(
    "watch-agent",
    `${server.origin}#/watch`,
    async (page) => {
        await story(page);
        await page.selectOption("#item", "en-060");
        await page.click("#play");
        await page.locator(".ending").waitFor({ timeout: 120_000 });
        await page.locator(".timeline li:nth-child(2) button").first().click();
        await page.evaluate(() => scrollTo(0, 0));
    },
    { height: 1100 },
);
await shot(
    "watch-memory",
    `${server.origin}#/watch`,
    async (page) => {
        await story(page);
        await page.selectOption("#method", "memory-agent");
        await page.click("#play");
        await page.locator(".ending").waitFor({ timeout: 120_000 });
        await page.locator(".timeline li:nth-child(3) button").first().click();
        await fromTop(page, ".changes");
    },
    { colorScheme: "dark" },
);
await shot(
    "ask",
    `${server.origin}#/ask`,
    async (page) => {
        await story(page);
        await page.selectOption("#count", "20");
        await page.click("#ask-all");
        await page.locator("#ask-more").waitFor({ timeout: 120_000 });
    },
    { height: 1100 },
);

if (BINARY) {
    const work = await mkdtemp(join(tmpdir(), "closeread-screens-"));
    const run = ["run", "--method", "closed-book,vanilla-rag,dos-rag", "--budget", "300,900,1500", "--retriever", "bm25", "--out", "first"];
    execFileSync(BINARY, run, { cwd: work, stdio: "ignore", env: { ...process.env, CLOSEREAD_CACHE: join(work, "cache") } });
    const opened = async (page) => {
        await page.setInputFiles("#run-folder", join(work, "first"));
        await page.locator(".part.report table").first().waitFor({ timeout: 120_000 });
    };
    await shot("runs-report", `${server.origin}#/runs`, opened, { height: 1100 });
    await shot(
        "runs-trials",
        `${server.origin}#/runs`,
        async (page) => {
            await opened(page);
            await page.click("#part-trials");
            await page.selectOption("#trial-cell", { label: "dos-rag at 900" });
            await page.check("#verdict-right", { force: true });
            await page.locator(".trial strong").first().waitFor();
            await page.focus(".trial-list");
            for (const key of ["ArrowDown", "Enter"]) await page.keyboard.press(key);
            await page.locator("#trace-heading").waitFor();
            await page.evaluate(() => scrollTo(0, 0));
        },
        { colorScheme: "dark", height: 1000 },
    );
    await rm(work, { recursive: true });
}

const [items, predictions, card] = await Promise.all(["items.jsonl", "predictions.jsonl", "scorecard.json"].map(scored));
const contents = { "items.jsonl": items, "predictions.jsonl": predictions };
const site = await serve((path) => files(contents)(path));
const elements = await serve(folder(new URL("elements/", DIST)), { "access-control-allow-origin": "*" });
const embedding = (element, markup) => {
    contents["index.html"] =
        `<!doctype html><html lang="en"><title>A board</title><body style="font: 16px sans-serif; margin: 2rem"><main>${markup}</main>` +
        `<script type="module" src="${elements.origin}closeread-${element}.js"></script>`;
};
embedding("scorer", '<h1>Score your predictions</h1><closeread-scorer gold="items.jsonl" metrics="f1,accuracy,rougeL"></closeread-scorer>');
await shot("scorer", site.origin, async (page) => {
    await page.setInputFiles("closeread-scorer input", { name: "predictions.jsonl", mimeType: "application/jsonl", buffer: predictions });
    await page.locator("closeread-scorer table").first().waitFor({ timeout: 60_000 });
});
const shown = ["f1", "accuracy", "rougeL"];
const row = (name, off, complete) => {
    const scorecard = JSON.parse(card);
    delete scorecard.items;
    scorecard.complete = complete;
    scorecard.metrics = Object.fromEntries(shown.map((metric) => [metric, scorecard.metrics[metric]]));
    for (const bound of ["value", "low", "high"]) scorecard.metrics.f1[bound] = Math.max(0, scorecard.metrics.f1[bound] - off);
    return { name, scorecard, predictions: "predictions.jsonl" };
};
contents["results.json"] = JSON.stringify({
    title: "Two novels",
    gold: "items.jsonl",
    scoring: { metrics: shown },
    rows: [row("dos-rag at 5,000", 0, true), row("full-document", 0.06, true), row("closed-book", 0.2, false)],
});
embedding("leaderboard", '<h1>Leaderboard</h1><closeread-leaderboard src="results.json"></closeread-leaderboard>');
await shot("leaderboard", site.origin, (page) => page.locator("closeread-leaderboard tbody tr").first().waitFor(), { height: 500 });

await browser.close();
for (const one of [server, site, elements]) one.close();

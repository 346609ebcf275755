// The elements that other pages embed: a bare page of one origin, one script tag that names another.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "@playwright/test";
import { files, folder, serve } from "./serve.js";

const ELEMENTS = new URL("../dist/elements/", import.meta.url);
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const scored = (name) => readFile(new URL(`../../tests/scoring/${name}`, import.meta.url), "utf8");
const METRICS = "f1,accuracy,infinitebench_zh_f1,rougeL,bleu_2,meteor";

let library, site, contents, page, complaints;

test.beforeAll(async () => {
    library = await serve(folder(ELEMENTS), { "access-control-allow-origin": "*" });
    contents = {};
    site = await serve((path) => files(contents)(path));
});
test.afterAll(() => {
    library.close();
    site.close();
});
test.use({ viewport: { width: 1000, height: 800 } });
test.beforeEach(async ({ page: bare }) => {
    page = bare;
    complaints = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    contents["items.jsonl"] = await scored("items.jsonl");
    contents["predictions.jsonl"] = await scored("predictions.jsonl");
});
test.afterEach(async () => {
    await page.close();
    assert.deepEqual(complaints, [], "errors in the page");
});

/** A page with one script tag and one element. */
async function embed(element, markup, lang = "en") {
    contents["index.html"] =
        `<!doctype html><html lang="${lang}"><title>A board</title><main><h1>A board</h1>${markup}</main>` +
        `<script type="module" src="${library.origin}closeread-${element}.js"></script>`;
    await page.goto(site.origin);
}

async function drop(name, buffer) {
    await page.setInputFiles("closeread-scorer input", { name, mimeType: "application/jsonl", buffer: Buffer.from(buffer) });
}

async function violations() {
    await page.addScriptTag({ path: AXE });
    const { violations } = await page.evaluate(() => axe.run());
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

test("a dropped file is scored to the bytes that the command line prints", async () => {
    await embed("scorer", `<closeread-scorer gold="items.jsonl" metrics="${METRICS}" by="kind"></closeread-scorer>`);
    await drop("predictions.jsonl", contents["predictions.jsonl"]);
    const link = page.locator("closeread-scorer a[download]");
    await link.waitFor({ timeout: 60_000 });
    const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
    assert.equal(download.suggestedFilename(), "predictions.jsonl.scores.json");
    assert.equal(await readFile(await download.path(), "utf8"), await scored("scorecard.json"));
});

test("wrong rows, what is missing and every score stand in the page", async () => {
    await embed("scorer", `<closeread-scorer gold="items.jsonl"></closeread-scorer>`);
    await drop("mine.jsonl", contents["predictions.jsonl"]);
    await page.locator("closeread-scorer table").first().waitFor({ timeout: 60_000 });
    const text = await page.locator("closeread-scorer").evaluate((element) => element.shadowRoot.textContent);
    const card = JSON.parse(await scored("scorecard.json"));
    const { problems } = card.ledger;
    for (const { message } of Object.values(problems).flat()) assert.ok(text.includes(message), message);
    assert.match(text, card.complete ? /All \d+ items/ : new RegExp(`Incomplete: ${card.ledger.missing} of ${card.n}`));
    assert.deepEqual(await violations(), []);
});

test("rows that could not be used are counted, also those that are not listed", async () => {
    await embed("scorer", `<closeread-scorer gold="items.jsonl"></closeread-scorer>`);
    const others = Array.from({ length: 3000 }, (_, n) => `{"item": "other-${n}", "answer": "x"}`);
    await drop("mine.jsonl", [contents["predictions.jsonl"].trim().split("\n")[0], ...others].join("\n"));
    await page.locator("closeread-scorer table").first().waitFor({ timeout: 60_000 });
    const text = await page.locator("closeread-scorer").evaluate((element) => element.shadowRoot.textContent);
    assert.match(text, /3000 rows could not be used/);
    assert.match(text, /and 2950 more/);
});

test("gold answers that are not there, and a file that is none, say so", async () => {
    await embed("scorer", `<closeread-scorer gold="nothing.jsonl"></closeread-scorer>`);
    const problem = page.locator("closeread-scorer [role=alert]");
    const said = () => page.waitForFunction(() => document.querySelector("closeread-scorer").shadowRoot.querySelector("[role=alert]").textContent !== "");
    await said();
    const before = await problem.textContent();
    assert.match(before, /nothing\.jsonl cannot be read: 404/);
    await drop("mine.jsonl", "{}");
    await said();
    assert.equal(await problem.textContent(), before);

    await embed("scorer", `<closeread-scorer gold="nothing.jsonl"></closeread-scorer>`);
    await said();
    await page.evaluate(() => document.querySelector("closeread-scorer").setAttribute("gold", "items.jsonl"));
    await page.waitForFunction(() => document.querySelector("closeread-scorer").shadowRoot.querySelector("[role=alert]").textContent === "");

    await embed("scorer", `<closeread-scorer gold="items.jsonl"></closeread-scorer>`);
    for (const [name, text] of [
        ["empty.jsonl", ""],
        ["mine.csv", "id,answer\na,yes\n"],
        ["other.jsonl", '{"id":"a","prediction":"yes"}\n'],
        ["one.json", '{"a":"yes"}'],
    ]) {
        await drop(name, text);
        await page.waitForFunction(
            (name) => document.querySelector("closeread-scorer").shadowRoot.querySelector("[role=alert]").textContent.includes(name),
            name,
            { timeout: 60_000 },
        );
        assert.match(await problem.textContent(), /No row of .* could be used/);
        const caption = await page
            .locator("closeread-scorer")
            .evaluate((element) => [...element.shadowRoot.querySelectorAll("caption")].map(({ textContent }) => textContent));
        assert.ok(!caption.includes("Scores, percent, with 95% intervals"), "no table of zeros that looks like a score");
        assert.equal(await page.locator("closeread-scorer a[download]").count(), 0);
    }
});

test("after a failed fetch the same file can be chosen again, and is scored", async () => {
    let fails = true;
    await page.route("**/wordnet-3.0.bin", (route) => (fails ? route.abort() : route.continue()));
    await embed("scorer", `<closeread-scorer gold="items.jsonl" metrics="meteor"></closeread-scorer>`);
    await drop("mine.jsonl", contents["predictions.jsonl"]);
    await page.waitForFunction(
        () => /wordnet/.test(document.querySelector("closeread-scorer").shadowRoot.querySelector("[role=alert]").textContent),
        undefined,
        {
            timeout: 60_000,
        },
    );
    fails = false;
    const field = page.locator("closeread-scorer input");
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), field.click()]);
    assert.equal(await field.inputValue(), "", "a browser tells of no change where the same file is chosen");
    await chooser.setFiles({ name: "mine.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(contents["predictions.jsonl"]) });
    await page.locator("closeread-scorer a[download]").waitFor({ timeout: 60_000 });
});

test("a change of an attribute scores the last file anew", async () => {
    await embed("scorer", `<closeread-scorer gold="items.jsonl"></closeread-scorer>`);
    await drop("mine.jsonl", contents["predictions.jsonl"]);
    const scorer = page.locator("closeread-scorer");
    const names = () =>
        scorer.evaluate((element) => [...element.shadowRoot.querySelector("tbody").querySelectorAll("th, td:first-child")].map((cell) => cell.textContent));
    await scorer.locator("table").first().waitFor({ timeout: 60_000 });
    assert.ok((await names()).length > 1);
    const again = scorer.evaluate(
        (element) =>
            new Promise((scored) => {
                let times = 0;
                element.addEventListener("scored", ({ detail }) => {
                    times++;
                    setTimeout(() => scored([times, Object.keys(detail.metrics), Object.keys(detail.by)]), 500);
                });
                element.setAttribute("metrics", "f1");
                element.setAttribute("by", "kind");
            }),
    );
    assert.deepEqual(await again, [1, ["f1"], ["kind"]]);
    assert.deepEqual(await names(), ["f1"]);
});

test("the example file is scored whole, and every item is listed with its ending", async () => {
    await embed("scorer", `<closeread-scorer gold="items.jsonl"></closeread-scorer>`);
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("closeread-scorer #example").click()]);
    await drop("predictions.jsonl", await readFile(await download.path()));
    await page.locator("closeread-scorer table").first().waitFor({ timeout: 60_000 });
    assert.match(await page.locator("closeread-scorer [role=status]").textContent(), /^All \d+ items/);
    await page.locator("closeread-scorer #by-item summary").click();
    const ids = contents["items.jsonl"]
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).id);
    assert.equal(await page.locator("closeread-scorer #by-item tbody tr").count(), ids.length);
    const [items] = await Promise.all([page.waitForEvent("download"), page.locator("closeread-scorer #by-item button").click()]);
    assert.equal((await readFile(await items.path(), "utf8")).trim().split("\r\n").length, ids.length + 1);
});

test("in the example file an item with options and no task is a choice", async () => {
    contents["items.jsonl"] = `{"id": "q1", "documents": ["b"], "question": "Who?", "options": ["Ana", "Bo"], "correct": 1}\n`;
    await embed("scorer", `<closeread-scorer gold="items.jsonl"></closeread-scorer>`);
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("closeread-scorer #example").click()]);
    assert.equal(await readFile(await download.path(), "utf8"), `{"item":"q1","choice":0}\n`);
});

test("the example file of items in an array has a line for each", async () => {
    contents["items.jsonl"] =
        `[{"id": "q1", "documents": ["b"], "question": "Who?", "task": "generative"},\n {"id": "q2", "documents": ["b"], "question": "?"}]\n`;
    await embed("scorer", `<closeread-scorer gold="items.jsonl"></closeread-scorer>`);
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("closeread-scorer #example").click()]);
    const lines = (await readFile(await download.path(), "utf8")).trim().split("\n").map(JSON.parse);
    assert.deepEqual(
        lines.map(({ item }) => item),
        ["q1", "q2"],
    );
});

test("a page in Chinese is spoken to in Chinese", async () => {
    await embed("scorer", `<closeread-scorer gold="items.jsonl"></closeread-scorer>`, "zh-CN");
    assert.match(await page.locator("closeread-scorer label").textContent(), /预测文件/);
});

/** A board of one honest row, one whose score is not that of its predictions, and one incomplete one. */
async function board() {
    const card = JSON.parse(await scored("scorecard.json"));
    const with_ = (change) => {
        const copy = structuredClone(card);
        delete copy.items;
        copy.complete = true;
        change(copy);
        return copy;
    };
    contents["results.json"] = JSON.stringify({
        title: "Two novels",
        gold: "items.jsonl",
        scoring: { metrics: METRICS.split(","), by: ["kind"] },
        rows: [
            { name: "honest", predictions: "predictions.jsonl", scorecard: with_(() => {}), url: "https://example.org/" },
            {
                name: "<b>hopeful</b>",
                predictions: "predictions.jsonl",
                scorecard: with_((c) => {
                    c.metrics.f1.value += 0.25;
                }),
                url: "javascript:alert(1)",
            },
            {
                name: "half",
                scorecard: with_((c) => {
                    c.complete = false;
                    c.metrics.f1.value = 1;
                }),
                url: "cell-1.html",
            },
        ],
    });
}

const firstCells = () =>
    page
        .locator("closeread-leaderboard")
        .evaluate((element) => [...element.shadowRoot.querySelectorAll("tbody tr")].map((row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent)));

test("rows rank by score, and an incomplete one has no rank", async () => {
    await board();
    await embed("leaderboard", `<closeread-leaderboard src="results.json"><p>Read the table.</p></closeread-leaderboard>`);
    await page.locator("closeread-leaderboard tbody tr").first().waitFor();
    assert.deepEqual(await firstCells(), [
        ["1", "<b>hopeful</b>"],
        ["2", "honest"],
        ["incomplete", "half"],
    ]);
    await page.locator("closeread-leaderboard thead button").first().focus();
    await page.keyboard.press("Enter");
    assert.deepEqual(await firstCells(), [
        ["2", "honest"],
        ["1", "<b>hopeful</b>"],
        ["incomplete", "half"],
    ]);
    assert.equal(await page.locator("closeread-leaderboard th[aria-sort=ascending]").count(), 1);
    assert.equal(await page.locator("closeread-leaderboard a").count(), 2, "a script's address is no link");
    assert.match(
        await page
            .locator("closeread-leaderboard a")
            .last()
            .evaluate((link) => link.href),
        /\/cell-1\.html$/,
    );
    assert.deepEqual(await violations(), []);
});

test("a complete row without the score of the column has no rank, and is not called incomplete", async () => {
    await board();
    const results = JSON.parse(contents["results.json"]);
    delete results.rows[0].scorecard.metrics.f1;
    contents["results.json"] = JSON.stringify({ ...results, rows: results.rows.toReversed() });
    await embed("leaderboard", `<closeread-leaderboard src="results.json"></closeread-leaderboard>`);
    await page.locator("closeread-leaderboard thead button", { hasText: /^f1$/ }).click();
    assert.deepEqual((await firstCells()).toSorted(), [
        ["1", "<b>hopeful</b>"],
        ["incomplete", "half"],
        ["–", "honest"],
    ]);
});

test("a search leaves ranks as they are, and the table is saved as CSV", async () => {
    await board();
    await embed("leaderboard", `<closeread-leaderboard src="results.json"></closeread-leaderboard>`);
    await page.locator("closeread-leaderboard #search").fill("HON");
    assert.deepEqual(await firstCells(), [["2", "honest"]]);
    assert.match(await page.locator("closeread-leaderboard [role=status]").first().textContent(), /1 of 3 systems/);
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("closeread-leaderboard #csv").click()]);
    const [heads, row, ...rest] = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
    assert.match(heads, /^rank,system,.*f1/);
    assert.match(row, /^2,honest,/);
    assert.equal(rest.length, 0);
});

test("a row is scored again in the tab, and a number or a claim that does not follow is named", async () => {
    await board();
    const results = JSON.parse(contents["results.json"]);
    const [honest] = results.rows;
    results.rows.push({ ...honest, name: "modest", scorecard: { ...honest.scorecard, complete: false } });
    contents["results.json"] = JSON.stringify(results);
    await embed("leaderboard", `<closeread-leaderboard src="results.json"></closeread-leaderboard>`);
    const verdict = async (name) => {
        const row = page.locator("closeread-leaderboard tbody tr", { hasText: name });
        await row.locator("button").click();
        const verdict = row.locator("[role=status]");
        await page.waitForFunction((verdict) => !/^( scoring …)?$/.test(verdict.textContent), await verdict.elementHandle(), { timeout: 60_000 });
        return verdict.textContent();
    };
    assert.equal((await verdict("honest")).trim(), "the same numbers");
    assert.match(await verdict("hopeful"), /not the same: f1, value/);
    assert.match(await verdict("modest"), /not the same: complete/);
});

test("from a disk the elements read the files beside them, also where the page names their script twice", async () => {
    const disk = await mkdtemp(join(tmpdir(), "closeread-disk-"));
    try {
        const script = `<script defer src="${new URL("closeread-site.js", ELEMENTS).href}"></script>`;
        const results = { rows: [{ name: "Ada", scorecard: JSON.parse(await scored("scorecard.json")) }] };
        await writeFile(join(disk, "results.json.js"), `closereadFile("${Buffer.from(JSON.stringify(results)).toString("base64")}")`);
        await writeFile(
            join(disk, "index.html"),
            `<!doctype html><html lang="en"><title>A board</title><closeread-leaderboard></closeread-leaderboard>${script}<closeread-scorer></closeread-scorer>${script}`,
        );
        await page.goto(pathToFileURL(join(disk, "index.html")).href);
        await page.locator("closeread-leaderboard tbody tr").waitFor({ timeout: 10_000 });
    } finally {
        await rm(disk, { recursive: true });
    }
});

test("results that cannot be read leave what stands inside the element", async () => {
    contents["results.json"] = `{"rows": [{"name": "x"}]}`;
    await embed("leaderboard", `<closeread-leaderboard src="results.json"><p id="inside">Read the table.</p></closeread-leaderboard>`);
    await page.locator("closeread-leaderboard [role=alert]").waitFor();
    assert.match(await page.locator("closeread-leaderboard [role=alert]").textContent(), /row 1: expected a "name" and a "scorecard"/);
    assert.ok(await page.locator("#inside").isVisible());
});

// The run viewer over web/dist: run folders that the binary made, a run of a hundred thousand trials, hostile texts.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { needs, test } from "./fixtures.js";
import { BINARY, DIST, axe, inkAndPaper, scrollsSideways } from "./harness.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HOSTILE = "<img src=x onerror=\"document.title='hurt'\"><script>document.title='hurt'</script>\u202e\u2069&amp;";

test.use({ route: "#/runs" });
let work;
const closeread = (...args) =>
    execFileSync(BINARY, args, {
        cwd: work,
        encoding: "utf8",
        maxBuffer: 1 << 28,
        stdio: ["ignore", "pipe", "ignore"],
        env: { ...process.env, CLOSEREAD_CACHE: join(work, "cache") },
    });

test.beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), "closeread-runs-"));
    if (!BINARY) return;
    const run = (out, ...more) => closeread("run", "--benchmark", join(ROOT, "sample"), "--retriever", "bm25", "--out", out, ...more);
    run("first", "--method", "closed-book,vanilla-rag,dos-rag", "--budget", "300,900");
    run("second", "--method", "dos-rag", "--budget", "300,900", "--passage-tokens", "60");
    await large(join(work, "large"), 100_000);
    await hostile(join(work, "hostile"));
});
test.afterAll(() => rm(work, { recursive: true, force: true }));

const KEY = { method: "dos-rag", model: "p/x", budget: 500 };
const record = (item, more = {}) => ({
    item,
    ...KEY,
    repeat: 0,
    outcome: "answered",
    answer: "yes",
    scores: { f1: 0.5 },
    prompt_tokens: 10,
    calls: [],
    seconds: 0.1,
    ...more,
});

async function runFolder(path, items, records) {
    await mkdir(path, { recursive: true });
    const manifest = { format: 2, closeread: "test", configuration: { benchmark: "made up", cells: [KEY], tokenizer: "cl100k" } };
    const lines = (values) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
    await writeFile(join(path, "manifest.json"), JSON.stringify(manifest));
    await writeFile(join(path, "items.jsonl"), lines(items));
    await writeFile(join(path, "records.jsonl"), lines(records));
}

/** The last item has no record. */
async function large(path, n) {
    const items = Array.from({ length: n }, (_, i) => ({
        id: `item-${i}`,
        documents: [`book-${i % 50}`],
        question: `What happened on day ${i}?`,
        task: "generative",
        answers: ["a storm"],
    }));
    const records = items.slice(0, -1).map(({ id }, i) =>
        record(id, {
            outcome: i % 10 === 0 ? "not_found" : "answered",
            ...(i % 10 === 0 ? { answer: undefined } : {}),
            calls: [
                {
                    prompt: "rag",
                    sha256: "0".repeat(64),
                    finish: "stop",
                    counted_tokens: 10,
                    response: `[[It was day ${i}.]]`,
                    usage: { prompt_tokens: 10, completion_tokens: 5 },
                },
            ],
            context: { retriever: "bm25", n_tokens: 40, passages: [{ document: `book-${i % 50}`, start: 0, end: 10, score: 1.5 }] },
        }),
    );
    await runFolder(path, items, records);
}

async function hostile(path) {
    const items = [{ id: HOSTILE, documents: [HOSTILE], question: HOSTILE, task: "generative", answers: [HOSTILE], labels: { kind: HOSTILE } }];
    const calls = [
        { prompt: HOSTILE, sha256: HOSTILE, finish: "stop", counted_tokens: 10, response: HOSTILE, usage: { prompt_tokens: 1, completion_tokens: 1 } },
    ];
    await runFolder(path, items, [record(HOSTILE, { answer: HOSTILE, calls })]);
}

async function open(page, name) {
    await page.setInputFiles("#run-folder", join(work, name));
    await page.waitForFunction((name) => document.querySelector("#runs-heading")?.textContent === name, name, { timeout: 120_000 });
    await page.waitForSelector(".part.report table", { timeout: 120_000 });
}
const part = (page, name) => page.click(`#part-${name}`);
const tables = (page) =>
    page.$$eval("#run-body table", (all) => all.map((table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent).join("|"))));

test("a run folder's report is the command line's, byte for byte, with its charts", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await open(page, "first");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#run-json")]);
    const expected = closeread("report", "first", "--json");
    assert.equal(await readFile(await download.path(), "utf8"), expected);
    const report = JSON.parse(expected);
    const shown = await tables(page);
    assert.equal(shown.length, report.tables.length);
    assert.deepEqual(shown[0][0].split("|"), report.tables[0].columns);
    assert.match(await page.textContent("#finding"), /\w.*\.$/, "a sentence before all numbers");
    const drawn = await page.$$eval(".charts svg", (all) =>
        all.map((svg) => [svg.getAttribute("role"), svg.querySelector("title").textContent, svg.querySelector("desc").textContent.length]),
    );
    assert.equal(drawn.length, report.charts.length);
    assert.ok(drawn.length > 2 && drawn.every(([role, title, words]) => role === "img" && title !== "" && words > 50), JSON.stringify(drawn));
    assert.ok(report.charts.some(({ id }) => id.endsWith("-by-budget")) && report.charts.some(({ id }) => /position|length/.test(id)));
});

test("a trial shows its question, gold, passages with their text, calls and responses", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await open(page, "first");
    await part(page, "trials");
    await page.selectOption("#trial-cell", { label: "dos-rag at 300" });
    await page.waitForSelector(".trial strong");
    await page.focus(".trial-list");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#trace-heading");
    assert.equal(await page.evaluate(() => document.activeElement.id), "trace-heading");
    const lines = (await readFile(join(work, "first/records.jsonl"), "utf8"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    const id = (await page.textContent("#trace-heading")).split(",")[0];
    const stored = lines.find(({ item, method, budget }) => item === id && method === "dos-rag" && budget === 300);
    const trace = await page.textContent(".trace");
    assert.ok(trace.includes(stored.calls[0].response.trim()), "the response as it came");
    await page.click(".sent summary");
    await page.waitForSelector(".sent pre");
    const sent = await page.textContent(".sent pre");
    assert.equal(createHash("sha256").update(sent).digest("hex"), stored.calls[0].sha256, "the prompt, to the last byte");
    const passages = await page.$$eval(".trace .card .book-text", (all) => all.map((text) => text.textContent));
    assert.equal(passages.length, stored.context.passages.length);
    const bars = await page.$$eval(".places .ribbon rect.retrieved", (all) => all.map((bar) => Number.parseFloat(bar.getAttribute("x"))));
    assert.equal(bars.length, stored.context.passages.length, "where they stand in the book");
    assert.ok(bars.every((at) => at >= 0 && at < 100) && new Set(bars).size > 1, bars.join());
    assert.ok((await page.locator(".places .ribbon rect.evidence").count()) > 0);
    const document = JSON.parse(await readFile(join(work, "first/manifest.json"), "utf8")).configuration.documents.find(
        ({ id }) => id === stored.context.passages[0].document,
    );
    const { start, end } = stored.context.passages[0];
    const story = await readFile(join(ROOT, "sample", document.id === "the-loan-of-the-bell" ? "the-loan-of-the-bell.txt" : "shedu-bu.txt"));
    assert.equal(passages[0].replace(/\s+/g, " "), story.subarray(start, end).toString("utf8").replace(/\s+/g, " "));
    assert.deepEqual(await axe(page), []);
});

test("a text that is damaged is said, as on the command line", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await cp(join(work, "first"), join(work, "damaged"), { recursive: true });
    const [text] = await readdir(join(work, "damaged/texts"));
    await writeFile(join(work, "damaged/texts", text), "no Zstandard");
    await open(page, "damaged");
    const notes = await page.$$eval(".part.report > .problem", (all) => all.map(({ textContent }) => textContent));
    assert.equal(notes.length, 1);
    assert.match(notes[0], new RegExp(`^DAMAGED: the text of document .*${text}`));
});

test("a hundred thousand trials scroll, filter and open", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await open(page, "large");
    await part(page, "trials");
    await page.waitForFunction(() => /100,000 of 100,000/.test(document.querySelector("#trial-count").textContent), null, { timeout: 60_000 });
    await page.focus(".trial-list");
    await page.keyboard.press("End");
    await page.waitForFunction(() => [...document.querySelectorAll(".trial strong")].some(({ textContent }) => textContent === "item-99999"));
    assert.ok((await page.locator(".trial").count()) < 60, "only lines in sight are elements");
    const last = page.locator(".trial[aria-selected=true]");
    assert.equal(await last.getAttribute("aria-posinset"), "100000");
    assert.match(await last.textContent(), /missing/);
    await page.selectOption("#trial-outcome", "not_found");
    await page.waitForFunction(() => /^10,000 of/.test(document.querySelector("#trial-count").textContent));
    await page.selectOption("#trial-outcome", "");
    await page.fill("#trial-text", "DAY 4711?");
    await page.waitForFunction(() => /^1 of/.test(document.querySelector("#trial-count").textContent));
    await page.click(".trial");
    await page.waitForSelector("#trace-heading");
    assert.match(await page.textContent(".trace"), /It was day 4711/);
    assert.match(await page.textContent(".trace"), /the book is not at hand/);
    assert.equal(await page.locator(".places").count(), 0, "nothing is known of where they stand in it");
});

test("words with spaces between them are typed into the search of trials, and an address changes them", async ({ page }) => {
    await runFolder(
        join(work, "spaces"),
        ["Who lit the lamp?", "Who lit thelamp?"].map((question, n) => ({ id: `q-${n}`, documents: ["b"], question, task: "generative", answers: ["Ana"] })),
        [record("q-0"), record("q-1")],
    );
    await open(page, "spaces");
    await part(page, "trials");
    await page.focus("#trial-text");
    await page.keyboard.type("the lamp", { delay: 50 });
    assert.equal(await page.inputValue("#trial-text"), "the lamp");
    await page.waitForFunction(() => /^1 of 2/.test(document.querySelector("#trial-count").textContent));
    assert.match(page.url(), /t=the\+lamp$/);
    await page.evaluate(() => (location.hash = location.hash.replace("the+lamp", "who")));
    await page.waitForFunction(() => document.querySelector("#trial-text").value === "who");
    await page.waitForFunction(() => /^2 of 2/.test(document.querySelector("#trial-count").textContent));
});

test("two runs compare as on the command line, in the page and in Node", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await open(page, "first");
    await open(page, "second");
    await part(page, "compare");
    await page.selectOption("#compare-a", { label: "first: dos-rag at 300" });
    await page.selectOption("#compare-b", { label: "second: dos-rag at 300" });
    await page.click("#compare-go");
    await page.waitForSelector("#compared .conclusion");
    const expected = JSON.parse(closeread("compare", "first", "second", "--method", "dos-rag", "--budget", "300", "--json"));
    assert.deepEqual(
        await page.$$eval(".conclusion", (all) => all.map((p) => p.textContent)),
        expected.comparisons.map(({ conclusion }) => conclusion),
    );

    const { default: init, OpenRun, compareJson } = await import(new URL("closeread_wasm.js", DIST));
    await init({ module_or_path: await readFile(new URL("closeread_wasm_bg.wasm", DIST)) });
    const opened = async (name) => {
        const files = ["manifest.json", "items.jsonl", "records.jsonl"].map(async (path) => ({
            name: path,
            content: new Uint8Array(await readFile(join(work, name, path))),
        }));
        return new OpenRun(name, await Promise.all(files));
    };
    const [a, b] = [await opened("first"), await opened("second")];
    const json = (options) => `${compareJson(a, b, options)}\n`;
    assert.equal(json({}), closeread("compare", "first", "second", "--json"));
    assert.equal(
        json({ budget: [300], metric: ["accuracy"], by: ["language"] }),
        closeread("compare", "first", "second", "--budget", "300", "--metric", "accuracy", "--group-by", "language", "--json"),
    );
    assert.equal(`${compareJson(a, a, { method: ["vanilla-rag", "dos-rag"] })}\n`, closeread("compare", "first", "--method", "vanilla-rag,dos-rag", "--json"));
    assert.throws(() => compareJson(a, a, {}), /one run was named, and it has several cells/);
    assert.throws(() => compareJson(a, b, { metric: ["beauty"] }), /not both have the metric `beauty`/);
});

test("a trial has an address: it opens from it, steps to its neighbours, and Back leads through them", async ({ page, origin }) => {
    needs("CLOSEREAD_BINARY");
    await open(page, "first");
    await part(page, "trials");
    await page.check("#verdict-wrong", { force: true });
    await page.selectOption("#trial-cell", { label: "dos-rag at 300" });
    await page.waitForSelector(".trial .verdict.wrong");
    assert.equal(await page.locator(".trial .verdict.right").count(), 0);
    const n = Number((await page.textContent("#trial-count")).match(/^[\d,]+/)[0].replace(",", ""));
    await page.check("#verdict-all", { force: true });
    await page.waitForFunction(
        (n) =>
            Number(
                document
                    .querySelector("#trial-count")
                    .textContent.match(/^[\d,]+/)[0]
                    .replace(",", ""),
            ) > n,
        n,
    );
    await page.check("#verdict-differ", { force: true });
    await page.selectOption("#trial-cell", "");
    await page.selectOption("#trial-sort", "highest");
    await page.waitForFunction(() => /s=highest/.test(location.hash));
    await page.check("#verdict-all", { force: true });
    await page.selectOption("#trial-sort", "item");
    await page.waitForFunction(() => /en-001/.test(document.querySelector(".trial")?.textContent ?? ""));
    await page.locator(".trial").first().click();
    await page.waitForSelector("#trace-heading");
    const first = await page.textContent("#trace-heading");
    assert.match(page.url(), /#\/runs\/first\/trials\/en-001\//);
    assert.equal(await page.getAttribute("#previous-trial", "aria-disabled"), "true");
    await page.click("#next-trial");
    await page.waitForFunction((first) => document.querySelector("#trace-heading")?.textContent !== first, first);
    assert.equal(await page.evaluate(() => document.activeElement.id), "next-trial", "the focus stays");
    await page.goBack();
    await page.waitForFunction((first) => document.querySelector("#trace-heading")?.textContent === first, first);
    const address = page.url();
    await part(page, "report");
    await page.waitForSelector(".report table");
    await page.goto(address);
    await page.waitForFunction((first) => document.querySelector("#trace-heading")?.textContent === first, first);
    await page.goto(`${origin}#/runs/elsewhere/trials`);
    await page.waitForFunction(() => /run elsewhere is not open/.test(document.querySelector("#no-run").textContent));
});

test("a run of the reader's own does not stand for the served run of its name", async ({ page, origin }) => {
    const item = (question) => [{ id: "a", documents: ["b"], question, task: "generative", answers: ["yes"] }];
    await runFolder(join(work, "twice"), item("served?"), [record("a")]);
    const files = await readdir(join(work, "twice"));
    await page.route("**/runs/twice/**", (route) => {
        const path = new URL(route.request().url()).pathname.split("/runs/twice/")[1];
        return path === "" ? route.fulfill({ json: { files: files.map((path) => ({ path })) } }) : route.fulfill({ path: join(work, "twice", path) });
    });
    await page.route("**/closeread.json", (route) => route.fulfill({ json: { runs: ["twice"], relay: null } }));
    await page.goto("about:blank");
    await page.goto(`${origin}#/runs`);
    await page.locator(".served-run").waitFor();
    await runFolder(join(work, "own/twice"), item("own?"), [record("a")]);
    await page.setInputFiles("#run-folder", join(work, "own/twice"));
    await page.waitForFunction(() => document.querySelector("#runs-heading")?.textContent === "twice-2", undefined, { timeout: 20_000 });
    await page.click(".served-run");
    await page.waitForFunction(() => document.querySelector("#runs-heading")?.textContent === "twice", undefined, { timeout: 20_000 });
    await part(page, "trials");
    await page.waitForFunction(() => /served\?/.test(document.querySelector(".trial")?.textContent), undefined, { timeout: 20_000 });
});

test("of two served runs the one that was clicked last opens, though the first is slow", async ({ page, origin }) => {
    const folder = async (name) => {
        await runFolder(join(work, name), [{ id: "a", documents: ["b"], question: `of ${name}?`, task: "generative", answers: ["yes"] }], [record("a")]);
        const files = await readdir(join(work, name));
        await page.route(`**/runs/${name}/**`, async (route) => {
            const path = new URL(route.request().url()).pathname.split(`/runs/${name}/`)[1];
            if (path === "") return route.fulfill({ json: { files: files.map((path) => ({ path })) } });
            if (name === "slow") await late;
            return route.fulfill({ path: join(work, name, path) });
        });
    };
    let come;
    const late = new Promise((resolve) => (come = resolve));
    await folder("slow");
    await folder("quick");
    await page.route("**/closeread.json", (route) => route.fulfill({ json: { runs: ["slow", "quick"], relay: null } }));
    await page.goto("about:blank");
    await page.goto(`${origin}#/runs`);
    await page.click(".served-run >> nth=0");
    await page.click(".served-run >> nth=1");
    come();
    await page.waitForFunction(() => document.querySelector("#runs-heading")?.textContent === "quick", undefined, { timeout: 20_000 });
});

test.describe("runs of other servers", () => {
    test.use({ expected: /503|429|404/ });

    test("of the same name are two, keep their address, and lack no verdict in silence", async ({ page, origin }) => {
        for (const year of ["2025", "2026"]) {
            const path = join(work, year, "mine");
            await runFolder(path, [{ id: "a", documents: ["b"], question: `in ${year}?`, task: "generative", answers: ["yes"] }], [record("a")]);
            await page.route(`**/${year}/mine/*`, async (route) => {
                const name = new URL(route.request().url()).pathname.split("/").pop();
                return (await readdir(path)).includes(name) ? route.fulfill({ path: join(path, name) }) : route.fulfill({ status: 404 });
            });
        }
        const trials = (year) => `${origin}#/runs/mine/trials?at=${encodeURIComponent(`${origin}${year}/mine`)}`;
        for (const year of ["2025", "2026", "2025"]) {
            await page.goto(trials(year));
            await page.waitForFunction((year) => document.querySelector(".trial")?.textContent.includes(year), year, { timeout: 20_000 });
        }
        await page.click(".trial");
        await page.locator("#trace-heading").waitFor();
        const there = page.url();
        await page.goto("about:blank");
        await page.goto(there);
        await page.locator("#trace-heading").waitFor({ timeout: 20_000 });
        for (const status of [503, 429]) {
            await page.route("**/2026/mine/judgements.jsonl", (route) => route.fulfill({ status }));
            await page.goto("about:blank");
            await page.goto(trials("2026"));
            await page.waitForFunction((status) => document.querySelector("#problem").textContent.includes(status), String(status), { timeout: 20_000 });
        }
    });
});

test("tables sort by a column and are saved as CSV", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await open(page, "first");
    const numbers = () =>
        page.$$eval("#run-body table", ([table]) => [...table.tBodies[0].rows].map((row) => parseFloat(row.querySelector("td.number").textContent)));
    const column = await page.$$eval("#run-body table", ([table]) => [...table.tHead.rows[0].cells].findIndex((cell) => cell.classList.contains("number")));
    await page.locator("#run-body table").first().locator("thead .sort").nth(column).click();
    assert.equal(await page.locator("#run-body th[aria-sort=descending]").count(), 1);
    const down = (await numbers()).filter((number) => !Number.isNaN(number));
    assert.deepEqual(
        down,
        [...down].sort((a, b) => b - a),
    );
    const [saved] = await Promise.all([page.waitForEvent("download"), page.locator("#run-body .save button").first().click()]);
    assert.match(saved.suggestedFilename(), /\.csv$/);
});

test("the best number of a column is bold, and sorts and is saved as a number", async ({ page }) => {
    await page.setInputFiles("#run-folder", join(ROOT, "examples/gallery/runs/sample"));
    const details = page.locator("#run-body details", { has: page.locator("td strong") }).first();
    await details.locator("summary").click({ timeout: 120_000 });
    const marked = details.locator("table");
    const column = await marked
        .locator("strong")
        .first()
        .evaluate((best) => best.parentElement.cellIndex);
    const numbers = () => marked.evaluate((table, column) => [...table.tBodies[0].rows].map((row) => row.cells[column].textContent), column);
    await marked.locator(".sort").nth(column).click();
    const down = (await numbers()).map(Number).filter((number) => !Number.isNaN(number));
    assert.deepEqual(
        down,
        [...down].sort((a, b) => b - a),
    );
    assert.ok(down.length > 1);
    const [saved] = await Promise.all([page.waitForEvent("download"), details.locator(".save button").click()]);
    assert.doesNotMatch(await readFile(await saved.path(), "utf8"), /\*\*/);
});

test("a comparison offers what there is, and starts with two cells that differ", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await open(page, "first");
    await part(page, "compare");
    await page.waitForSelector("#compared .conclusion");
    assert.deepEqual(await page.$$eval("#compare-a, #compare-b", (all) => all.map((select) => select.selectedOptions[0].textContent)), [
        "vanilla-rag at 900",
        "dos-rag at 900",
    ]);
    await page.selectOption("#compare-b", { label: "vanilla-rag at 900" });
    assert.ok(await page.isDisabled("#compare-go"));
    assert.match(await page.textContent("#same"), /choose another/);
});

test("a run folder that is dropped anywhere opens here; a book that is dropped on a run opens where books are", async ({ page, origin }) => {
    needs("CLOSEREAD_BINARY");
    const files = await Promise.all(
        ["manifest.json", "items.jsonl", "records.jsonl"].map(async (name) => [name, await readFile(join(work, "first", name), "utf8")]),
    );
    const drop = (files) =>
        page.evaluate((files) => {
            const transfer = new DataTransfer();
            for (const [name, text] of files) transfer.items.add(new File([text], name));
            document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
        }, files);
    await page.goto(`${origin}#/find`);
    await page.waitForSelector("#find");
    await drop(files);
    await page.waitForSelector(".part.report table", { timeout: 120_000 });
    await drop([["lamp.txt", "Ana lit the lamp."]]);
    await page.waitForFunction(() => document.querySelector("#book-chip i")?.textContent === "lamp");
    assert.ok(await page.locator("#find").isVisible());
});

test("hostile texts are shown as text", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await open(page, "hostile");
    await part(page, "trials");
    await page.waitForSelector(".trial strong");
    await page.click(".trial");
    await page.waitForSelector("#trace-heading");
    const [title, images, text] = await page.evaluate(() => [
        document.title,
        document.querySelectorAll("main img, main script").length,
        document.querySelector("main").textContent,
    ]);
    assert.ok(title.endsWith("closeread") && images === 0, title);
    assert.ok(text.includes("<script>document.title='hurt'</script><U+202E><U+2069>&amp;"), "steering characters have their number");
    assert.ok(!/[\u202e\u2069]/.test(text));
});

test("files that are no run say what is missing, and the run before stays", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await open(page, "first");
    await page.setInputFiles("#run-files", { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("x") });
    await page.waitForFunction(() => /manifest\.json/.test(document.querySelector("#problem").textContent));
    const wrong = [
        ["manifest.json", "{}"],
        ["items.jsonl", ""],
        ["records.jsonl", ""],
    ];
    await page.setInputFiles(
        "#run-files",
        wrong.map(([name, text]) => ({ name, mimeType: "application/json", buffer: Buffer.from(text) })),
    );
    await page.waitForFunction(() => /manifest that `closeread run` writes/.test(document.querySelector("#problem").textContent));
    assert.equal(await page.locator("#run option").count(), 1);
    assert.equal(await page.textContent("#runs-heading"), "first");
});

test("the view speaks Chinese and keeps its runs while the language changes", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await open(page, "first");
    await page.click("#language");
    await page.waitForSelector("#runs .part.report table");
    assert.equal(await page.title(), "运行 · closeread");
    await part(page, "trials");
    await page.waitForSelector(".trial .outcome");
    assert.match(await page.textContent(".trial .outcome"), /有答案|未找到/);
});

for (const colorScheme of ["light", "dark"]) {
    test(`360 pixels wide nothing scrolls sideways and axe finds nothing, ${colorScheme}`, async ({ page }) => {
        needs("CLOSEREAD_BINARY");
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width: 360, height: 700 });
        await open(page, "first");
        const [ink, paper] = await inkAndPaper(page);
        assert.ok(colorScheme === "light" ? paper - ink > 150 : ink - paper > 150);
        for (const name of ["report", "trials", "compare"]) {
            await part(page, name);
            await page.waitForSelector({ report: ".report table", trials: ".trial strong", compare: "#compare-go" }[name]);
            assert.ok(!(await scrollsSideways(page)), name);
            assert.deepEqual(await axe(page), [], name);
        }
    });
}

/** What is served by the binary, its address, and how it is ended. */
async function served(...args) {
    const server = spawn(BINARY, ["serve", ...args, "--port", "0", "--page", fileURLToPath(DIST)], { cwd: work, stdio: ["ignore", "pipe", "ignore"] });
    const line = await new Promise((resolve) => server.stdout.once("data", (data) => resolve(String(data).trim())));
    return { url: line, end: () => server.kill("SIGINT") };
}

test("a served run opens by a click, and the page's first load is as it should be", async ({ browser }) => {
    needs("CLOSEREAD_BINARY");
    const { url, end } = await served("first");
    const context = await browser.newContext({ serviceWorkers: "allow" });
    try {
        const page = await context.newPage();
        const [responses, complaints] = [[], []];
        page.on("response", (response) => responses.push(response));
        page.on("pageerror", (error) => complaints.push(error.message));
        page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
        await page.goto(url);
        await page.click(".served-run");
        await page.waitForSelector(".part.report table", { timeout: 120_000 });
        assert.deepEqual(complaints, []);
        for (const response of responses) {
            const headers = response.headers();
            const policy = headers["content-security-policy"];
            assert.ok(
                policy.includes("script-src 'self' 'wasm-unsafe-eval'") && !policy.includes("'unsafe-inline'") && !policy.includes("'unsafe-eval'"),
                response.url(),
            );
            assert.equal(headers["x-content-type-options"], "nosniff");
            assert.match(headers["cache-control"], /no-cache|no-store/);
            if (/\.(js|css|wasm|html)$/.test(new URL(response.url()).pathname)) assert.equal(headers["content-encoding"], "gzip", response.url());
        }
        // Nothing holds up the first paint but one style sheet; scripts are modules, which do not block.
        const blocking = await page.$$eval("head script:not([type=module]), head style, head link[rel=stylesheet]", (all) =>
            all.map((one) => one.getAttribute("href") ?? one.outerHTML),
        );
        assert.deepEqual(
            blocking.filter((href) => !/^(essay|find|ask|watch|theatre|runs)\.css$/.test(href)),
            ["style.css"],
        );
        // The header says what the page's own tag says; frame-ancestors can only stand in a header.
        const tag = await page.getAttribute("meta[http-equiv=Content-Security-Policy]", "content");
        const parts = (policy) =>
            new Set(
                policy
                    .split(";")
                    .map((part) => part.trim().replace(/\s+/g, " "))
                    .filter((part) => !part.startsWith("frame-ancestors")),
            );
        assert.deepEqual(parts(responses[0].headers()["content-security-policy"]), parts(tag));
        assert.match(page.url(), /#\/runs\/first$/);
        await page.reload();
        await page.waitForSelector(".part.report table", { timeout: 120_000 });
    } finally {
        await context.close();
        end();
    }
});

test("a report's leaderboard reads without JavaScript and checks its rows with it", async ({ browser }) => {
    needs("CLOSEREAD_BINARY");
    execFileSync(BINARY, ["report", "first", "--html", "site"], { cwd: work, stdio: "ignore", env: { ...process.env, CLOSEREAD_PAGE: fileURLToPath(DIST) } });
    assert.ok((await readdir(join(work, "site/elements"))).includes("closeread-site.js"));
    const { folder, serve } = await import("./serve.js");
    const { pathToFileURL } = await import("node:url");
    const server = await serve(folder(pathToFileURL(join(work, "site/"))));
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const context = await browser.newContext({ serviceWorkers: "allow" });
    try {
        const still = await plain.newPage();
        await still.goto(`${server.origin}leaderboard.html`);
        assert.ok(await still.locator("closeread-leaderboard table").isVisible());
        assert.equal(await still.locator("closeread-leaderboard tbody tr").count(), 5);
        const page = await context.newPage();
        const complaints = [];
        const isIcon = (message) => message.location().url.endsWith("/favicon.ico");
        page.on("console", (message) => message.type() === "error" && !isIcon(message) && complaints.push(message.text()));
        await page.goto(`${server.origin}leaderboard.html`);
        // The table for readers without JavaScript has no buttons.
        const row = page.locator("closeread-leaderboard tbody tr", { has: page.locator("button") }).first();
        await row.locator("button").click();
        await page.waitForFunction((verdict) => !/^( scoring …)?$/.test(verdict.textContent), await row.locator("[role=status]").elementHandle(), {
            timeout: 60_000,
        });
        assert.equal((await row.locator("[role=status]").textContent()).trim(), "the same numbers");
        assert.deepEqual(await axe(page), []);
        assert.deepEqual(complaints, []);
        // From a disk, too: nothing is fetched there.
        await page.goto(pathToFileURL(join(work, "site/leaderboard.html")).href);
        const onDisk = page.locator("closeread-leaderboard tbody tr", { has: page.locator("button") }).first();
        await onDisk.locator("button").click();
        await page.waitForFunction((verdict) => !/^( scoring …)?$/.test(verdict.textContent), await onDisk.locator("[role=status]").elementHandle(), {
            timeout: 60_000,
        });
        assert.equal((await onDisk.locator("[role=status]").textContent()).trim(), "the same numbers");
        assert.deepEqual(complaints, []);
    } finally {
        await plain.close();
        await context.close();
        server.close();
    }
});

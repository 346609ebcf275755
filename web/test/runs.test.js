// The run viewer over web/dist: run folders that the binary made, a run of a hundred thousand trials, hostile texts.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cp, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs, test } from "./fixtures.js";
import { DIST, axe, inkAndPaper, scrollsSideways } from "./harness.js";
import { ROOT, cleared, closeread, hostile, large, open, part, prepare, record, runFolder, tables, work } from "./run-folders.js";

test.use({ route: "#/runs" });
test.beforeAll(async () => {
    await prepare();
    await large(join(work, "large"), 100_000);
    await hostile(join(work, "hostile"));
});
test.afterAll(cleared);

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

test("of several runs a damaged one is named, and the others open", async ({ page }) => {
    for (const name of ["a", "b", "c"]) await runFolder(join(work, "several", name), [{ id: name, documents: ["d"], question: "q?", task: "generative" }], []);
    await writeFile(join(work, "several/b/manifest.json"), "{");
    await page.setInputFiles("#run-folder", join(work, "several"));
    await page.waitForFunction(() => /^b: manifest\.json/.test(document.querySelector("#problem").textContent));
    await page.waitForFunction(() => document.querySelectorAll("#run option").length === 3);
    assert.deepEqual((await page.locator("#run option").allTextContents()).sort(), ["Open runs", "a", "c"]);
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

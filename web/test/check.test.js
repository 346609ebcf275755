// The page that `closeread build` makes for people: ticked through and filled in, in a browser, and read back by the binary.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { needs, test } from "./fixtures.js";
import { BINARY, axe, scrollsSideways } from "./harness.js";

const STORY = "Ana kept the mill. At night Ben hid the key under the stair. Then it rained for a week.";
const ITEM = {
    id: "q",
    documents: ["mill"],
    question: "Where is the key?",
    task: "generative",
    answers: ["under the stair"],
};
let folder, model;

/** A model that writes three wrong options and finds all of them different. */
function writes(said) {
    return said.includes("wrong option") ? JSON.stringify({ options: ["in the mill", "in the rain", "at night"] }) : "[[NO]]";
}

async function modelServer() {
    const server = createServer(async (request, response) => {
        const chunks = [];
        for await (const chunk of request) chunks.push(chunk);
        const { messages } = JSON.parse(Buffer.concat(chunks).toString());
        const content = writes(messages.at(-1).content);
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ choices: [{ message: { role: "assistant", content }, finish_reason: "stop" }] }));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return server;
}

const run = (...args) =>
    promisify(execFile)(BINARY, args, {
        cwd: folder,
        env: { ...process.env, CLOSEREAD_CACHE: join(folder, "cache") },
    });

needs("CLOSEREAD_BINARY");

test.beforeAll(async () => {
    if (!BINARY) return;
    folder = await mkdtemp(join(tmpdir(), "closeread-check-"));
    await mkdir(join(folder, "tales"));
    const document = { id: "mill", title: "The <Mill>", language: "en", text: STORY };
    await writeFile(join(folder, "tales/documents.jsonl"), `${JSON.stringify(document)}\n`);
    await writeFile(join(folder, "tales/items.jsonl"), `${JSON.stringify(ITEM)}\n`);
    model = await modelServer();
    const url = `http://127.0.0.1:${model.address().port}/v1`;
    await run("build", "options", "--benchmark", "tales", "--model", "openai-compatible/m", "--base-url", url, "--out", "o");
});
test.afterAll(async () => {
    model?.close();
    if (folder) await rm(folder, { recursive: true });
});

test.use({ site: { find: async () => readFile(new URL("o/check/check.html", pathToFileURL(`${folder}/`))) } });

test("a person ticks the page, fills in a form, and the binary reads both back", async ({ page }) => {
    assert.equal(await page.textContent("#done"), "0 of 4 answered, 0 written");
    for (const [n, words] of [
        [1, "Yes"],
        [2, "Yes"],
        [3, "Yes"],
        [4, "No"],
    ]) {
        await page
            .locator("fieldset")
            .nth(n - 1)
            .getByLabel(words, { exact: true })
            .check();
    }
    await page.getByLabel("Your name").fill("me");

    assert.equal(await page.locator("#book option").textContent(), "The <Mill>");
    await page.selectOption("#kind", "plot-why");
    await page.click("#add");
    const form = page.locator("fieldset.written");
    await form.getByLabel("a character").fill("Ben");
    await form.getByLabel("do something").fill("hide the key");
    await form.getByLabel("Answer").fill("out of fear\nhe is afraid");
    await form.getByLabel("Words of the book").fill("At night Ben hid the key under the stair.");
    await form.getByLabel("Takes").selectOption("multi-hop");
    await page.click("#add");
    await page.locator("fieldset.written").nth(1).getByText("Remove this question").click();
    assert.equal(await page.textContent("#done"), "4 of 4 answered, 1 written");
    assert.equal(await page.evaluate(() => document.activeElement.id), "add", "the focus does not get lost");

    await page.reload();
    assert.equal(await page.textContent("#done"), "4 of 4 answered, 1 written", "what was done is kept");
    assert.equal(await form.getByLabel("a character").inputValue(), "Ben");
    assert.deepEqual(await axe(page), []);
    assert.equal(await scrollsSideways(page), false);

    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
    await download.saveAs(join(folder, "answers.json"));
    const { stdout } = await run("build", "options", "--out", "o", "--checked", "answers.json", "--json");
    const found = JSON.parse(stdout);
    const rows = found.table.rows.map(([, n, agree, accuracy]) => [n.count, agree.count, accuracy.value.toFixed(3)]);
    assert.deepEqual(
        [rows, found.open],
        [
            [
                [1, 1, "1.000"],
                [3, 2, "0.667"],
            ],
            0,
        ],
        "the question, then its options",
    );
    assert.deepEqual(found.written.problems, []);
    const written = JSON.parse(await readFile(join(folder, "o/written/items.jsonl"), "utf8"));
    assert.equal(written.question, "Why does Ben hide the key?");
    assert.deepEqual(written.answers, ["out of fear", "he is afraid"]);
    assert.deepEqual(written.labels, { aspect: "plot", complexity: "multi-hop" });
});

test("two windows of the page keep what was ticked and written in both", async ({ page, context, origin }) => {
    const other = await context.newPage();
    await other.goto(origin);
    const tick = (window, n) => window.locator("fieldset").nth(n).getByLabel("Yes", { exact: true }).check();
    await tick(page, 0);
    await tick(other, 1);
    await page.waitForFunction(() => document.querySelector("#done").textContent.startsWith("2 of 4"));
    await page.click("#add");
    await tick(page, 2);
    await tick(other, 3);
    assert.equal(await other.textContent("#done"), "4 of 4 answered, 1 written");
    await page.close();
    await other.reload();
    assert.equal(await other.textContent("#done"), "4 of 4 answered, 1 written");
});

test("questions that are written in two windows are all kept", async ({ page, context, origin }) => {
    const other = await context.newPage();
    await other.goto(origin);
    const write = async (window, n, words) => {
        await window.click("#add");
        await window.locator("fieldset.written").nth(n).locator("[data-slot]").first().fill(words);
    };
    const has = (window, n) => window.waitForFunction((n) => document.querySelector("#done").textContent.endsWith(`${n} written`), n);
    await write(page, 0, "Ana");
    await has(other, 1);
    await write(other, 1, "Ben");
    await has(page, 2);
    await write(page, 2, "Cleo");
    await other.reload();
    const kept = await other.locator("fieldset.written").evaluateAll((all) => all.map((one) => one.querySelector("[data-slot]").value));
    assert.deepEqual(kept, ["Ana", "Ben", "Cleo"]);
});

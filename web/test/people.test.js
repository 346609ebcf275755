// The pages of `closeread people`, opened from a disk: answered by the clock, rated, read back by the binary.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { needs, test } from "./fixtures.js";
import { BINARY, axe, scrollsSideways } from "./harness.js";

const STORY = "Ana kept the mill. At night Ben hid the key under the stair. Then it rained for a week.";
const ITEMS = [
    { id: "open", documents: ["mill"], question: "Where is the <key>?", task: "generative", answers: ["under the stair"] },
    { id: "choice", documents: ["mill"], question: "Who kept the mill?", task: "choice", options: ["Ana", "Ben", "Cleo"], correct: 0 },
    { id: "more", documents: ["mill"], question: "How long did it rain?", task: "generative", answers: ["a week"] },
];
let folder;

const run = (...args) => promisify(execFile)(BINARY, args, { cwd: folder, env: { ...process.env, CLOSEREAD_CACHE: join(folder, "cache") } });
const pageOf = (study) => pathToFileURL(join(folder, study, "page.html")).href;

test.beforeAll(async () => {
    if (!BINARY) return;
    folder = await mkdtemp(join(tmpdir(), "closeread-people-"));
    await mkdir(join(folder, "tales"));
    await writeFile(join(folder, "tales/documents.jsonl"), `${JSON.stringify({ id: "mill", title: "The Mill", language: "en", text: STORY })}\n`);
    await writeFile(join(folder, "tales/items.jsonl"), ITEMS.map((item) => `${JSON.stringify(item)}\n`).join(""));
    await run("people", "answer", "--benchmark", "tales", "--minutes", "90", "--out", "s");
    await run("run", "--benchmark", "tales", "--method", "full-document", "--out", "r");
    await run("people", "rate", "r", "--out", "t");
});
test.afterAll(async () => {
    if (folder) await rm(folder, { recursive: true });
});

test.use({ site: { find: async () => "<!DOCTYPE html><title>-</title>" }, allowed: ["file://"] });

async function saved(page, name) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
    await download.saveAs(join(folder, name));
    return JSON.parse(await readFile(join(folder, name), "utf8"));
}

test("questions are answered by the clock, given up, and come back as a run", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await page.clock.install();
    await page.goto(pageOf("s"));
    assert.equal(await page.getByText("Where is the <key>?").count(), 0, "a question is hidden until its clock goes");
    await page.getByRole("button", { name: "Show the question" }).click();
    assert.equal(await page.getByText("Where is the <key>?").count(), 1);
    assert.deepEqual(await axe(page), []);
    await page.clock.runFor(65_000);
    assert.match(await page.textContent("#clock"), /88:5\d/);
    await page.getByRole("button", { name: "Pause" }).click();
    assert.equal(await page.getByText("Where is the <key>?").count(), 0, "nor is it read while the clock stands");
    await page.clock.runFor(600_000);
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByLabel("Your answer").fill("under the stair");
    await page.getByRole("button", { name: "Hand in" }).click();
    assert.equal(await page.evaluate(() => document.activeElement.id), "next");

    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Show the question" }).click();
    await page.clock.runFor(91 * 60_000);
    assert.match(await page.textContent("#said"), /The time is over/);

    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("button", { name: "Show the question" }).click();
    await page.getByLabel("Ana").focus();
    await page.keyboard.press("Space");
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Give up" }).click();
    assert.equal(await page.textContent("#done"), "3 of 3 done");

    await page.click("#save");
    assert.match(await page.textContent("#said"), /name first/);
    await page.getByLabel("Your name").fill("Ann B.");
    const { rater, answers } = await saved(page, "ann.json");
    assert.equal(rater, "Ann B.");
    assert.deepEqual(
        Object.values(answers).map(({ state }) => state),
        ["answered", "timed_out", "gave_up"],
    );
    assert.ok(answers.u0001.seconds > 60 && answers.u0001.seconds < 100, `${answers.u0001.seconds}`);
    const { stdout } = await run("people", "read", "s", "ann.json", "--json");
    const [row] = JSON.parse(stdout).tables[0].rows;
    assert.deepEqual(
        row.slice(2, 5).map(({ count }) => count),
        [1, 1, 1],
    );
});

test("answers are rated by keyboard, in Chinese too, and what was done is kept", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await page.goto(pageOf("t"));
    const total = Number(/of (\d+)/.exec(await page.textContent("#heading"))[1]);
    await page.getByLabel("Correct", { exact: true }).focus();
    await page.keyboard.press("Space");
    assert.equal(await page.textContent("#done"), `1 of ${total} done`);
    await page.getByLabel("Correct", { exact: true }).press("ArrowDown");
    await page.getByLabel("Language").selectOption("zh");
    assert.equal(await page.evaluate(() => document.documentElement.lang), "zh");
    // Before what takes a while: a browser keeps what is written a moment after, and a reload at once can be ahead of it.
    await page.getByLabel("您的姓名").fill("bo");
    assert.equal(await page.getByLabel("不正确").isChecked(), true);
    assert.deepEqual(await axe(page), []);
    assert.equal(await scrollsSideways(page), false);
    await page.reload();
    assert.equal(await page.getByLabel("Your name").inputValue(), "bo");
    const { answers } = await saved(page, "bo.json");
    assert.equal(answers.u0001.label, "incorrect");
    const { stdout } = await run("people", "read", "t", "bo.json");
    assert.match(stdout, /Raters and how far they agree/);
});

test("a note that is written before a label is kept", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await page.goto(pageOf("t"));
    await page.getByLabel("Note").fill("not sure");
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("button", { name: "Back" }).click();
    assert.equal(await page.getByLabel("Note").inputValue(), "not sure");
    assert.match(await page.textContent("#done"), /^0 of/, "a note is no label");
    await page.getByLabel("Correct", { exact: true }).check();
    await page.getByLabel("Your name").fill("Ann");
    const { answers } = await saved(page, "noted.json");
    const { label, note } = Object.values(answers)[0];
    assert.deepEqual([label, note], ["correct", "not sure"]);
});

test("two windows of a page keep what was said in both", async ({ page, context }) => {
    needs("CLOSEREAD_BINARY");
    await page.goto(pageOf("t"));
    const total = Number(/of (\d+)/.exec(await page.textContent("#heading"))[1]);
    const other = await context.newPage();
    await other.goto(pageOf("t"));
    await page.getByLabel("Correct", { exact: true }).check();
    await other.getByRole("button", { name: "Next" }).click();
    await other.getByLabel("Incorrect").check();
    await page.waitForFunction(() => Object.values(localStorage).join().includes("u0002"));
    await page.getByLabel("Your name").fill("Cy");
    const { answers } = await saved(page, "cy.json");
    assert.deepEqual([answers.u0001.label, answers.u0002.label], ["correct", "incorrect"]);
    assert.equal(await page.textContent("#done"), `2 of ${total} done`);
    await page.close();
    await other.reload();
    assert.equal(await other.textContent("#done"), `2 of ${total} done`);
});

test("the next person begins with an empty page in every window", async ({ page, context }) => {
    needs("CLOSEREAD_BINARY");
    await page.goto(pageOf("t"));
    const other = await context.newPage();
    await other.goto(pageOf("t"));
    await other.getByLabel("Correct", { exact: true }).check();
    await other.getByLabel("Your name").fill("ann");
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Another person" }).click();
    await other.waitForFunction(() => document.querySelector("#done").textContent.startsWith("0 of"));
    assert.equal(await other.getByLabel("Your name").inputValue(), "");
    await other.getByRole("button", { name: "Next" }).click();
    await page.reload();
    assert.match(await page.textContent("#done"), /^0 of/);
    assert.equal(await page.getByLabel("Your name").inputValue(), "");
});

test("the next person at a browser begins with an empty page", async ({ page }) => {
    needs("CLOSEREAD_BINARY");
    await page.goto(pageOf("t"));
    await page.getByLabel("Correct", { exact: true }).check();
    await page.getByLabel("Your name").fill("ann");
    assert.equal(Object.keys((await saved(page, "ann-1.json")).answers).length, 1);
    // Another name alone would hand in the same answers as those of two.
    await page.getByLabel("Your name").fill("bo");
    const asked = page.waitForEvent("dialog");
    const pressed = page.click("#save");
    assert.match((await asked).message(), /saved as those of ann/);
    await (await asked).dismiss();
    await pressed;
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Another person" }).click();
    assert.match(await page.textContent("#done"), /^0 of/);
    await page.reload();
    assert.match(await page.textContent("#done"), /^0 of/);
    assert.equal(await page.getByLabel("Your name").inputValue(), "");
    await page.getByLabel("Your name").fill("bo");
    assert.deepEqual((await saved(page, "bo-1.json")).answers, {});
});

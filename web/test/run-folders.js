// Run folders that the tests of the page open, and how they open them.

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BINARY } from "./harness.js";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const HOSTILE = "<img src=x onerror=\"document.title='hurt'\"><script>document.title='hurt'</script>\u202e\u2069&amp;";

/** The folder that the runs lie in, while the tests of a file run. */
export let work;
export const closeread = (...args) =>
    execFileSync(BINARY, args, {
        cwd: work,
        encoding: "utf8",
        maxBuffer: 1 << 28,
        stdio: ["ignore", "pipe", "ignore"],
        env: { ...process.env, CLOSEREAD_CACHE: join(work, "cache") },
    });

/** Makes the folder, and the runs in it that the program makes. */
export async function prepare() {
    work = await mkdtemp(join(tmpdir(), "closeread-runs-"));
    if (!BINARY) return;
    const run = (out, ...more) => closeread("run", "--benchmark", join(ROOT, "sample"), "--retriever", "bm25", "--out", out, ...more);
    run("first", "--method", "closed-book,vanilla-rag,dos-rag", "--budget", "300,900");
    run("second", "--method", "dos-rag", "--budget", "300,900", "--passage-tokens", "60");
}

export const cleared = () => rm(work, { recursive: true, force: true });

const KEY = { method: "dos-rag", model: "p/x", budget: 500 };
export const record = (item, more = {}) => ({
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

export async function runFolder(path, items, records) {
    await mkdir(path, { recursive: true });
    const manifest = { format: 2, closeread: "test", configuration: { benchmark: "made up", cells: [KEY], tokenizer: "cl100k" } };
    const lines = (values) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
    await writeFile(join(path, "manifest.json"), JSON.stringify(manifest));
    await writeFile(join(path, "items.jsonl"), lines(items));
    await writeFile(join(path, "records.jsonl"), lines(records));
}

/** The last item has no record. */
export async function large(path, n) {
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

export async function hostile(path) {
    const items = [{ id: HOSTILE, documents: [HOSTILE], question: HOSTILE, task: "generative", answers: [HOSTILE], labels: { kind: HOSTILE } }];
    const calls = [
        { prompt: HOSTILE, sha256: HOSTILE, finish: "stop", counted_tokens: 10, response: HOSTILE, usage: { prompt_tokens: 1, completion_tokens: 1 } },
    ];
    await runFolder(path, items, [record(HOSTILE, { answer: HOSTILE, calls })]);
}

export async function open(page, name) {
    await page.setInputFiles("#run-folder", join(work, name));
    await page.waitForFunction((name) => document.querySelector("#runs-heading")?.textContent === name, name, { timeout: 120_000 });
    await page.waitForSelector(".part.report table", { timeout: 120_000 });
}
export const part = (page, name) => page.click(`#part-${name}`);
export const tables = (page) =>
    page.$$eval("#run-body table", (all) => all.map((table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent).join("|"))));

// The page's module in Node, without a bundler: the same bytes as the command line over the sample and over real novels.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import init, { Index, chunk, provide, search } from "../dist/closeread_wasm.js";
import { needs, test } from "./fixtures.js";
import { BINARY, DIST } from "./harness.js";

const run = promisify(execFile);
const SAMPLE = new URL("../../sample/", import.meta.url);
const asset = async (name) => gunzipSync(await readFile(new URL(`assets/${name}.gz`, DIST)));

test.beforeAll(async () => {
    await init({ module_or_path: await readFile(new URL("closeread_wasm_bg.wasm", DIST)) });
    provide("cl100k", await asset("cl100k_base.bin"));
    provide("o200k", await asset("o200k_base.bin"));
    provide("punkt-en", await asset("punkt-en.txt"));
});

const QUESTIONS = ["Who opens the door at night?", "谁在夜里开门？"];
const SETTINGS = [
    { budget: 300, order: "document", neighbours: 0 },
    { budget: 8000, order: "score", neighbours: 2 },
];
const SEARCHES = QUESTIONS.flatMap((question) => SETTINGS.map((options) => ({ question, options })));

/** Holds the chunks of a book, and searches over it, to what the command line prints. */
async function holdToCommand(path, searches) {
    const printed = async (...args) => (await run(BINARY, args.map(String), { maxBuffer: 1 << 28 })).stdout;
    const searched = ({ question, options: { budget, order, neighbours } }) =>
        printed("search", path, question, "--retriever", "bm25", "--budget", budget, "--order", order, "--neighbours", neighbours, "--json");
    // The program and the module compute at the same time.
    const expected = Promise.all([printed("chunk", path, "--json"), ...searches.map(searched)]);
    const bytes = await readFile(path);
    const index = new Index();
    index.add("book", bytes);
    const found = [JSON.stringify(chunk(bytes)), ...searches.map(({ question, options }) => index.searchJson(question, options))];
    index.free();
    for (const [n, text] of (await expected).entries()) assert.equal(`${found[n]}\n`, text, `${path}: ${searches[n - 1]?.question ?? "chunks"}`);
}

test("bytes of a web page are read as its text, and a string stays as it is", () => {
    const html = "<!doctype html><p>Rain <i>fell</i>.</p>";
    const cut = (file) => chunk(file).passages.map(({ text }) => text);
    assert.deepEqual(cut(new TextEncoder().encode(html)), ["Rain fell."]);
    assert.deepEqual(cut(html), [html]);
});

test("what is no string is refused, and the module goes on", () => {
    const index = new Index();
    index.add("book", "At night Ana hid the key. Then came the winter.");
    for (const wrong of [5, null, undefined, true, 7n, {}, ["Who?"], () => "Who?", Symbol("Who?")]) {
        assert.throws(() => index.searchJson(wrong), /expected a string, found/, typeof wrong);
        assert.throws(() => index.add(wrong, "A text."), /expected a string, found/, typeof wrong);
    }
    let nested = [];
    for (let depth = 0; depth < 100_000; depth++) nested = [nested];
    const lies = [
        {
            get quote() {
                throw new Error("no");
            },
        },
    ];
    for (const evidence of [nested, lies]) assert.throws(() => index.setEvidence(evidence));
    assert.match(index.searchJson("Who hid the key?"), /Ana hid the key/);
    assert.deepEqual(index.setEvidence([{ quote: "Ana hid the key" }]).places, [{ book: 0, start: 9, end: 24 }]);
    index.free();
});

test("chunk and search have the bytes that the command line prints", async () => {
    needs("CLOSEREAD_BINARY");
    for (const name of ["the-loan-of-the-bell.txt", "shedu-bu.txt"]) await holdToCommand(fileURLToPath(new URL(name, SAMPLE)), SEARCHES);
});

test("and over whole novels too, each by one of the searches", async () => {
    needs("CLOSEREAD_DATA", "CLOSEREAD_BINARY");
    const data = process.env.CLOSEREAD_DATA;
    const names = ["novels/en", "novels/zh", "encodings"].map(async (folder) =>
        (await readdir(`${data}/${folder}`)).map((name) => `${data}/${folder}/${name}`),
    );
    for (const [n, path] of (await Promise.all(names)).flat().entries()) await holdToCommand(path, [SEARCHES[n % SEARCHES.length]]);
});

test("a neighbour ranks behind its passage, as closeread retrieve scores it", () => {
    const index = new Index({ maxTokens: 9 });
    index.add("mill", "Ana hid the key. It rained all day long. The key was old, heavy and cold.");
    index.setEvidence([{ quote: "It rained all day long." }]);
    const { mrr, at } = index.rankingScores("Who hid the key?", [2, 3], { retriever: "bm25", neighbours: 1 });
    assert.deepEqual([mrr, at[0].hit], [0.5, 1]);
});

test("an object and the JSON of a search are the same, with another tokenizer too", () => {
    const book = "Ana lit the lamp. The boats stayed in the harbour. Nobody came.";
    const index = new Index({ tokenizer: "o200k", maxTokens: 8 });
    index.add("book", book);
    assert.deepEqual(index.search("lamp"), JSON.parse(index.searchJson("lamp")));
    assert.deepEqual(index.search("lamp"), search(book, "lamp", {}, { tokenizer: "o200k", maxTokens: 8 }));
});

test("vectors come in any order, nearest to the question first", () => {
    const index = new Index({ maxTokens: 8 });
    index.add("book", "The boats stayed out. Nobody came home. Ana lit the lamp. It rained again.");
    index.expectVectors(2);
    const [first, rest] = [index.nextToEmbed("lamp", 1), index.nextToEmbed("lamp", 9)];
    assert.match(first.texts[0], /lamp/);
    assert.equal(first.passages.length + rest.passages.length, index.nPassages);
    assert.equal(index.nextToEmbed("lamp", 9).passages.length, 0, "all are under way");
    index.giveBack(Uint32Array.from(rest.passages));
    assert.deepEqual(index.nextToEmbed("lamp", 9), rest);
    index.putVectors(Uint32Array.from(first.passages), Float32Array.of(1, 0));
    index.putQueryVector("lamp", Float32Array.of(1, 0));
    assert.deepEqual(
        index.search("lamp", { retriever: "dense" }).passages.map((p) => p.index),
        first.passages,
        "as far as vectors have come",
    );
    index.putVectors(Uint32Array.from(rest.passages), new Float32Array(2 * rest.passages.length).fill(1));
    const kept = index.vectors();
    const again = new Index({ maxTokens: 8 });
    again.add("book", "The boats stayed out. Nobody came home. Ana lit the lamp. It rained again.");
    assert.equal(again.contentKey, index.contentKey);
    again.expectVectors(kept.dimension);
    again.putVectors(kept.passages, kept.values);
    again.putQueryVector("lamp", Float32Array.of(1, 0));
    for (const retriever of ["dense", "hybrid"]) {
        assert.deepEqual(again.search("lamp", { retriever }), index.search("lamp", { retriever }));
    }
    assert.throws(() => again.putVectors(Uint32Array.of(0), Float32Array.of(1)), /1 numbers for 1 vectors of 2/);
    assert.throws(() => again.putVectors(Uint32Array.of(0), Float32Array.of(1, NaN)), /not finite/);
});

test("another model's vectors take the place of those that were there, also in a ranking that was asked for before", () => {
    const index = new Index({ maxTokens: 8 });
    index.add("book", "The boats stayed out. Nobody came home.");
    const best = (model, ...vectors) => {
        index.expectVectors(2, model);
        assert.equal(index.nVectors, 0);
        index.putVectors(Uint32Array.of(0, 1), Float32Array.from(vectors.flat()));
        index.putQueryVector("boats", Float32Array.of(1, 0));
        index.expectVectors(2, model);
        assert.equal(index.nVectors, 2, "the same model's stay");
        return index.retrieve("boats", { retriever: "dense", order: "score" }).passages[0].index;
    };
    assert.deepEqual([best("one", [1, 0], [0, 1]), best("another", [0, 1], [1, 0])], [0, 1]);
});

test("the folder is an npm package: in Node its import is all that books, scores and methods need", async () => {
    const folder = await mkdtemp(`${tmpdir()}/closeread-package-`);
    try {
        await mkdir(`${folder}/node_modules/@closeread`, { recursive: true });
        await symlink(fileURLToPath(DIST), `${folder}/node_modules/@closeread/page`);
        await writeFile(
            `${folder}/try.mjs`,
            `
            import { Index, Method, OpenRun, asset, chunk, compare, score } from "@closeread/page";
            const index = new Index();
            index.add("book", "Ana lit the lamp. The boats stayed in the harbour.");
            const gold = { name: "gold.jsonl", content: '{"id":"1","question":"Who?","task":"generative","answers":["Ana"],"documents":["book"]}' };
            const predictions = { name: "p.jsonl", content: '{"item":"1","answer":"Ana"}' };
            console.log(JSON.stringify({
                found: index.search("lamp").passages.length, cut: chunk("Rain fell.").passages.length, wordnet: asset("wordnet").length > 1e6,
                kinds: [typeof Method, typeof OpenRun, typeof compare],
                scored: score(gold, predictions, { metrics: ["exact_match"] }).metrics.exact_match.value,
            }));
        `,
        );
        const { stdout } = await run(process.execPath, ["try.mjs"], { cwd: folder });
        const kinds = ["function", "function", "function"];
        assert.deepEqual(JSON.parse(stdout), { found: 1, cut: 1, wordnet: true, kinds, scored: 1 });
        const [{ files }] = JSON.parse((await run("npm", ["pack", "--dry-run", "--json"], { cwd: fileURLToPath(DIST) })).stdout);
        const packed = files.map(({ path }) => path);
        for (const path of ["closeread_wasm_bg.wasm", "closeread_wasm.d.ts", "elements/closeread_scorer_bg.wasm", "node.js", "package.d.ts"]) {
            assert.ok(packed.includes(path), `${path} is not packed: ${packed}`);
        }
        assert.ok(!packed.includes("index.html") && !packed.includes("app.js"), "the page is no part of it");
    } finally {
        await rm(folder, { recursive: true });
    }
});

// What the first screen shows before anything is computed: essay.<language>.json, from the sample, by the core itself.
// `node tools/essay.js --meaning BINARY` asks the command line for the ranking by meaning again and writes tools/meaning.json.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { unit } from "./unit.js";

const { methodCost } = await unit("essay/cost.ts");

const WEB = new URL("../", import.meta.url);
const DIST = new URL("dist/", WEB);
const MEANING = new URL("tools/meaning.json", WEB);
/** A question of each work whose evidence BM25 finds within 1,500 tokens, and not in the order of the story. */
const QUESTIONS = { en: "en-060", zh: "zh-015" };
/** Most bytes of a file. */
const MOST = 20_000;
/** Tokens up to which passages are listed, and budgets of the slider. */
const LISTED = 3000;
const STOPS = Array.from({ length: 30 }, (_, n) => 100 * (n + 1));
const BUDGETS = [100, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10_000, 20_000];

const lines = (name) =>
    readFileSync(new URL(`sample/${name}`, DIST), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
const [works, items] = [lines("documents.jsonl"), lines("items.jsonl")];

export async function writeEssays() {
    const core = await import(new URL("closeread_wasm.js", DIST));
    await core.default({ module_or_path: readFileSync(new URL("closeread_wasm_bg.wasm", DIST)) });
    for (const [name, file] of [
        ["cl100k", "cl100k_base.bin"],
        ["punkt-en", "punkt-en.txt"],
    ])
        core.provide(name, gunzipSync(readFileSync(new URL(`assets/${file}.gz`, DIST))));
    for (const [language, id] of Object.entries(QUESTIONS)) {
        const text = JSON.stringify(
            essay(
                core,
                items.find((item) => item.id === id),
            ),
        );
        if (text.length > MOST)
            throw new Error(`essay.${language}.json has ${text.length} bytes: at most ${MOST} are to be fetched before the first screen stands`);
        writeFileSync(new URL(`essay.${language}.json`, DIST), text);
        console.log(`essay.${language}.json: ${Buffer.byteLength(text)} bytes`);
    }
}

function essay(core, item) {
    const work = works.find(({ id }) => id === item.documents[0]);
    const bytes = readFileSync(new URL(`sample/${work.path}`, DIST));
    const index = new core.Index();
    const { nBytes, nTokens, nPassages } = index.add(work.id, bytes);
    const places = ({ places }) => places.filter((place) => place !== null).map(({ start, end }) => ({ start, end }));
    const evidence = places(index.setEvidence(item.evidence));
    const found = (budget, order) => index.retrieve(item.question, { budget, order, retriever: "bm25" });
    const listed = found(LISTED, "score").passages;
    const texts = index.texts(new Uint32Array(listed.map((passage) => passage.index)));
    const rows = listed.map(({ index, start, end, score, tokens }, n) => [index, start, end, Number(score.toFixed(3)), tokens, texts[n]]);
    const at = STOPS.map((budget) => {
        const { nPassages, nMatched, tokens, recall } = found(budget, "score");
        return [nPassages, nMatched, tokens, recall];
    });
    // Where each passage that is met makes a step, and coarser behind.
    const sums = listed.reduce((all, { tokens }) => [...all, (all.at(-1) ?? 0) + tokens], []);
    const curve = index
        .recallCurve(item.question, new Uint32Array([...sums, 5000, 7500, 10_000]), { retriever: "bm25" })
        .map(({ budget, recall, nPlaces }) => [budget, Number(recall.toFixed(4)), nPlaces]);
    const ofBook = items.filter(({ documents }) => documents.length === 1 && documents[0] === work.id);
    const sum = BUDGETS.map(() => 0);
    for (const { question, evidence } of ofBook) {
        index.setEvidence(evidence);
        index.recallCurve(question, new Uint32Array(BUDGETS), { retriever: "bm25" }).forEach(({ recall }, n) => (sum[n] += recall ?? 0));
    }
    const mean = BUDGETS.map((budget, n) => [budget, Number((sum[n] / ofBook.length).toFixed(4))]);
    const methods = core.methods({ id: work.id, title: work.title, language: work.language, file: bytes }).map(methodCost);
    return {
        book: { id: work.id, title: work.title, language: work.language, nBytes, nTokens, nPassages },
        chapters: index.chapters(0),
        item: { id: item.id, question: item.question, answer: item.answers[0] },
        evidence,
        rows,
        byBook: found(LISTED, "document").passages.map((passage) => passage.index),
        stops: STOPS,
        at,
        curve,
        mean,
        nQuestions: ofBook.length,
        methods,
        meaning: JSON.parse(readFileSync(MEANING))[item.id] ?? [],
    };
}

/** Passages in the order of their vectors, with start, end and tokens, as far as the figure shows them. */
function rankByMeaning(binary) {
    const meaning = {};
    const item = items.find(({ id }) => id === QUESTIONS.en);
    const path = fileURLToPath(new URL(`sample/${works.find(({ id }) => id === item.documents[0]).path}`, DIST));
    const printed = execFileSync(binary, ["search", path, item.question, "--retriever", "dense", "--budget", "2400", "--order", "score", "--json"], {
        encoding: "utf8",
        maxBuffer: 1 << 26,
    });
    meaning[item.id] = JSON.parse(printed).passages.map(({ index, start, end, tokens }) => [index, start, end, tokens]);
    writeFileSync(MEANING, `${JSON.stringify(meaning)}\n`);
}

if (process.argv[2] === "--meaning") rankByMeaning(process.argv[3]);

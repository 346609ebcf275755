// The methods of the WebAssembly module in Node: the same records as the command line's, over a host of callbacks.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { needs, test } from "./fixtures.js";
import { BINARY } from "./harness.js";
import init, { ChatModel, MethodRun, changes, methods, orderEffect, provide } from "../dist/closeread_wasm.js";

const SAMPLE = new URL("../../sample/", import.meta.url);
const BUDGET = 500;

let works, items;
test.beforeAll(async () => {
    await init({ module_or_path: await readFile(new URL("../dist/closeread_wasm_bg.wasm", import.meta.url)) });
    provide("cl100k", gunzipSync(await readFile(new URL("../dist/assets/cl100k_base.bin.gz", import.meta.url))));
    provide("punkt-en", await readFile(new URL("../../core/text/assets/punkt-en.txt", import.meta.url)));
    const lines = async (name) => (await readFile(new URL(name, SAMPLE), "utf8")).trim().split("\n").map(JSON.parse);
    works = new Map();
    for (const { id, title, language, path } of await lines("documents.jsonl")) {
        works.set(id, { id, title, language, file: await readFile(new URL(path, SAMPLE)) });
    }
    const all = await lines("items.jsonl");
    const item = (id) => all.find((item) => item.id === id);
    items = [
        item("en-001"),
        item("en-002"),
        item("zh-007"),
        {
            id: "s-1",
            documents: ["the-loan-of-the-bell"],
            question: "What becomes of the bell of Scarrow?",
            task: "summary",
            answers: ["It goes back to where it was cast."],
        },
    ];
});

/** A run with builtin/extractive, its calls and what was made. */
async function played(method, item, options = {}) {
    const books = item.documents.map((id) => works.get(id));
    const run = new MethodRun(books, item, { method, budget: BUDGETED.has(method) ? BUDGET : undefined, ...options });
    const calls = [],
        parsed = [];
    let preparation;
    const record = await run.run({
        async chat(call) {
            calls.push(call);
            const text = run.extractive(call.id);
            parsed.push(run.parsed(call.id, text));
            return text;
        },
        prepared: (made) => (preparation = made),
    });
    run.free();
    return { record, calls, parsed, preparation };
}

const BUDGETED = new Set(["vanilla-rag", "dos-rag", "raptor", "corpus-rag"]);
const named = (records) => new Map(records.map((record) => [`${record.item} ${record.method}`, record]));

test("every method ends as it does on the command line: outcome, scores, context, calls", async ({ after }) => {
    needs("CLOSEREAD_BINARY");
    const folder = await mkdtemp(join(tmpdir(), "closeread-method-"));
    after(() => rm(folder, { recursive: true }));
    const [data, out] = [join(folder, "data"), join(folder, "run")];
    await mkdir(data);
    for (const name of await readdir(SAMPLE)) {
        if (name === "documents.jsonl" || name.endsWith(".txt")) await cp(new URL(name, SAMPLE), join(data, name));
    }
    await writeFile(join(data, "items.jsonl"), items.map((item) => `${JSON.stringify(item)}\n`).join(""));
    await promisify(execFile)(BINARY, ["run", "--benchmark", data, "--method", "all", "--retriever", "bm25", "--budget", String(BUDGET), "--out", out], {
        maxBuffer: 1 << 26,
        cwd: folder,
    });
    const expected = named((await readFile(join(out, "records.jsonl"), "utf8")).trim().split("\n").map(JSON.parse));
    const offered = methods(works.get("the-loan-of-the-bell"));
    assert.equal(expected.size, items.length * offered.length);
    for (const { name } of offered) {
        for (const item of items) {
            const { record } = await played(name, item);
            const there = expected.get(`${item.id} ${name}`);
            delete there.seconds;
            delete record.seconds;
            assert.deepEqual(record, there, `${name}, ${item.id}`);
        }
    }
    const offers = await promisify(execFile)(BINARY, ["methods", "--json"], { maxBuffer: 1 << 26 });
    assert.deepEqual(offered, JSON.parse(offers.stdout), "what closeread methods prints for the same story");
});

test("a call says everything before it is sent, and its response is understood by the method's own parser", async () => {
    const { record, calls, parsed } = await played("agentic-rag", items[1]);
    assert.deepEqual(
        calls.map(({ prompt, want, id }) => [id, prompt, want.kind]),
        [
            [0, "agentic-rag", "query"],
            [1, "agentic-rag-results", "answer"],
        ],
    );
    assert.deepEqual(parsed[0], { said: "query", query: items[1].question });
    assert.equal(parsed[1].said, "answer");
    assert.equal(parsed[1].answer, record.answer);
    const [first, second] = calls;
    assert.ok(first.messages[0].content.includes(items[1].question));
    assert.deepEqual(
        second.messages.map(({ role }) => role),
        ["user", "assistant", "user"],
    );
    assert.equal(second.passages.length, 3);
    assert.equal(
        calls.reduce((sum, { tokens }) => sum + tokens, 0),
        record.prompt_tokens,
    );
    const whole = await played("full-document", items[1]);
    const [{ content, sharedLength }] = whole.calls[0].messages;
    assert.ok(sharedLength > 10_000 && sharedLength < content.length && !content.slice(0, sharedLength).includes(items[1].question));
});

test("a call tells the form of its response, and where its passages stand in the book", async () => {
    const run = new MethodRun([works.get("the-loan-of-the-bell")], items[1], { method: "dos-rag", budget: 300 });
    const calls = [];
    const record = await run.run({
        chat: (call) => {
            calls.push(call);
            return run.extractive(call.id);
        },
    });
    assert.match(calls[0].grammar, /^root ::= said " \[\[" \("1" \| "2" \| "3" \| "4"\) "\]\]"/);
    const places = ({ start, end }) => [start, end];
    assert.deepEqual(run.places(0).map(places), record.context.passages.map(places));
    assert.equal(run.evidence().length, items[1].evidence.length);
    assert.throws(() => run.places(7), /there is no call 7/);
});

test("two orders are compared question by question, and no verdict comes from a few", () => {
    const question = (by_score, by_place) => ({
        book: "b",
        by_score: { accuracy: by_score, evidence_recall: 1 },
        by_place: { accuracy: by_place, evidence_recall: 1 },
    });
    const few = orderEffect([question(0, 1), question(1, 1), { book: "b", by_score: {}, by_place: {} }]);
    assert.deepEqual([few.comparison.n, few.ahead, few.scored], [2, null, [["accuracy", 0, 1], ["accuracy", 1, 1], null]]);
    const many = orderEffect(Array.from({ length: 90 }, (_, n) => question(n % 3 === 0 ? 1 : 0, 1)));
    assert.equal(many.ahead, "b");
    assert.equal(orderEffect([]).comparison, null);
    assert.throws(() => orderEffect([{ book: 1 }]), /questions in both orders/);
});

test("preparations come before the question, with the tree and the pages", async () => {
    const raptor = await played("raptor", items[1]);
    const { Ok: tree } = raptor.preparation.prepared;
    assert.equal(tree.made, "raptor");
    assert.equal(tree.layers.flat().length, raptor.calls.filter(({ stage }) => stage === "preparation").length);
    assert.ok(raptor.parsed.slice(0, -1).every(({ said }) => said === "summary"));
    const agent = await played("read-agent", items[1]);
    assert.equal(agent.preparation.prepared.Ok.pages.length, agent.record.measures.pages);
    assert.ok(agent.parsed.some(({ said }) => said === "break") && agent.parsed.some(({ said }) => said === "gist"));
    assert.ok(agent.parsed.some(({ said, pages }) => said === "pages" && pages.length > 0));
});

test("a memory shows what it forgot and learnt", async () => {
    const { calls, parsed } = await played("memory-agent", items[1], { parameters: { section_tokens: 3000 } });
    const memories = parsed.filter(({ said }) => said === "memory").map(({ text }) => text);
    assert.ok(memories.length > 2 && calls[1].passages[0] === memories[0]);
    const told = changes(memories[0], memories[1], "en");
    assert.equal(
        told
            .filter(({ kind }) => kind !== "gone")
            .map(({ text }) => text)
            .join("")
            .trim(),
        memories[1].trim(),
    );
});

test("dense retrieval asks the host for vectors", async () => {
    const roles = [];
    const run = new MethodRun([works.get("the-loan-of-the-bell")], items[1], { method: "naive-rag", retriever: "dense" });
    const record = await run.run({
        chat: (call) => run.extractive(call.id),
        embed: async (role, texts) => {
            roles.push(role);
            return texts.map((text) => Float32Array.of(text.includes("goat") ? 1 : 0, text.includes("goat") ? 0 : 1));
        },
    });
    assert.deepEqual([...new Set(roles)], ["passage", "query"]);
    assert.equal(record.context.retriever, "dense");
    assert.equal(record.context.passages[0].score, 1);
    assert.ok(run.slice("the-loan-of-the-bell", record.context.passages[0].start, record.context.passages[0].end).includes("goat"));
});

test("vectors that rank nothing are said", async () => {
    for (const vector of [[NaN, 1], [Infinity, 0], []]) {
        const run = new MethodRun([works.get("the-loan-of-the-bell")], items[1], { method: "naive-rag", retriever: "dense" });
        const record = await run.run({ chat: (call) => run.extractive(call.id), embed: (_role, texts) => texts.map(() => Float32Array.from(vector)) });
        assert.equal(record.outcome, "failed");
        assert.match(record.error, /vectors must hold numbers, all of them finite/);
    }
});

test("a reranker of the host puts the passages in order, and without one that is said", async () => {
    const options = { method: "vanilla-rag", budget: 300, rerankFrom: 20 };
    const run = new MethodRun([works.get("the-loan-of-the-bell")], items[1], options);
    const record = await run.run({
        chat: (call) => run.extractive(call.id),
        rerank: (_query, texts) => texts.map((text) => (text.includes("goat") ? 1 : 0)),
    });
    assert.equal(record.context.reranked, 20);
    assert.equal(record.context.passages[0].score, 1);
    const without = new MethodRun([works.get("the-loan-of-the-bell")], items[1], options);
    const failed = await without.run({ chat: (call) => without.extractive(call.id) });
    assert.match(JSON.stringify(failed), /reranking failed.*no `rerank`/);
});

test("what cannot be run says what was expected", () => {
    const run =
        (options, item = items[1]) =>
        () =>
            new MethodRun([works.get("the-loan-of-the-bell")], item, options);
    assert.throws(run({ method: "dos" }), { name: "ParameterError", message: /there is no method `dos`; the names are: closed-book/ });
    assert.throws(run({ method: "dos-rag", parameters: { bugdet: 1 } }), { message: /`bugdet`/ });
    assert.throws(run({ method: "dos-rag" }, { ...items[1], options: [] }), { message: /a choice with 0 `options`/ });
    assert.throws(run({ method: "dos-rag" }, items[2]), { message: /about the documents \["shedu-bu"\]/ });
});

test("a failed call is an outcome, whatever the host throws", async () => {
    const ended = async (error) => {
        const run = new MethodRun([works.get("the-loan-of-the-bell")], items[1], { method: "dos-rag", budget: 200 });
        const { outcome, needed, reason } = await run.run({ chat: () => Promise.reject(error) });
        return [outcome, needed ?? reason];
    };
    const named = (name, fields = {}) => Object.assign(new Error("no"), { name, ...fields });
    assert.deepEqual(await ended(named("OverflowError", { needed: 900, window: 100 })), ["overflow", 900]);
    assert.deepEqual(await ended(named("BlockedError")), ["blocked", "no"]);
    assert.deepEqual(await ended(new TypeError("x")), ["failed", undefined]);
});

/** A server that replies in turn; it keeps what it was asked. */
async function serve(after, responses) {
    const asked = [];
    const server = createServer(async (request, response) => {
        let body = "";
        for await (const piece of request) body += piece;
        asked.push({ url: request.url, headers: request.headers, body: JSON.parse(body) });
        const [status, content, headers = {}] = responses[Math.min(asked.length, responses.length) - 1];
        response.writeHead(status, { "content-type": "application/json", ...headers }).end(typeof content === "string" ? content : JSON.stringify(content));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    after(() => server.close());
    return { asked, url: `http://127.0.0.1:${server.address().port}` };
}

const CALL = { messages: [{ role: "user", content: "Book. Who?", sharedLength: 5 }], maxOutputTokens: 100 };
const KEY = "sk-test-1234567890abcdef";
const OPENAI = { choices: [{ message: { content: "Ana" }, finish_reason: "stop" }], usage: { prompt_tokens: 7, completion_tokens: 1 } };

test("each provider is asked in its own words", async ({ after }) => {
    const anthropic = await serve(after, [
        [200, { content: [{ type: "text", text: "Ana" }], stop_reason: "end_turn", usage: { input_tokens: 7, output_tokens: 1 } }],
    ]);
    let response = await new ChatModel({ protocol: "anthropic", model: "m", baseUrl: anthropic.url, key: KEY }).chat(CALL);
    assert.equal(response.text, "Ana");
    const [{ url, headers, body }] = anthropic.asked;
    assert.equal(url, "/v1/messages");
    assert.equal(headers["x-api-key"], KEY);
    assert.equal(headers["anthropic-dangerous-direct-browser-access"], "true");
    assert.deepEqual(body.messages[0].content[0], { type: "text", text: "Book.", cache_control: { type: "ephemeral" } });

    const gemini = await serve(after, [[200, { candidates: [{ content: { parts: [{ text: "Ana" }] }, finishReason: "STOP" }] }]]);
    response = await new ChatModel({ protocol: "gemini", model: "m", baseUrl: gemini.url, key: KEY }).chat(CALL);
    assert.equal(response.text, "Ana");
    assert.equal(gemini.asked[0].url, "/v1beta/models/m:generateContent");
    assert.equal(gemini.asked[0].headers["x-goog-api-key"], KEY);

    const openai = await serve(after, [[200, OPENAI]]);
    const model = { protocol: "openai", model: "m", baseUrl: `${openai.url}/v1`, key: KEY, extraBody: { top_k: 1 }, seed: 3 };
    response = await new ChatModel(model).chat(CALL);
    assert.deepEqual([response.text, response.usage.prompt_tokens], ["Ana", 7]);
    assert.equal(openai.asked[0].headers.authorization, `Bearer ${KEY}`);
    assert.deepEqual([openai.asked[0].body.top_k, openai.asked[0].body.seed], [1, 3]);
});

test("a relay is told where to; a stream is put together", async ({ after }) => {
    const piece = (content, end = null) => `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: end }] })}\n\n`;
    const relay = await serve(after, [[200, `${piece("A")}${piece("na", "stop")}data: [DONE]\n\n`, { "content-type": "text/event-stream" }]]);
    const model = new ChatModel({
        protocol: "openai",
        model: "m",
        baseUrl: "http://far.example/v1",
        key: KEY,
        relay: { url: `${relay.url}/relay`, token: "t0k" },
    });
    assert.equal((await model.chat({ ...CALL, maxOutputTokens: 5000 })).text, "Ana");
    const [{ url, headers, body }] = relay.asked;
    assert.deepEqual([url, headers["x-closeread-token"], headers["x-closeread-url"]], ["/relay", "t0k", "http://far.example/v1/chat/completions"]);
    assert.equal(headers.authorization, `Bearer ${KEY}`);
    assert.equal(body.stream, true);
});

test("a response is parsed as it comes, and never the key that it repeats", async ({ after }) => {
    const piece = (content, end = null) => `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: end }] })}\n\n`;
    const half = KEY.length / 2;
    const pieces = [piece("You sent "), piece(KEY.slice(0, half)), piece(KEY.slice(half)), piece(".", "stop"), "data: [DONE]\n\n"];
    const server = await serve(after, [[200, pieces.join(""), { "content-type": "text/event-stream" }]]);
    const parsed = [];
    const model = new ChatModel({ protocol: "openai", model: "m", baseUrl: `${server.url}/v1`, key: KEY });
    const response = await model.chat(CALL, undefined, undefined, (text) => parsed.push(text));
    assert.equal(server.asked[0].body.stream, true, "a short response, too");
    assert.equal(response.text, "You sent ***.");
    assert.ok(parsed.length > 0);
    for (const text of parsed) assert.ok("You sent ***.".startsWith(text), text);
});

test("what may pass is tried again, what is refused is left out, what is final is not tried again", async ({ after }) => {
    const busy = await serve(after, [
        [429, { error: { message: "slow down" } }, { "retry-after": "0" }],
        [400, { error: { message: "Unsupported parameter: 'temperature'", code: "unsupported_parameter", param: "temperature" } }],
        [200, OPENAI],
    ]);
    const parsed = [];
    const model = new ChatModel({ protocol: "openai", model: "m", baseUrl: busy.url });
    assert.equal((await model.chat(CALL, undefined, (retrying) => parsed.push(retrying))).text, "Ana");
    assert.equal(busy.asked.length, 3);
    assert.ok(!("temperature" in busy.asked[2].body));
    assert.equal(parsed.length, 1);
    assert.match(parsed[0].message, /429: slow down/);

    const refused = await serve(after, [[401, { error: { message: `Incorrect API key provided: ${KEY}` } }]]);
    const closed = new ChatModel({ protocol: "openai", model: "m", baseUrl: refused.url, key: KEY });
    await assert.rejects(closed.chat(CALL), (error) => error.name === "CallError" && /\*\*\*/.test(error.message) && !error.message.includes(KEY));
    await assert.rejects(closed.chat(CALL), /not sent, because a call before it failed for good/);
    assert.equal(refused.asked.length, 1);
});

test("a call that is no longer wanted ends at once", async ({ after }) => {
    const busy = await serve(after, [[503, { error: { message: "busy" } }, { "retry-after": "600" }]]);
    const ending = new AbortController();
    const model = new ChatModel({ protocol: "openai", model: "m", baseUrl: busy.url });
    const asked = model.chat(CALL, ending.signal, () => ending.abort());
    await assert.rejects(asked, { name: "AbortError" });
    assert.equal(busy.asked.length, 1);
});

test("a key that no header can carry, or a model without a name, is refused without repeating it", () => {
    const refused = (options) => () => new ChatModel({ protocol: "openai", model: "m", ...options });
    assert.throws(refused({ key: "geheim schlüssel" }), (error) => /copy it again/.test(error.message) && !/geheim/.test(error.message));
    assert.throws(refused({ key: "secret", unknown: 1 }), (error) => !/secret/.test(error.message));
    assert.throws(refused({ model: " " }), /no model is named/);
    assert.throws(refused({ protocol: "x" }), /unknown protocol `x`/);
});

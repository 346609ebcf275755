// Engines and what plays over them, without a page: a core that is scripted, servers that are real.

import assert from "node:assert/strict";
import { test } from "./fixtures.js";
import { unit } from "./harness.js";
import { listening, until } from "./reader.js";

const { lookForServers, KNOWN } = await unit("model/local.ts");
const { ChromeEngine, chromeAvailability } = await unit("model/chrome.ts");
const { NativeLog, mend } = await unit("model/native.ts");
const { PersonEngine } = await unit("model/person.ts");
const { ServerEngine } = await unit("model/server.ts");
const { Player } = await unit("play/player.ts");
const { Asker } = await unit("play/asker.ts");
const { nextCall, sentCall } = await unit("play/run.ts");

const named = (name, message = name) => Object.assign(new Error(message), { name });
const call = (id, more = {}) => ({
    id,
    stage: "question",
    prompt: "p",
    messages: [{ role: "user", content: `call ${id}`, tokens: 2 }],
    tokens: 2,
    temperature: 0,
    want: { kind: "query" },
    question: "q",
    options: [],
    passages: [],
    ...more,
});

/** A core whose runs make so many calls, one after the other, and end with a record of their responses. */
function scripted(n = 1, scores = () => ({ accuracy: 1 })) {
    const asked = [],
        runs = new Map();
    return {
        asked,
        ask(kind, request, { tell = () => {}, signal } = {}) {
            asked.push([kind, request]);
            const run = runs.get(request.run);
            switch (kind) {
                case "watch/run":
                    return new Promise((resolve, reject) => {
                        const came = [];
                        const next = () =>
                            came.length < n
                                ? tell({ kind: "call", call: call(came.length) })
                                : resolve({
                                      outcome: "answered",
                                      answer: came.at(-1).response?.text ?? "",
                                      scores: scores(request),
                                      calls: came.map(({ response }) => ({ response: response?.text, usage: {} })),
                                  });
                        signal.addEventListener("abort", () => reject(named("AbortError")));
                        runs.set(request.run, { came, next });
                        next();
                    });
                case "watch/answer": {
                    run.came.push(request.came);
                    queueMicrotask(run.next);
                    return Promise.resolve({ parsed: undefined, changes: undefined });
                }
                case "watch/orders":
                    return Promise.resolve({ comparison: null, ahead: null, scored: request.questions.map(() => null) });
                default:
                    return Promise.resolve();
            }
        },
    };
}

const plan = { book: { id: "b" }, item: { id: "q", documents: ["b"], question: "q", task: "generative" }, options: { method: "m" } };
/** An engine that does what each of `acts` says, in turn. */
function engine(...acts) {
    let n = 0;
    return { name: "fake/one", chat: (call, asking) => acts[Math.min(n++, acts.length - 1)](call, asking) };
}
const says =
    (text) =>
    async (_, { onToken }) => {
        onToken(text.slice(0, 1));
        onToken(text);
        return { text, finish: "stop" };
    };

test("a run plays to its end; each call says who answered and how fast", async () => {
    const core = scripted(3);
    const player = new Player(core, plan, () => engine(says("so")));
    player.play();
    await player.start();
    assert.deepEqual([player.state.phase, player.state.record.answer], ["ended", "so"]);
    const steps = player.state.steps;
    assert.deepEqual(
        steps.map(({ state, by, text, pace }) => [state, by, text, pace.pieces]),
        Array(3).fill(["done", "fake/one", "so", 2]),
    );
});

test("stepping sends one call; a call that fails waits with its reason, and another engine answers it", async () => {
    const core = scripted(2);
    let which = engine(async () => {
        throw new Error("no connection");
    });
    const player = new Player(core, plan, () => which);
    const over = player.start();
    assert.equal(nextCall(player.state).call.id, 0);
    await player.step();
    assert.deepEqual([nextCall(player.state).failure, player.state.playing], ["no connection", false]);
    assert.ok(!core.asked.some(([kind]) => kind === "watch/answer"), "the method hears nothing of it");
    which = engine(says("yes"));
    await player.step();
    assert.equal(player.state.steps[0].state, "done");
    await until(() => player.state.steps.length === 2);
    assert.equal(player.state.steps[1].state, "waiting", "one step, one call");
    await player.step();
    await over;
    assert.equal(player.state.phase, "ended");
});

test("a call is cancelled, and waits without a reason; a run that is stopped ends", async () => {
    const player = new Player(scripted(1), plan, () =>
        engine((_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(named("AbortError"))))),
    );
    const over = player.start();
    const sent = player.step();
    assert.equal(sentCall(player.state).call.id, 0);
    player.cancel();
    await sent;
    assert.deepEqual([nextCall(player.state).failure, player.state.phase], [undefined, "running"]);
    player.stop();
    await over;
    assert.equal(player.state.phase, "stopped");
});

test("an overflow is how a call ends, and the method hears of it", async () => {
    const core = scripted(1);
    const player = new Player(core, plan, () =>
        engine(async () => {
            throw Object.assign(named("OverflowError", "too long"), { needed: 9, window: 4 });
        }),
    );
    player.play();
    await player.start();
    const [, { came }] = core.asked.find(([kind]) => kind === "watch/answer");
    assert.deepEqual(came, { ended: { name: "OverflowError", message: "too long", needed: 9, window: 4 } });
    assert.equal(player.state.steps[0].failure, "too long");
});

test("questions are asked in both orders, one after the other; what is lost is asked again when one goes on", async () => {
    const core = scripted(1);
    let lost = true;
    const acts = async (call, asking) => {
        if (lost && core.asked.filter(([kind]) => kind === "watch/run").length === 3) throw new Error("gone");
        return says("Ana")(call, asking);
    };
    const asker = new Asker(core, { book: { id: "b" }, options: { budget: 100 } }, () => engine(acts));
    const item = (id) => ({ id, documents: ["b"], question: id, task: "generative" });
    await asker.ask([item("one"), item("two")]);
    const states = () => asker.state.questions.map(({ answers }) => [answers["vanilla-rag"].state, answers["dos-rag"].state]);
    assert.deepEqual(states(), [
        ["done", "done"],
        ["failed", "open"],
    ]);
    assert.equal(asker.state.questions[1].answers["vanilla-rag"].failure, "gone");
    assert.equal(asker.state.phase, "over");
    lost = false;
    await asker.goOn();
    assert.deepEqual(states(), [
        ["done", "done"],
        ["done", "done"],
    ]);
    const runs = core.asked.filter(([kind]) => kind === "watch/run").map(([, { item, options }]) => [item.id, options.method, options.budget]);
    assert.deepEqual(runs, [
        ["one", "vanilla-rag", 100],
        ["one", "dos-rag", 100],
        ["two", "vanilla-rag", 100],
        ["two", "vanilla-rag", 100],
        ["two", "dos-rag", 100],
    ]);
    assert.equal(core.asked.filter(([kind]) => kind === "watch/orders").length, 2);
    assert.equal(core.asked.filter(([kind]) => kind === "watch/end").length, 5, "runs are forgotten");
});

test("a person's response goes to the call that waits for one", async () => {
    const person = new PersonEngine();
    const ending = new AbortController();
    const first = person.chat(call(0), { signal: ending.signal, onToken: () => {} });
    person.reply("so");
    assert.deepEqual(await first, { text: "so" });
    const second = person.chat(call(1), { signal: ending.signal, onToken: () => {} });
    ending.abort();
    await assert.rejects(second, { name: "AbortError" });
});

test("a server's engine passes on what comes, how a call ends, and a grammar where one is wanted", async () => {
    const asked = [];
    const core = (came) => ({
        ask: async (kind, request, { tell }) => {
            asked.push([kind, request]);
            tell({ text: "A" });
            tell({ retrying: { message: "busy", tries: 1, of: 3, wait: 1 } });
            return came;
        },
    });
    const parsed = [];
    const asking = { signal: new AbortController().signal, onToken: (text) => parsed.push(text), onRetry: ({ message }) => parsed.push(message) };
    const options = { protocol: "openai", model: "m", extraBody: { seed: 1 } };
    const plain = new ServerEngine(core({ response: { text: "Ana" } }), "x/m", options);
    assert.deepEqual(await plain.chat(call(0, { grammar: "root" }), asking), { text: "Ana" });
    assert.deepEqual(parsed, ["A", "busy"]);
    const held = new ServerEngine(core({ ended: { name: "OverflowError", message: "long", needed: 2, window: 1 } }), "x/m", options, { constrain: true });
    await assert.rejects(held.chat(call(0, { grammar: "root" }), asking), { name: "OverflowError", needed: 2, window: 1 });
    assert.deepEqual(
        asked.map(([, { model }]) => model.extraBody),
        [{ seed: 1 }, { grammar: "root", seed: 1 }],
    );
});

test("Chrome's model has a session a call, and says what does not fit", async () => {
    const sessions = [];
    globalThis.LanguageModel = {
        create: async (options) => {
            const session = { options, destroyed: false };
            sessions.push(session);
            return {
                contextWindow: 100,
                measureContextUsage: async (input) => input.map(({ content }) => content).join("").length,
                promptStreaming: () =>
                    new ReadableStream({
                        start: (into) => {
                            into.enqueue("A");
                            into.enqueue("na");
                            into.close();
                        },
                    }),
                destroy: () => (session.destroyed = true),
            };
        },
    };
    const parsed = [];
    const asking = { signal: new AbortController().signal, onToken: (text) => parsed.push(text) };
    const chrome = new ChromeEngine("en", 100);
    const messages = [
        { role: "user", content: "Who?" },
        { role: "assistant", content: "Hm." },
        { role: "user", content: "Well?" },
    ];
    const response = await chrome.chat(call(0, { messages }), asking);
    assert.deepEqual([response.text, parsed], ["Ana", ["A", "Ana"]]);
    assert.deepEqual(sessions[0].options.initialPrompts, messages.slice(0, 2));
    await assert.rejects(chrome.chat(call(1, { messages: [{ role: "user", content: "x".repeat(101) }] }), asking), {
        name: "OverflowError",
        needed: 101,
        window: 100,
    });
    assert.ok(sessions.every(({ destroyed }) => destroyed));
    delete globalThis.LanguageModel;
});

test("Chrome's model is asked only about languages that it takes", async () => {
    const asked = [];
    globalThis.LanguageModel = {
        availability: async ({ expectedInputs, expectedOutputs }) => {
            asked.push([expectedInputs, expectedOutputs].map(([{ languages }]) => languages));
            return "available";
        },
    };
    const found = await Promise.all(["en", "zh", "ja", "de"].map(chromeAvailability));
    assert.deepEqual(found, ["available", "unavailable", "available", "unavailable"]);
    assert.deepEqual(asked, [
        [["en"], ["en"]],
        [["ja"], ["ja"]],
    ]);
    delete globalThis.LanguageModel;
});

test("servers are looked for from the page, or by the relay of closeread serve", async ({ after }) => {
    const servers = [
        { name: "Ollama", port: 11434, models: [{ id: "qwen3:8b" }], error: null },
        { name: "LM Studio", port: 1234, models: null, error: null },
        { name: "llama-server", port: 8080, models: null, error: "it answers 503" },
        { name: null, port: 8000, models: [{ id: "tiny", meta: { n_ctx_train: 512 } }, { no: "id" }], error: null },
    ];
    const serve = await listening(after, ({ url }, response) => response.writeHead(url === "/local-models" ? 200 : 404).end(JSON.stringify({ servers })));
    const found = await lookForServers({ url: `${serve.url}/relay`, token: "t0k", any: false }, "http://x", new AbortController().signal);
    assert.deepEqual(
        found.map(({ name, state, models }) => [name, state, models]),
        [
            ["Ollama", "ready", [{ id: "qwen3:8b", window: undefined }]],
            ["LM Studio", "absent", []],
            ["llama-server", "error", []],
            [undefined, "ready", [{ id: "tiny", window: 512 }]],
        ],
    );
    assert.equal(serve.asked[0].headers["x-closeread-token"], "t0k");
    const old = await listening(after, (_, response) => response.writeHead(403).end());
    await assert.rejects(
        lookForServers({ url: `${old.url}/relay`, token: "t", any: false }, "http://x", new AbortController().signal),
        /answered 403: reload the page/,
    );
    assert.deepEqual(
        KNOWN.map(({ port }) => port),
        [11434, 1234, 8080],
    );
    assert.equal(KNOWN[0].line("https://this.site"), "OLLAMA_ORIGINS=https://this.site ollama serve");
});

test("what llama.cpp throws is what a call fails with; a piece that is no text is lost alone", async () => {
    const log = new NativeLog();
    const throws = (said) => () => {
        log.logger.error(said);
        log.logger.error(new RangeError("Invalid typed array length: 1163217991"));
        log.logger.error("Stack trace (exception):\n");
        throw new Error("Invalid typed array length: 1163217991");
    };
    const acts = [
        () => "a piece",
        throws("[json.exception.type_error.316] invalid UTF-8 byte at index 0: 0xC0\n"),
        throws("failed to decode\n"),
        () => {
            throw new Error("not of llama.cpp");
        },
    ];
    const model = { proxy: { wllamaAction: async () => acts.shift()() } };
    mend(model, log);
    const { proxy } = model;
    assert.equal(await proxy.wllamaAction("get_result"), "a piece");
    const { success, has_more: more, data_json: json } = await proxy.wllamaAction("get_result");
    assert.deepEqual([success, more, JSON.parse(json).choices[0].delta.content], [true, true, "\ufffd"]);
    await assert.rejects(proxy.wllamaAction("get_result"), /^Error: failed to decode$/);
    await assert.rejects(proxy.wllamaAction("completion"), /not of llama\.cpp/, "what was said before is not said again");
});

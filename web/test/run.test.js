// What changes while a method runs, while questions are asked, while models come and go: states without a page.

import assert from "node:assert/strict";
import { test } from "./fixtures.js";
import { unit } from "./harness.js";

const { FRESH, reduceRun, nextCall, sentCall } = await unit("play/run.ts");
const { NOTHING, reduceAsk, isChanged, groupOf, secondsAQuestion } = await unit("play/asked.ts");
const { INITIAL, reduceModel } = await unit("model/state.ts");
const { Clock, written, read } = await unit("model/timing.ts");

const call = (id) => ({ id, stage: "question", prompt: "p", messages: [], tokens: 5, want: { kind: "query" }, passages: [] });
const after = (reduce, state, ...actions) => actions.reduce(reduce, state);

test("a call that could not be sent waits again, keeps its reason, and ends playing", () => {
    const sent = after(
        reduceRun,
        FRESH,
        { kind: "playing", playing: true },
        { kind: "called", call: call(0) },
        { kind: "sent", call: 0, by: "a/b" },
        { kind: "came", call: 0, text: "So", pace: { seconds: 1, toFirst: 1, pieces: 1 } },
    );
    assert.equal(nextCall(sent), undefined);
    assert.equal(sentCall(sent).text, "So");
    const failed = reduceRun(sent, { kind: "failed", call: 0, message: "no connection" });
    assert.deepEqual([nextCall(failed).failure, failed.playing, failed.phase], ["no connection", false, "running"]);
    const again = reduceRun(failed, { kind: "sent", call: 0, by: "c/d" });
    assert.deepEqual([sentCall(again).failure, sentCall(again).text, sentCall(again).by], [undefined, "", "c/d"]);
    const over = reduceRun(again, { kind: "over", phase: "stopped" });
    assert.equal(reduceRun(over, { kind: "playing", playing: true }).playing, false, "what is over does not play");
});

test("a question is done when both orders are, and says whether its answer changed", () => {
    const record = (answer, choice) => ({ outcome: "answered", answer, choice, scores: {} });
    const one = after(
        reduceAsk,
        NOTHING,
        { kind: "begun", items: [{ id: "q" }] },
        { kind: "answer", question: 0, order: "vanilla-rag", answer: { state: "done", record: record("Two"), pace: { seconds: 2 } } },
    );
    assert.equal(isChanged(one.questions[0]), undefined);
    assert.equal(secondsAQuestion(one), undefined);
    const both = reduceAsk(one, { kind: "answer", question: 0, order: "dos-rag", answer: { state: "done", record: record("Three"), pace: { seconds: 4 } } });
    assert.equal(isChanged(both.questions[0]), true);
    assert.equal(secondsAQuestion(both), 6);
    assert.equal(reduceAsk(both, { kind: "more", items: [{ id: "r" }] }).questions.length, 2);
    assert.deepEqual([["accuracy", 1, 1], ["accuracy", 0, 1], ["f1", 0.5, 0.2], ["f1", 0, 0], null].map(groupOf), [
        "both",
        "book",
        "score",
        "neither",
        undefined,
    ]);
});

test("weights that are deleted are no longer chosen; a download that ends leaves no trace", () => {
    const chosen = after(reduceModel, INITIAL, { kind: "stored", stored: [{ id: "a", bytes: 1 }] }, { kind: "chose", choice: { source: "page", id: "a" } });
    assert.deepEqual(reduceModel(chosen, { kind: "stored", stored: [] }).choice, { source: "words" });
    const coming = reduceModel(chosen, { kind: "progress", id: "b", progress: { bytes: 1, of: 2, bytesPerSecond: 1 } });
    assert.deepEqual(reduceModel(coming, { kind: "progress", id: "b", progress: undefined }).fetching, {});
});

test("tokens a second leave the reading of the prompt out", () => {
    let now = 0;
    const clock = new Clock(() => now);
    now = 4000;
    clock.piece();
    now = 6000;
    clock.piece();
    clock.stop();
    now = 9000;
    assert.deepEqual(clock.pace, { seconds: 6, toFirst: 4, pieces: 2 });
    assert.equal(written(clock.pace, 20), 10);
    assert.equal(written(clock.pace), 1);
    assert.equal(read(clock.pace, 400), 100);
    assert.equal(written({ seconds: 0.01, toFirst: 0.01, pieces: 1 }), undefined, "too short to say");
});

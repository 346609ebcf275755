// What changes in the page without a page: addresses, and the state that the views share.

import assert from "node:assert/strict";
import { test } from "node:test";
import { unit } from "./harness.js";

const { parseAddress, addressHash, inView } = await unit("state/address.ts");
const { initialApp, reduceApp } = await unit("state/app.ts");
const { Store } = await unit("state/store.ts");

test("an address is read as it was written", () => {
    const addresses = [
        { view: "find", path: [], query: { b: "the-loan-of-the-bell", q: "Who? & why = 7%", k: "1500" } },
        { view: "runs", path: ["a run/of mine", "trials", "en-001", "dos-rag at 1500"], query: { f: "wrong" } },
        { view: "find", path: [], query: { q: "赊渡簿里写着什么？" } },
        { view: "essay", path: ["order"], query: {} },
        { view: "essay", path: [], query: { b: "shedu-bu" } },
    ];
    for (const address of addresses) assert.deepEqual(parseAddress(addressHash(address)), address);
});

test("an address that is none is the essay, and half an escape is taken as it stands", () => {
    for (const hash of ["", "#", "#/", "#/lab", "#/nowhere/else"]) assert.deepEqual(parseAddress(hash), { view: "essay", path: [], query: {} });
    assert.deepEqual(parseAddress("#/runs/100%/trials").path, ["100%", "trials"]);
    assert.equal(addressHash({ view: "essay" }), "#/");
    assert.equal(addressHash({ view: "find", query: { q: "", k: "100" } }), "#/find?k=100", "what is empty is left out");
});

test("another verb is about the same book and question, a run is not", () => {
    const address = parseAddress("#/find?b=x&q=who&k=1500&show=curve");
    assert.equal(inView(address, "ask"), "#/ask?b=x&q=who&k=1500");
    assert.equal(inView(address, "runs"), "#/runs");
});

const start = initialApp(parseAddress("#/find"), "en");
const book = { key: "abc", name: "a.txt", title: "a", bytes: new Uint8Array(), facts: {}, work: undefined };

test("another book has no question yet; one that cannot be read leaves the one before it", () => {
    const asked = [
        { kind: "opening", name: "a.txt" }, { kind: "opened", book }, { kind: "asked", question: { text: "Who?", item: undefined } },
    ].reduce(reduceApp, start);
    assert.deepEqual([asked.book, asked.opening, asked.question.text], [book, undefined, "Who?"]);
    const failed = [{ kind: "opening", name: "b.png" }, { kind: "kept" }, { kind: "failed", problem: "no text" }].reduce(reduceApp, asked);
    assert.deepEqual([failed.book, failed.opening, failed.question.text, failed.problem], [book, undefined, "Who?", "no text"]);
    const other = reduceApp(failed, { kind: "opened", book: { ...book, key: "def" } });
    assert.deepEqual([other.book.key, other.question.text], ["def", ""]);
});

test("opening a book takes the last complaint away", () => {
    const failed = reduceApp(start, { kind: "failed", problem: "no text" });
    assert.equal(reduceApp(failed, { kind: "opening", name: "a.txt" }).problem, "");
});

test("a store tells of changes alone", () => {
    const store = new Store(reduceApp, start);
    let told = 0;
    const end = store.subscribe(() => told++);
    store.dispatch({ kind: "said", status: "reading" });
    store.dispatch({ kind: "said", status: "reading" });
    assert.equal(told, 1);
    end();
    store.dispatch({ kind: "said", status: "read" });
    assert.deepEqual([told, store.state.status], [1, "read"]);
});

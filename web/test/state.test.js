// What changes in the page without a page: addresses, and the state that the views share.

import assert from "node:assert/strict";
import { test } from "./fixtures.js";
import { unit } from "./harness.js";

const { parseAddress, addressHash, inView } = await unit("state/address.ts");
const { initialApp, reduceApp } = await unit("state/app.ts");
const { Store } = await unit("state/store.ts");

const { settingsOf, queryOf, stopsOf, stopAt, metInOrder } = await unit("state/find.ts");
const { runsAddress, runsTo, filterOf, firstPair, comparing } = await unit("state/runs.ts");
const { csv } = await unit("parts/export.ts");
const { percent } = await unit("percent.ts");

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
        { kind: "opening", name: "a.txt" },
        { kind: "opened", book },
        { kind: "asked", question: { text: "Who?", item: undefined } },
    ].reduce(reduceApp, start);
    assert.deepEqual([asked.book, asked.opening, asked.question.text], [book, undefined, "Who?"]);
    const failed = [{ kind: "opening", name: "b.png" }, { kind: "kept" }, { kind: "failed", problem: "no text" }].reduce(reduceApp, asked);
    assert.deepEqual([failed.book, failed.opening, failed.question.text, failed.problem], [book, undefined, "Who?", "no text"]);
    const other = reduceApp(failed, { kind: "opened", book: { ...book, key: "def" } });
    assert.deepEqual([other.book.key, other.question.text], ["def", ""]);
});

test("opening a book takes the last complaint away", () => {
    const unkept = reduceApp(start, { kind: "unkept", key: "a1" });
    assert.equal(reduceApp(unkept, { kind: "failed", problem: "" }).unkept, "a1", "it stays for as long as the book is open");
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

test("settings are read as they were written, and what is none is the default", () => {
    const settings = { budget: 3000, retriever: "hybrid", order: "book", neighbours: 2 };
    assert.deepEqual(settingsOf(queryOf(settings)), settings);
    assert.deepEqual(queryOf({ budget: 1500, retriever: "bm25", order: "score", neighbours: 0 }), { k: "", r: "", o: "", n: "" });
    const defaults = settingsOf({});
    for (const query of [{ k: "-5" }, { k: "many" }, { k: "1.5" }, { r: "magic" }, { o: "up" }, { n: "9" }])
        assert.deepEqual(settingsOf(query), defaults, JSON.stringify(query));
});

test("the slider stops from 100 tokens to the whole book", () => {
    assert.deepEqual(stopsOf(50), [100]);
    assert.deepEqual(stopsOf(450), [100, 150, 200, 300, 400, 450]);
    const stops = stopsOf(300_000);
    assert.deepEqual([stops[0], stops.at(-1)], [100, 300_000]);
    assert.deepEqual(
        [stopAt(stops, 1500), stopAt(stops, 1501), stopAt(stops, 1e9)].map((at) => stops[at]),
        [1500, 2000, 300_000],
    );
});

test("evidence is met in the order of the passages that hold it, each piece once", () => {
    const evidence = [
        { start: 10, end: 20 },
        { start: 50, end: 60 },
        { start: 90, end: 95 },
    ];
    const rows = [
        { start: 40, end: 70 },
        { start: 55, end: 58 },
        { start: 0, end: 15 },
        { start: 60, end: 90 },
    ];
    assert.deepEqual(metInOrder(rows, evidence), [2, 1], "spans that only touch hold nothing");
});

test("a trial and its filter have an address", () => {
    const at = {
        run: "my run",
        at: "https://host/runs/my run",
        part: "trials",
        trial: { item: "en-001", cell: "dos-rag at 1,500", repeat: 1 },
        filter: { verdict: "wrong", sort: "lowest", cell: 2, outcome: "answered", text: "a b" },
    };
    assert.deepEqual(runsAddress(parseAddress(addressHash(runsTo(at)))), at);
    assert.equal(addressHash(runsTo({ ...at, at: "", part: "report" })), "#/runs/my%20run", "a report has no filter");
    assert.deepEqual(runsAddress(parseAddress("#/runs/a/nonsense?f=maybe&s=up&c=x")), { run: "a", at: "", part: "report", trial: undefined, filter: {} });
});

test("a filter names a cell and an outcome that the run has, or none", () => {
    for (const query of ["c=-1", "c=0.5", "c=1e99"]) assert.deepEqual(runsAddress(parseAddress(`#/runs/a/trials?${query}`)).filter, {}, query);
    for (const query of ["i=-1", "i=0.5"]) assert.equal(runsAddress(parseAddress(`#/runs/a/trials/x/y?${query}`)).trial.repeat, 0, query);
    const facts = { cells: ["a", "b"], outcomes: ["answered"] };
    assert.deepEqual(filterOf({ cell: 1, outcome: "answered", text: "x" }, facts), { cell: 1, outcome: "answered", text: "x" });
    assert.deepEqual(filterOf({ cell: 2, outcome: "nonsense", text: "x" }, facts), { text: "x" });
});

test("a comparison starts with the two orders at one budget, and names what differs", () => {
    const arm = (method, budget, model = "m") => ({ method, budget, model });
    const arms = [arm("closed-book", null), arm("vanilla-rag", 500), arm("dos-rag", 500), arm("vanilla-rag", 900), arm("dos-rag", 900)];
    assert.deepEqual(firstPair(arms), [3, 4]);
    assert.deepEqual(firstPair([arm("raptor", 500), arm("read-agent", null), arm("naive-rag", 500)]), [0, 2]);
    assert.deepEqual(firstPair([arm("raptor", 500)]), [0, 0]);
    assert.deepEqual(comparing(arms[3], arms[4]), { method: ["vanilla-rag", "dos-rag"], model: ["m"], budget: [900] });
    assert.deepEqual(comparing(undefined, undefined), { method: [], model: [], budget: [] });
});

test("CSV quotes what would break a row", () => {
    assert.equal(
        csv([
            ["a", 1],
            ['say "x", then\ny', ""],
        ]),
        'a,1\r\n"say ""x"", then\ny",\r\n',
    );
});

test("CSV holds no name that a spreadsheet would run, and leaves numbers alone", () => {
    const run = ['=HYPERLINK("http://x")', "+1-800", "@SUM(A1)", "-cmd|' /C calc'!A0", "\tx"];
    const kept = ["a=b", -0.5, "-0.6 [-1.2, +0.3]*", "+2.0", ""];
    assert.equal(csv([run]), `"'=HYPERLINK(""http://x"")",+1-800,'@SUM(A1),'-cmd|' /C calc'!A0,'\tx\r\n`);
    assert.equal(csv([kept]), 'a=b,-0.5,"-0.6 [-1.2, +0.3]*",+2.0,\r\n');
});

test("a share in percent is the command line's, also between two digits", () => {
    const shares = [0.5625, 0.8125, 0.0175, -0.5625, 1 / 3, 0.97, 0, 1];
    assert.deepEqual(shares.map(percent), ["56.2", "81.2", "1.8", "-56.2", "33.3", "97.0", "0.0", "100.0"]);
});

// Modules whose load breaks off.

import assert from "node:assert/strict";
import { test } from "node:test";
import { unit } from "./harness.js";

const { startedOnce } = await unit("module.ts");

const FILE = new URL("data:application/wasm,");

/** A module that starts as the outcomes say, one a try, and how each try was fed. */
function module(...outcomes) {
    const tries = [];
    const ready = startedOnce(async (from) => {
        tries.push(from === undefined ? "as usual" : "past the cache");
        await from?.module_or_path;
        const outcome = outcomes.shift();
        if (outcome instanceof Error) throw outcome;
        return outcome;
    }, FILE);
    return { ready, tries };
}

test("a module starts once", async () => {
    const { ready, tries } = module("started");
    assert.deepEqual(await Promise.all([ready(), ready()]), ["started", "started"]);
    assert.deepEqual(tries, ["as usual"]);
});

test("a load that broke off is tried again past the cache", async () => {
    const { ready, tries } = module(new Error("aborted"), "started");
    assert.equal(await ready(), "started");
    assert.deepEqual(tries, ["as usual", "past the cache"]);
});

test("a module that did not start is tried when it is next needed", async () => {
    const { ready, tries } = module(new Error("aborted"), new Error("gone"), "started");
    await assert.rejects(ready(), /gone/);
    assert.equal(await ready(), "started");
    assert.deepEqual(tries, ["as usual", "past the cache", "as usual"]);
});

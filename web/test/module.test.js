// Modules whose load breaks off, and which of them need which.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { test } from "./fixtures.js";
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

test("no folder of the page needs one that needs it", async () => {
    const web = fileURLToPath(new URL("..", import.meta.url));
    const { metafile } = await build({
        absWorkingDir: web,
        entryPoints: ["src/app.tsx"],
        bundle: true,
        write: false,
        metafile: true,
        splitting: true,
        format: "esm",
        outdir: "out",
        jsx: "automatic",
        jsxImportSource: "preact",
        // What bindgen writes may not be there yet.
        plugins: [{ name: "bindgen", setup: ({ onResolve }) => onResolve({ filter: /\/closeread_\w+\.js$/ }, ({ path }) => ({ path, external: true })) }],
    });
    const folder = (path) => /^src\/(\w+)\//.exec(path)?.[1];
    const needs = new Map();
    for (const [path, { imports }] of Object.entries(metafile.inputs)) {
        for (const { path: needed } of imports) {
            const [from, to] = [folder(path), folder(needed)];
            if (from && to && from !== to) needs.set(from, (needs.get(from) ?? new Set()).add(to));
        }
    }
    assert.ok(needs.size > 5, "folders are found");
    const circles = [];
    const follow = (name, way) => {
        if (way.includes(name)) return circles.push([...way.slice(way.indexOf(name)), name].join(" > "));
        for (const next of needs.get(name) ?? []) follow(next, [...way, name]);
    };
    for (const name of needs.keys()) follow(name, []);
    assert.deepEqual([...new Set(circles)], []);
});

// The worker's side of the view "runs": the runs that are open, each under a number.

import * as whole from "../closeread_wasm.js";
import type { NamedFile } from "../closeread_wasm.js";
import { need } from "./assets.js";
import type { Handlers } from "./handlers.js";

const open = new Map<number, whole.OpenRun>();
let opened = 0;

function held(id: number): whole.OpenRun {
    const run = open.get(id);
    if (run === undefined) throw new Error("this run is no longer open: open its folder again");
    return run;
}

export const runs = {
    "runs/open": async ({ name, files }) => {
        // What books are counted and cut by.
        const texts = files.some(({ name }) => name.startsWith("texts/"));
        if (texts) await need(whole, "cl100k", "punkt-en", ...(isByO200k(files) ? ["o200k" as const] : []));
        const run = new whole.OpenRun(name, files);
        const id = ++opened;
        open.set(id, run);
        return { id, facts: run.facts() };
    },
    "runs/close": ({ id }) => {
        held(id).free();
        open.delete(id);
    },
    "runs/report": ({ id }) => ({ report: held(id).shownReport(), style: whole.chartStyle() }),
    "runs/json": ({ id }) => held(id).reportJson(),
    "runs/select": ({ id, filter }, { transfer }) => {
        const numbers = held(id).select(filter);
        transfer.push(numbers.buffer);
        return numbers;
    },
    "runs/lines": ({ id, numbers }) => held(id).lines(numbers),
    "runs/trace": ({ id, number }) => ({ trace: held(id).trace(number), passages: held(id).passages(number) }),
    "runs/sent": ({ id, number }) => held(id).sent(number),
    "runs/compare": ({ a, b, options }) => whole.shownComparison(held(a), held(b), options),
} satisfies Handlers;

function isByO200k(files: NamedFile[]): boolean {
    const manifest = files.find(({ name }) => name === "manifest.json");
    return manifest !== undefined && /"tokenizer":\s*"o200k"/.test(new TextDecoder().decode(manifest.content as Uint8Array));
}

// The scorer in the page: WebAssembly and the files METEOR needs, each fetched when first needed.

import init, { scoreFormatJson, scoreJson } from "./closeread_scorer.js";
import type { Assets, Metric, NamedFile, Scorecard, ScoreOptions } from "./closeread_scorer.js";
import { startedOnce } from "../module.js";
import { fetched, isOnDisk, ofScript } from "./files.js";
import type { Words } from "./words.js";

const WASM = new URL("closeread_scorer_bg.wasm", import.meta.url);
let ofDisk: Promise<unknown> | undefined;
const ready = isOnDisk(WASM) ? () => (ofDisk ??= ofScript(WASM.href).then((bytes) => init({ module_or_path: bytes }))) : startedOnce(init, WASM);
let assets: Promise<Assets> | undefined;

/** What a page says of how predictions are scored, by the names of the command line's options. */
export interface Scoring {
    metrics?: Metric[];
    by?: string[];
    chinese?: "reference" | "characters";
    format?: string;
    task?: string;
    system?: string;
}

/** The attributes `metrics`, `by`, `chinese`, `format`, `task` and `system` of an element. */
export function scoringOf(host: Element): Scoring {
    const one = (name: string) => host.getAttribute(name)?.trim() || undefined;
    const list = (name: string) =>
        one(name)
            ?.split(",")
            .map((value) => value.trim());
    const scoring: Record<string, unknown> = {
        metrics: list("metrics"),
        by: list("by"),
        chinese: one("chinese"),
        format: one("format"),
        task: one("task"),
        system: one("system"),
    };
    return Object.fromEntries(Object.entries(scoring).filter(([, value]) => value !== undefined));
}

/** The bytes that `closeread score --json` prints for the same files. */
export async function score(gold: NamedFile | undefined, predictions: NamedFile, { format, ...options }: Scoring, words: Words): Promise<string> {
    await ready();
    const wanted: ScoreOptions = options;
    const run = (assets?: Assets) =>
        format === undefined
            ? scoreJson(required(gold, words), predictions, wanted, assets)
            : scoreFormatJson(format, [predictions], gold === undefined ? [] : [gold], wanted, assets);
    if (!wanted.metrics?.includes("meteor")) return run();
    assets ??= Promise.all(
        ["wordnet-3.0.bin", "punkt-en.txt"].map(async (name) => (await fetched(new URL(name, import.meta.url).href, words)).content as Uint8Array),
    ).then(([wordnet, punkt]) => ({ wordnet, punkt }) as Assets);
    return run(
        await assets.catch((error: unknown) => {
            // They are fetched anew for the next file.
            assets = undefined;
            throw error;
        }),
    );
}

function required(gold: NamedFile | undefined, words: Words): NamedFile {
    if (gold === undefined) throw new Error(words.noGold);
    return gold;
}

export const LEDGER = [
    "answered",
    "not_found",
    "unanswered",
    "unparsed",
    "overflow",
    "cut_short",
    "blocked",
    "failed",
    "missing",
    "no_gold",
    "not_asked",
] as const;

/** The main metric first, the others in the scorecard's order. */
export function metricNames({ metrics, main }: Pick<Scorecard, "metrics" | "main">): string[] {
    return Object.keys(metrics).sort((a, b) => Number(b === main) - Number(a === main));
}

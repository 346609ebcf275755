// What of a run is shown, as the address has it: `#/runs/NAME/trials/ITEM/CELL?f=wrong`.

import type { TrialFilter } from "../closeread_wasm.js";
import { whole, type Address } from "./address.js";

export const PARTS = ["report", "trials", "compare"] as const;
export type Part = (typeof PARTS)[number];

export interface RunsAddress {
    /** Name of the run; empty where none is chosen. */
    run: string;
    /** The folder on another server that it is fetched from; empty where it is from elsewhere. */
    at: string;
    part: Part;
    /** The trial that is open. */
    trial: { item: string; cell: string; repeat: number } | undefined;
    filter: TrialFilter;
}

const VERDICTS = ["right", "wrong", "differ"] as const;
const SORTS = ["item", "cell", "lowest", "highest"] as const;

export function runsAddress({ path, query }: Address): RunsAddress {
    const [run = "", part, item, cell] = path;
    const verdict = VERDICTS.find((one) => one === query.f);
    const sort = SORTS.find((one) => one === query.s);
    const number = whole(query.c, 0, 2 ** 32 - 1, undefined);
    return {
        run,
        at: query.at ?? "",
        part: PARTS.find((one) => one === part) ?? "report",
        trial: part === "trials" && item !== undefined && cell !== undefined ? { item, cell, repeat: whole(query.i, 0, 2 ** 32 - 1, 0) } : undefined,
        filter: {
            ...(verdict ? { verdict } : {}),
            ...(sort ? { sort } : {}),
            ...(query.e ? { outcome: query.e } : {}),
            ...(number === undefined ? {} : { cell: number }),
            ...(query.t ? { text: query.t } : {}),
        },
    };
}

/** A filter without the cell and the outcome that a run lacks: nothing could be chosen in their place. */
export function filterOf({ cell, outcome, ...rest }: TrialFilter, facts: { cells: readonly string[]; outcomes: readonly string[] }): TrialFilter {
    return {
        ...rest,
        ...(cell !== undefined && cell < facts.cells.length ? { cell } : {}),
        ...(outcome !== undefined && facts.outcomes.includes(outcome) ? { outcome } : {}),
    };
}

/** The address of a part, or of a trial with its filter. */
export function runsTo({ run, at, part, trial, filter }: RunsAddress): Address {
    const shown = part === "trials" ? filter : {};
    return {
        view: "runs",
        path: run === "" ? [] : [run, ...(part === "report" ? [] : [part]), ...(part === "trials" && trial ? [trial.item, trial.cell] : [])],
        query: {
            at,
            f: shown.verdict ?? "",
            s: shown.sort ?? "",
            e: shown.outcome ?? "",
            c: shown.cell === undefined ? "" : String(shown.cell),
            t: shown.text ?? "",
            i: part === "trials" && trial && trial.repeat > 0 ? String(trial.repeat) : "",
        },
    };
}

/** A cell of one of the open runs: what a comparison chooses from. */
export interface Side {
    run: number;
    /** Number of the cell; -1 for all of them. */
    cell: number;
}

interface Arm {
    method: string;
    model: string;
    budget: number | null;
}

/** Two cells that say something of each other: the two orders at one budget, else the first two that differ in one thing. */
export function firstPair(arms: readonly Arm[]): [number, number] {
    const pairs = arms.flatMap((a, n) => arms.map((b, m) => [n, m, a, b] as const).filter(([n, m]) => n < m));
    const orders = pairs.filter(([, , a, b]) => a.method === "vanilla-rag" && b.method === "dos-rag" && a.budget === b.budget && a.model === b.model);
    const [n, m] = orders.at(-1) ?? pairs.find(([, , a, b]) => a.budget === b.budget) ?? pairs[0] ?? [0, 0];
    return [n, m];
}

/** What names two cells to the core: a value where they agree, both where they do not. */
export function comparing(a: Arm | undefined, b: Arm | undefined): { method: string[]; model: string[]; budget: number[] } {
    const two = <T>(one: T | null | undefined, other: T | null | undefined): T[] => {
        const known = [one, other].filter((value) => value !== null && value !== undefined) as T[];
        return known.length === 2 && known[0] === known[1] ? known.slice(1) : known;
    };
    return { method: two(a?.method, b?.method), model: two(a?.model, b?.model), budget: two(a?.budget, b?.budget) };
}

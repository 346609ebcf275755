// What is searched for and how, as the address has it, and what came of it.

import type { Stand } from "../parts/Ribbon.js";
import type { Order, Row } from "../parts/Stage.js";
import type { Retriever } from "../messages/lab.js";
import { whole } from "./address.js";

export interface Settings {
    /** Tokens. */
    budget: number;
    retriever: Retriever;
    order: Order;
    /** Passages on each side of a match. */
    neighbours: number;
}

/** The paper's, and at 1,500 tokens its smallest budget. */
export const DEFAULTS: Settings = { budget: 1500, retriever: "bm25", order: "score", neighbours: 0 };

const RETRIEVERS: readonly string[] = ["bm25", "dense", "hybrid"];

/** The settings of an address; what it lacks, or has and is none, is the default. */
export function settingsOf(query: Readonly<Record<string, string>>): Settings {
    return {
        budget: whole(query.k, 1, 1e9, DEFAULTS.budget),
        retriever: RETRIEVERS.includes(query.r ?? "") ? (query.r as Retriever) : DEFAULTS.retriever,
        order: query.o === "book" ? "book" : "score",
        neighbours: whole(query.n, 0, 3, DEFAULTS.neighbours),
    };
}

/** Settings as an address has them: the defaults are left out. */
export function queryOf(settings: Partial<Settings>): Record<string, string> {
    const keys = { budget: "k", retriever: "r", order: "o", neighbours: "n" } as const;
    return Object.fromEntries(
        Object.entries(settings).map(([name, value]) => {
            const setting = name as keyof Settings;
            return [keys[setting], value === DEFAULTS[setting] ? "" : String(value)];
        }),
    );
}

const STEPS = [1, 1.5, 2, 3, 4, 5, 7.5];

/** Budgets that the slider stops at, from 100 tokens to the whole book. */
export function stopsOf(nTokens: number): number[] {
    const all: number[] = [];
    for (let power = 100; power < nTokens; power *= 10) all.push(...STEPS.map((step) => step * power));
    return [...all.filter((budget) => budget < nTokens), Math.max(nTokens, 100)];
}

/** The stop that a budget stands at: the first that is as large, else the last. */
export function stopAt(stops: readonly number[], budget: number): number {
    const at = stops.findIndex((stop) => stop >= budget);
    return at < 0 ? stops.length - 1 : at;
}

/** What a budget has found. */
export interface Shown {
    byScore: readonly Row[];
    byBook: readonly Row[];
    /** Of all passages that fit, also those that are not listed. */
    n: number;
    nMatched: number;
    tokens: number;
    recall: number | null;
    spans: readonly Stand[];
}

/** Whether no passage has anything of the question: what fits the budget then fits by chance. */
export const isNothing = ({ n, nMatched }: Shown): boolean => n > 0 && nMatched === 0;

/** The numbers, from 1, of the pieces of evidence in the order in which a reader of `rows` meets them. */
export function metInOrder(rows: readonly Stand[], evidence: readonly Stand[]): number[] {
    const met = new Set<number>();
    for (const row of rows) evidence.forEach((span, n) => span.start < row.end && row.start < span.end && met.add(n + 1));
    return [...met];
}

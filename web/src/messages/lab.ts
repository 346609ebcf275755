// What the retrieval lab asks of the worker.

import type { Evidence, FoundEvidence, ModelFacts, RankingScores, RecallAt, Retrieved, ToEmbed } from "../closeread_books.js";

export type Retriever = "bm25" | "dense" | "hybrid";

/** What is asked, whatever the budget. */
export interface Asking {
    question: string;
    retriever: Retriever;
    neighbours: number;
}

/** The same passages in two orders, the first of them listed. */
export interface Retrieval {
    byScore: Retrieved;
    byDocument: Retrieved;
    /** Texts of the listed passages, by their numbers. */
    texts: Map<number, string>;
}

/** A stretch of the book's text. */
export interface Stretch {
    text: string;
    passage: boolean;
    evidence: boolean;
}

export interface LabMessages {
    "lab/retrieve": { request: Asking & { budget: number; shown: number }; reply: Retrieval };
    /** Where the gold evidence stands; recalls are about it from then on. */
    "lab/evidence": { request: { evidence: Evidence[] }; reply: FoundEvidence };
    "lab/curve": { request: Asking & { budgets: number[] }; reply: RecallAt[] };
    /** What the ranking is worth by the evidence, at ranks `ks` and within the budget; `null` where none is known. */
    "lab/scores": { request: Asking & { budget: number; ks: number[] }; reply: RankingScores | null };
    /** The passage at a byte. */
    "lab/at": { request: { byte: number }; reply: { index: number; start: number; end: number } };
    /** The file around bytes `start` to `end`. */
    "lab/read": { request: { start: number; end: number; margin: number }; reply: { from: number; stretches: Stretch[] } };
    "lab/model": { request: { toml: string }; reply: ModelFacts };
    /** Vectors of a model will come; those that this browser kept are there at once. */
    "lab/expect": { request: { model: string; dimension: number }; reply: { done: number; total: number } };
    "lab/next": { request: { question: string; n: number }; reply: ToEmbed };
    "lab/vectors": { request: { passages: number[]; values: Float32Array }; reply: { done: number; total: number } };
    "lab/give-back": { request: { passages: number[] }; reply: void };
    "lab/query": { request: { question: string; vector: Float32Array }; reply: void };
    /** Keeps the vectors that have come for later visits; false where the browser does not. */
    "lab/keep": { request: { model: string }; reply: boolean };
}

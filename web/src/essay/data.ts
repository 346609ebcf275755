// What is known of the sample before anything is computed: a file of a few kilobytes that tools/essay.js writes.

import { fetched } from "../sample.js";
import type { Chapter, Stand } from "../parts/Ribbon.js";
import type { Row } from "../parts/Stage.js";
import type { Shown } from "../state/find.js";
import type { Language } from "../words/index.js";
import type { MethodCost } from "./cost.js";

export interface EssayFile {
    book: { id: string; title: string; language: string; nBytes: number; nTokens: number; nPassages: number };
    chapters: Chapter[];
    item: { id: string; question: string; answer: string };
    evidence: Stand[];
    /** Passages, best first: number, start, end, score, tokens, text. */
    rows: [number, number, number, number, number, string][];
    /** Their numbers in the book's order. */
    byBook: number[];
    /** Budgets of the slider, and at each: passages, those that match, tokens, recall. */
    stops: number[];
    at: [number, number, number, number][];
    /** Budget, recall and separate places of this question; budget and mean recall of all questions on the book. */
    curve: [number, number, number][];
    mean: [number, number][];
    nQuestions: number;
    methods: MethodCost[];
    /** Passages by meaning, best first: number, start, end, tokens. */
    meaning: [number, number, number, number][];
}

const files = new Map<Language, Promise<EssayFile>>();

export function essayFile(language: Language): Promise<EssayFile> {
    const known = files.get(language) ?? fetched(`essay.${language}.json`).then(async (response) => (await response.json()) as EssayFile);
    files.set(language, known);
    known.catch(() => files.delete(language));
    return known;
}

/** What a budget finds, of what was computed before. */
export function shownAt({ rows, byBook, stops, at }: EssayFile, budget: number): Shown {
    const stop = Math.max(
        0,
        stops.findLastIndex((one) => one <= budget),
    );
    const [n = 0, nMatched = 0, tokens = 0, recall = 0] = at[stop] ?? [];
    const byScore = rows.slice(0, n).map(([index, start, end, score, tokens, text]): Row => ({ index, start, end, score, tokens, text }));
    const found = new Map(byScore.map((row) => [row.index, row]));
    return { byScore, byBook: byBook.flatMap((index) => found.get(index) ?? []), n, nMatched, tokens, recall, spans: byScore };
}

// Questions, each answered from the same passages in two orders. Changed by actions alone.

import type { Item, Retrying, TrialRecord, OrderEffect } from "../closeread_wasm.js";
import type { Pace } from "../model/timing.js";

/** By score, as vanilla RAG has them; in the book's order, as DOS RAG does. */
export const ORDERS = ["vanilla-rag", "dos-rag"] as const;
export type Order = (typeof ORDERS)[number];

export interface Answer {
    state: "open" | "asked" | "done" | "failed";
    /** The response as far as it has come. */
    text: string;
    pace: Pace | undefined;
    record: TrialRecord | undefined;
    /** The exact prompt, once it was made. */
    prompt: string;
    /** Who answered. */
    by: string | undefined;
    failure: string | undefined;
    /** Why the call is sent again, while it waits for that. */
    retrying: Retrying | undefined;
}

export interface Asked {
    item: Item;
    answers: Readonly<Record<Order, Answer>>;
}

export interface AskState {
    questions: readonly Asked[];
    phase: "idle" | "running" | "over";
    effect: OrderEffect | undefined;
}

export type AskAction =
    | { kind: "begun"; items: readonly Item[] }
    | { kind: "more"; items: readonly Item[] }
    | { kind: "answer"; question: number; order: Order; answer: Partial<Answer> }
    | { kind: "effect"; effect: OrderEffect }
    | { kind: "phase"; phase: AskState["phase"] };

export const NOTHING: AskState = { questions: [], phase: "idle", effect: undefined };

const OPEN: Answer = { state: "open", text: "", pace: undefined, record: undefined, prompt: "", by: undefined, failure: undefined, retrying: undefined };

export function reduceAsk(state: AskState, action: AskAction): AskState {
    switch (action.kind) {
        case "begun":
            return { questions: action.items.map(opened), phase: "running", effect: undefined };
        case "more":
            return { ...state, questions: [...state.questions, ...action.items.map(opened)], phase: "running" };
        case "answer": {
            const { question, order, answer } = action;
            const change = (asked: Asked): Asked => ({ ...asked, answers: { ...asked.answers, [order]: { ...asked.answers[order], ...answer } } });
            return { ...state, questions: state.questions.map((asked, n) => (n === question ? change(asked) : asked)) };
        }
        case "effect":
            return { ...state, effect: action.effect };
        case "phase":
            return { ...state, phase: action.phase };
    }
}

function opened(item: Item): Asked {
    return { item, answers: { "vanilla-rag": OPEN, "dos-rag": OPEN } };
}

export function isDone({ answers }: Asked): boolean {
    return ORDERS.every((order) => answers[order].state === "done");
}

/** What was answered: the option or the words; how it ended, where there is no answer. */
export function answered({ record }: Answer): string | undefined {
    return record?.outcome === "answered" ? record.answer : record?.outcome;
}

/** Whether the order changed the answer; nothing is known before there are two. */
export function isChanged(asked: Asked): boolean | undefined {
    if (!isDone(asked)) return undefined;
    const [a, b] = ORDERS.map((order) => answered(asked.answers[order]));
    return a !== b;
}

/** Where each question that has scores falls: right in both orders, in one, in none. */
export type Group = "both" | "book" | "score" | "neither";

export function groupOf(scored: OrderEffect["scored"][number]): Group | undefined {
    if (scored == null) return undefined;
    const [, byScore, byBook] = scored;
    if (byScore === byBook) return byScore > 0 ? "both" : "neither";
    return byBook > byScore ? "book" : "score";
}

/** Seconds that a question took, both orders together, on average. */
export function secondsAQuestion({ questions }: AskState): number | undefined {
    const times = questions.filter(isDone).map(({ answers }) => ORDERS.reduce((sum, order) => sum + (answers[order].pace?.seconds ?? 0), 0));
    return times.length === 0 ? undefined : times.reduce((sum, time) => sum + time, 0) / times.length;
}

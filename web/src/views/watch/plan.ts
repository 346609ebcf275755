// What is to be run: method, parameters, question, part of the book.

import type { Item, MethodOffer, MethodOptions } from "../../closeread_wasm.js";
import type { BookFacts } from "../../messages/watch.js";
import type { Plan } from "../../play/player.js";
import type { OpenBook, Question } from "../../state/app.js";

export const TASKS = ["generative", "choice", "summary"] as const;
export type Task = (typeof TASKS)[number];
export const METHOD = "agentic-rag";

/** What the form holds besides what stands in the address. */
export interface SetupState {
    retriever: "bm25" | "dense" | "hybrid";
    /** By method, what was changed, as typed. */
    parameters: Readonly<Record<string, Readonly<Record<string, string>>>>;
    task: Task;
    /** Options of an own choice, one a line. */
    options: string;
    /** The chapter that is read in the book's place, from 0; -1: the whole book. */
    part: number;
}

export const FRESH: SetupState = { retriever: "bm25", parameters: {}, task: "generative", options: "", part: -1 };

/** The open book as a method is told of it. */
export function factsOf({ work, facts, chapters }: OpenBook, part = -1): BookFacts {
    const chapter = chapters[part];
    const named =
        work === undefined ? { id: "book", title: facts.title, language: facts.language } : { id: work.id, title: work.title, language: work.language };
    return chapter === undefined ? named : { ...named, part: { start: chapter.start, end: chapter.end } };
}

/** The items of the sample about this book. */
export function itemsAbout(items: Item[], book: OpenBook): Item[] {
    return items.filter(({ documents }) => documents.length === 1 && documents[0] === factsOf(book).id);
}

/** What is asked: the chosen item, or the reader's own words; nothing where there are none. */
export function itemOf(question: Question, setup: SetupState, book: OpenBook): Item | undefined {
    if (question.item !== undefined) return question.item as Item;
    const text = question.text.trim();
    if (text === "") return undefined;
    const lines = setup.options
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
    return {
        id: "question",
        documents: [factsOf(book).id!],
        question: text,
        task: setup.task,
        ...(setup.task === "choice" ? { options: lines } : {}),
    };
}

/** Whether the method takes a budget, and what it costs at one. */
export function costOf({ costs }: MethodOffer, budget: number) {
    const first = costs[0];
    if (first === undefined || first.budget === null) return first;
    return costs.reduce((best, cost) => (Math.abs((cost.budget ?? 0) - budget) < Math.abs((best.budget ?? 0) - budget) ? cost : best), first);
}

export function takesBudget({ costs }: MethodOffer): boolean {
    return costs[0]?.budget != null;
}

/** Calls that a question takes with what is prepared for it. */
export function callsOf(offer: MethodOffer, budget: number): { low: number; high: number } {
    const cost = costOf(offer, budget);
    return cost === undefined
        ? { low: 0, high: 0 }
        : {
              low: cost.preparation.calls.low + cost.question.calls.low,
              high: cost.preparation.calls.high + cost.question.calls.high,
          };
}

/** Tokens of all prompts, at most. */
export function tokensOf(offer: MethodOffer, budget: number): number {
    const cost = costOf(offer, budget);
    return cost === undefined ? 0 : cost.preparation.prompt_tokens.high + cost.question.prompt_tokens.high;
}

/** What was changed, numbers and switches as such; the core says what it does not take. */
export function parametersOf({ name, parameters }: MethodOffer, setup: SetupState): Record<string, unknown> {
    const typed = Object.entries(setup.parameters[name] ?? {}).filter(([, text]) => text.trim() !== "");
    return Object.fromEntries(
        typed.map(([parameter, text]) => {
            if (typeof parameters[parameter] === "string") return [parameter, text.trim()];
            try {
                return [parameter, JSON.parse(text) as unknown];
            } catch {
                return [parameter, text.trim()];
            }
        }),
    );
}

export function planOf(
    offer: MethodOffer,
    book: OpenBook,
    item: Item,
    setup: SetupState,
    budget: number,
    model: { name: string; window?: number | undefined; maxOutputTokens?: number | undefined },
): Plan {
    const options: MethodOptions = {
        method: offer.name,
        parameters: parametersOf(offer, setup),
        model: model.name,
        ...(offer.searches ? { retriever: setup.retriever } : {}),
        ...(takesBudget(offer) ? { budget } : {}),
        ...(model.window ? { window: model.window } : {}),
        ...(model.maxOutputTokens ? { maxOutputTokens: model.maxOutputTokens } : {}),
    };
    return { book: factsOf(book, setup.part), item, options };
}

// The worker's side of the views that run methods: runs whose calls wait for the page.

import { MethodRun, changes, methods, orderEffect, type MethodCall, type ChatReply, type TextChange } from "../closeread_wasm.js";
import type { BookFacts } from "../messages/watch.js";
import { openBook } from "./book.js";
import type { Handlers } from "./handlers.js";

interface Waiting {
    call: MethodCall;
    resolve: (response: ChatReply) => void;
    reject: (error: Error) => void;
}

interface UnderWay {
    run: MethodRun;
    language: string;
    waiting: Map<number, Waiting>;
    embedding: Map<number, { resolve: (vectors: Float32Array[]) => void; reject: (error: Error) => void }>;
}

const runs = new Map<number, UnderWay>();

function underWay(run: number): UnderWay {
    const found = runs.get(run);
    if (found === undefined) throw new Error("this run is over: press Step or Play to begin another");
    return found;
}

function waitingCall(run: number, call: number): { mine: UnderWay; waiting: Waiting } {
    const mine = underWay(run);
    const waiting = mine.waiting.get(call);
    if (waiting === undefined) throw new Error(`call ${call} does not wait for a response`);
    return { mine, waiting };
}

function stopped(): Error {
    return Object.assign(new Error("no longer wanted"), { name: "AbortError" });
}

function giveUp({ waiting, embedding }: UnderWay): void {
    for (const all of [waiting, embedding]) {
        for (const { reject } of all.values()) reject(stopped());
        all.clear();
    }
}

/** The open book as a method takes it, or a part of it. */
function bookOf({ part, ...book }: BookFacts) {
    const { bytes, index } = openBook();
    return { ...book, file: part === undefined ? bytes : index.slice(0, part.start, part.end) };
}

/** How a memory changed; what it was is the first of two passages that a section is read with. */
function memoryChanges({ passages }: MethodCall, text: string, language: string): TextChange[] {
    return changes(passages.length > 1 ? passages[0]! : "", text, language);
}

export const watch = {
    "watch/methods": ({ book }) => methods(bookOf(book)),

    "watch/run": async ({ run: number, book, item, options }, { tell, signal }) => {
        const mine: UnderWay = {
            run: new MethodRun([bookOf(book)], item, options),
            language: book.language ?? "en",
            waiting: new Map(),
            embedding: new Map(),
        };
        let embeddings = 0;
        runs.set(number, mine);
        signal.addEventListener("abort", () => giveUp(mine));
        return mine.run.run({
            chat: (call) =>
                new Promise((resolve, reject) => {
                    if (signal.aborted) return reject(stopped());
                    mine.waiting.set(call.id, { call, resolve, reject });
                    tell({ kind: "call", call });
                }),
            embed: (role, texts) =>
                new Promise((resolve, reject) => {
                    if (signal.aborted) return reject(stopped());
                    const id = embeddings++;
                    mine.embedding.set(id, { resolve, reject });
                    tell({ kind: "embed", id, role, texts });
                }),
            prepared: (preparation) => tell({ kind: "prepared", preparation }),
        });
    },

    "watch/answer": ({ run, call: id, came }) => {
        const {
            mine,
            waiting: { call, resolve, reject },
        } = waitingCall(run, id);
        if ("ended" in came) {
            mine.waiting.delete(id);
            reject(Object.assign(new Error(came.ended.message), came.ended));
            return { parsed: undefined, changes: undefined };
        }
        const parsed = mine.run.parsed(id, came.response.text);
        const told = parsed.said === "memory" ? memoryChanges(call, parsed.text, mine.language) : undefined;
        mine.waiting.delete(id);
        resolve(came.response);
        return { parsed, changes: told };
    },

    "watch/extractive": ({ run, call }) => underWay(run).run.extractive(call),

    "watch/vectors": (answer) => {
        const { embedding } = underWay(answer.run);
        const waiting = embedding.get(answer.id);
        embedding.delete(answer.id);
        if ("vectors" in answer) waiting?.resolve(answer.vectors);
        else waiting?.reject(new Error(answer.failure));
    },

    "watch/slices": ({ run, places }) => {
        const { run: read } = underWay(run);
        return places.map(({ document, start, end }) => read.slice(document, start, end));
    },

    "watch/places": ({ run, call }) => {
        const { run: read } = underWay(run);
        return { passages: read.places(call), evidence: read.evidence() };
    },

    "watch/end": ({ run }) => {
        const mine = runs.get(run);
        if (mine === undefined) return;
        runs.delete(run);
        giveUp(mine);
    },

    "watch/orders": ({ questions }) => orderEffect(questions),
} satisfies Handlers;

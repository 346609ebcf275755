// The worker's side of the view "theatre": one run at a time, whose calls wait for the page.

import {
    ChatModel, MethodRun, changes, methods, type ChatModelOptions, type MethodCall, type MethodResponse, type Retrying,
    type TextChange,
} from "../closeread_wasm.js";
import type { Answering } from "../messages/theatre.js";
import { openBook } from "./book.js";
import type { Handlers } from "./handlers.js";

interface Waiting {
    call: MethodCall;
    resolve: (response: MethodResponse) => void;
    reject: (error: Error) => void;
}

interface UnderWay {
    run: MethodRun;
    language: string;
    waiting: Map<number, Waiting>;
    embedding: Map<number, { resolve: (vectors: Float32Array[]) => void; reject: (error: Error) => void }>;
}

let current: UnderWay | undefined;
/** The last model, which remembers what it refuses. */
let model: { key: string; model: ChatModel } | undefined;

function underWay(): UnderWay {
    if (current === undefined) throw new Error("no method was run: press Step or Play first");
    return current;
}

function stopped(): Error {
    const error = new Error("no longer wanted");
    error.name = "AbortError";
    return error;
}

function giveUp({ waiting, embedding }: UnderWay): void {
    for (const all of [waiting, embedding]) {
        for (const { reject } of all.values()) reject(stopped());
        all.clear();
    }
}

function modelOf(options: ChatModelOptions): ChatModel {
    const key = JSON.stringify(options);
    if (model?.key !== key) model = { key, model: new ChatModel(options) };
    return model.model;
}

async function asked(
    { run }: UnderWay, call: MethodCall, answering: Answering, signal: AbortSignal, tell: (retrying: Retrying) => void,
): Promise<MethodResponse> {
    switch (answering.by) {
        case "extractive": return { text: run.extractive(call.id) };
        case "person": return { text: answering.text };
        case "model": return (await modelOf(answering.model).chat(call, signal, tell)) as MethodResponse;
    }
}

/** How a memory changed; what it was is the first of two passages that a section is read with. */
function memoryChanges({ passages }: MethodCall, text: string, language: string): TextChange[] {
    return changes(passages.length > 1 ? passages[0]! : "", text, language);
}

export const theatre = {
    "theatre/methods": ({ book }) => methods({ ...book, file: openBook().bytes }),

    "theatre/run": async ({ book, item, options }, { tell, signal }) => {
        if (current !== undefined) giveUp(current);
        const { bytes } = openBook();
        const mine: UnderWay = {
            run: new MethodRun([{ ...book, file: bytes }], item, options),
            language: book.language ?? "en",
            waiting: new Map(),
            embedding: new Map(),
        };
        let embeddings = 0;
        current = mine;
        signal.addEventListener("abort", () => giveUp(mine));
        return mine.run.run({
            chat: (call) => new Promise((resolve, reject) => {
                if (signal.aborted || current !== mine) return reject(stopped());
                mine.waiting.set(call.id, { call, resolve, reject });
                tell({ kind: "call", call });
            }),
            embed: (role, texts) => new Promise((resolve, reject) => {
                if (signal.aborted || current !== mine) return reject(stopped());
                const id = embeddings++;
                mine.embedding.set(id, { resolve, reject });
                tell({ kind: "embed", id, role, texts });
            }),
            prepared: (preparation) => tell({ kind: "prepared", preparation }),
        });
    },

    "theatre/answer": async ({ call: id, answering }, { tell, signal }) => {
        const mine = underWay();
        const waiting = mine.waiting.get(id);
        if (waiting === undefined) throw new Error(`call ${id} does not wait for a response`);
        const { call, resolve, reject } = waiting;
        try {
            const response = await asked(mine, call, answering, signal, tell);
            const heard = mine.run.heard(id, response.text);
            const told = heard.said === "memory" ? memoryChanges(call, heard.text, mine.language) : undefined;
            mine.waiting.delete(id);
            resolve(response);
            return { response, heard, changes: told };
        } catch (error) {
            const reason = error instanceof Error ? error : new Error(String(error));
            // What could not even be asked, such as a model without a name, leaves the call as it was.
            if (reason.name === "UsageError" || reason.name === "AbortError") throw reason;
            mine.waiting.delete(id);
            reject(reason);
            return { failure: reason.message };
        }
    },

    "theatre/vectors": (answer) => {
        const { embedding } = underWay();
        const waiting = embedding.get(answer.id);
        embedding.delete(answer.id);
        if ("vectors" in answer) waiting?.resolve(answer.vectors);
        else waiting?.reject(new Error(answer.failure));
    },

    "theatre/slices": (places) => {
        const { run } = underWay();
        return places.map(({ document, start, end }) => run.slice(document, start, end));
    },
} satisfies Handlers;

// What the page and the worker say to each other.

import type { Found } from "./closeread_wasm.js";

export type Request =
    | { kind: "open"; file: Uint8Array }
    | { kind: "search"; question: string; budget: number };

export interface Opened {
    language: string;
    encoding: string;
    nBytes: number;
    nPassages: number;
    nTokens: number;
}

/** The same passages twice. */
export interface Searched {
    byScore: Found;
    byDocument: Found;
}

/** One reply a request, in the order of the requests. */
export type Reply<T> = { ok: true; value: T } | { ok: false; name: string; message: string };

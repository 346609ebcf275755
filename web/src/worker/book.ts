// The open book in the worker.

import { Index } from "../closeread_wasm.js";
import { need } from "./assets.js";
import type { Handlers } from "./handlers.js";

interface Open {
    id: string;
    bytes: Uint8Array;
    index: Index;
}

let open: Open | undefined;

/** The open book, for handlers of views. */
export function openBook(): Open {
    if (open === undefined) throw new Error("no book is open: choose a file first");
    return open;
}

export const book = {
    "book/prepare": () => need("cl100k", "punkt-en"),
    "book/open": async ({ id, bytes }) => {
        await need("cl100k", "punkt-en");
        const index = new Index();
        const facts = index.add(id, bytes);
        open?.index.free();
        open = { id, bytes, index };
        return facts;
    },
} satisfies Handlers;

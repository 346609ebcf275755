// The open book in the worker.

import { OpenBook } from "../closeread_wasm.js";
import type { Handlers } from "./handlers.js";

interface Open {
    name: string;
    bytes: Uint8Array;
    index: OpenBook;
}

let open: Open | undefined;

/** The open book, for handlers of views. */
export function openBook(): Open {
    if (open === undefined) throw new Error("no book is open: choose a file first");
    return open;
}

export const book = {
    "book/open": ({ name, bytes }) => {
        const index = new OpenBook(bytes);
        open?.index.free();
        open = { name, bytes, index };
        const { language, encoding, title, nBytes, nPassages, nTokens } = index;
        return { language, encoding, title, nBytes, nPassages, nTokens };
    },
} satisfies Handlers;

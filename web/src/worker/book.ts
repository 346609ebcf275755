// The open book in the worker.

import init, * as books from "../closeread_books.js";
import { startedOnce } from "../module.js";
import { need } from "./assets.js";
import type { Handlers } from "./handlers.js";

interface Open {
    id: string;
    bytes: Uint8Array;
    index: books.Index;
}

let open: Open | undefined;
/** One that was read, until the page shows it: another may be chosen meanwhile. */
let read: Open | undefined;

/** The module for books, fetched when the worker starts. */
export const booksReady = startedOnce(init, new URL("./closeread_books_bg.wasm", import.meta.url));

/** The open book, for handlers of views. */
export function openBook(): Open {
    if (open === undefined) throw new Error("no book is open: choose a file first");
    return open;
}

export const book = {
    "book/prepare": () => need(books, "cl100k", "punkt-en"),
    "book/open": async ({ id, bytes }) => {
        await need(books, "cl100k", "punkt-en");
        const index = new books.Index();
        const facts = index.add(id, bytes);
        read?.index.free();
        read = { id, bytes, index };
        return { facts, chapters: index.chapters(0) };
    },
    "book/show": () => {
        if (read === undefined) return;
        open?.index.free();
        [open, read] = [read, undefined];
    },
} satisfies Handlers;

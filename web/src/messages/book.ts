// The open book, which all views share.

import type { BookFacts, Chapter } from "../closeread_books.js";

/** What is known of a book that was read. */
export type Facts = BookFacts;

export interface BookMessages {
    /** Makes ready what reading a book takes. */
    "book/prepare": { request: Record<string, never>; reply: void };
    /** Reads and indexes a file under a name; it becomes the open book when it is shown. */
    "book/open": { request: { id: string; bytes: Uint8Array }; reply: { facts: Facts; chapters: Chapter[] } };
    /** Makes the book that was read last the open one. */
    "book/show": { request: Record<string, never>; reply: void };
}

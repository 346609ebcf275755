// Books that this browser has opened, with their text, by SHA-256. Nothing leaves it.

import { createStore, del, entries, get, set, type UseStore } from "idb-keyval";

export interface RecentBook {
    /** SHA-256 of the bytes, in hexadecimal. */
    hash: string;
    name: string;
    title: string;
    language: string;
    nTokens: number;
    /** Milliseconds since 1970 of the last opening. */
    opened: number;
}

type Kept = RecentBook & { bytes: Uint8Array };

/** Books that are kept; the one that was opened longest ago goes first. */
const MOST = 12;

let opened: UseStore | undefined;
const store = () => (opened ??= createStore("closeread-books", "books"));

/** Recent books, the last one first; none where the browser keeps nothing. */
export async function recentBooks(): Promise<RecentBook[]> {
    try {
        const all = (await entries<string, Kept>(store())).map(([, { bytes: _, ...book }]) => book);
        return all.sort((a, b) => b.opened - a.opened);
    } catch {
        return [];
    }
}

/** Keeps a book; false where the browser has no room, or keeps nothing. */
export async function keepBook(book: Kept): Promise<boolean> {
    try {
        await set(book.hash, book, store());
        for (const { hash } of (await recentBooks()).slice(MOST)) await del(hash, store());
        return true;
    } catch {
        return (await keptBook(book.hash)) !== undefined;
    }
}

/** The book whose hash begins so. */
export async function keptBook(start: string): Promise<Kept | undefined> {
    const found = (await recentBooks()).find(({ hash }) => start !== "" && hash.startsWith(start));
    return found && (await get<Kept>(found.hash, store()).catch(() => undefined));
}

export async function forgetBook(hash: string): Promise<void> {
    await del(hash, store()).catch(() => {});
}

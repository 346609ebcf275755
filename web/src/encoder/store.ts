// Vectors in IndexedDB, by what they are vectors of.

import { createStore, get, set, type UseStore } from "idb-keyval";
import type { PassageVectors } from "../closeread_books.js";

let opened: UseStore | undefined;
const store = () => (opened ??= createStore("closeread", "vectors"));

/** What was kept under a key, if anything; browsers may forbid or lose it. */
export async function kept(key: string): Promise<PassageVectors | undefined> {
    try {
        return await get<PassageVectors>(key, store());
    } catch {
        return undefined;
    }
}

/** Keeps vectors; false where the browser has no room or forbids it, and the next visit embeds again. */
export async function keep(key: string, vectors: PassageVectors): Promise<boolean> {
    try {
        await set(key, vectors, store());
        return true;
    } catch (error) {
        console.warn("the vectors were not kept:", error);
        return false;
    }
}

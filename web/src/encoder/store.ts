// Vectors in IndexedDB, by what they are vectors of.

import type { PassageVectors } from "../closeread_books.js";

const [DATABASE, STORE] = ["closeread", "vectors"];

/** What was kept under a key, if anything; browsers may forbid or lose it. */
export async function kept(key: string): Promise<PassageVectors | undefined> {
    try {
        return (await inStore("readonly", (store) => store.get(key))) as PassageVectors | undefined;
    } catch {
        return undefined;
    }
}

/** Keeps vectors. Where the browser has no room or forbids it, the next visit embeds again. */
export async function keep(key: string, vectors: PassageVectors): Promise<void> {
    try {
        await inStore("readwrite", (store) => store.put(vectors, key));
    } catch (error) {
        console.warn("the vectors were not kept:", error);
    }
}

async function inStore<T>(mode: IDBTransactionMode, action: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    const database = await done(opening);
    try {
        return await done(action(database.transaction(STORE, mode).objectStore(STORE)));
    } finally {
        database.close();
    }
}

function done<T>(request: IDBRequest<T>): Promise<T> {
    return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
}

// The sample works and their questions, as they lie in sample/.

import type { Item } from "./closeread_wasm.js";
import { inLanguage } from "./words/index.js";
import * as words from "./words/app.js";

/** A line of documents.jsonl. */
export interface Work {
    id: string;
    title: string;
    language: string;
    path: string;
}

const FOLDER = "sample/";

let listed: Promise<Work[]> | undefined;
let read: Promise<{ works: Work[]; items: Item[] }> | undefined;

/** The works alone, of which the page tells before anybody asks. */
export function works(): Promise<Work[]> {
    listed ??= lines<Work>("documents.jsonl").catch(() => []);
    return listed;
}

/** Works and items; none where the page is served without them. */
export function sample(): Promise<{ works: Work[]; items: Item[] }> {
    read ??= Promise.all([works(), lines<Item>("items.jsonl")]).then(
        ([works, items]) => ({ works, items }),
        () => ({ works: [], items: [] }),
    );
    return read;
}

export async function textOf(work: Work): Promise<Uint8Array> {
    return new Uint8Array(await (await fetched(FOLDER + work.path)).arrayBuffer());
}

/** A file beside the page. */
export async function fetched(url: string): Promise<Response> {
    const failed = (why: string) => new Error(inLanguage(words).fetchFailed(url, why));
    const response = await fetch(url).catch((error: unknown) => {
        throw failed(String(error));
    });
    if (!response.ok) throw failed(`${response.status} ${response.statusText}`);
    return response;
}

async function lines<T>(name: string): Promise<T[]> {
    const text = await (await fetched(FOLDER + name)).text();
    return text
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line) => JSON.parse(line) as T);
}

// Files that the core is handed when it first needs them: vocabularies, Punkt's parameters, WordNet.

import { provide, provided, type AssetName } from "../closeread_wasm.js";

const FILES: Record<AssetName, string> = {
    cl100k: "assets/cl100k_base.tiktoken.gz",
    o200k: "assets/o200k_base.tiktoken.gz",
    "punkt-en": "assets/punkt-en.txt.gz",
    wordnet: "assets/wordnet-3.0.bin.gz",
};

const coming = new Map<AssetName, Promise<void>>();

/** Fetches the assets that the core does not have yet. */
export async function need(...names: AssetName[]): Promise<void> {
    await Promise.all(names.map((name) => {
        if (!coming.has(name)) {
            const fetching = hand(name);
            coming.set(name, fetching);
            // A failure is told to whoever asked; the next one tries again.
            fetching.catch(() => coming.delete(name));
        }
        return coming.get(name);
    }));
}

async function hand(name: AssetName): Promise<void> {
    if (provided(name)) return;
    const url = new URL(FILES[name], new URL("../", import.meta.url));
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${FILES[name]} cannot be read: ${response.status} ${response.statusText}`);
    provide(name, await decompressed(new Uint8Array(await response.arrayBuffer())));
}

/** Some servers decompress .gz files on the way, others hand them out as they lie there. */
async function decompressed(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

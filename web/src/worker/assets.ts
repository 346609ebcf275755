// Files that the core is handed when it first needs them: vocabularies, Punkt's parameters, WordNet.

import { ASSET_FILES } from "../asset-files.js";
import type { AssetName } from "../closeread_books.js";

/** A module that takes assets: the books', or the whole one of the other views. */
interface Taker {
    provide(name: AssetName, bytes: Uint8Array): void;
    provided(name: AssetName): boolean;
}

const coming = new Map<AssetName, Promise<Uint8Array>>();

/** Hands a module the assets that it does not have yet. */
export async function need(taker: Taker, ...names: AssetName[]): Promise<void> {
    await Promise.all(
        names
            .filter((name) => !taker.provided(name))
            .map(async (name) => {
                const bytes = await fetchedOnce(name);
                if (!taker.provided(name)) taker.provide(name, bytes);
            }),
    );
}

function fetchedOnce(name: AssetName): Promise<Uint8Array> {
    const known = coming.get(name);
    if (known) return known;
    const fetching = fetched(name);
    coming.set(name, fetching);
    // A failure is told to whoever asked; the next one tries again.
    fetching.catch(() => coming.delete(name));
    return fetching;
}

async function fetched(name: AssetName): Promise<Uint8Array> {
    const response = await fetch(new URL(ASSET_FILES[name], import.meta.url));
    if (!response.ok) throw new Error(`${ASSET_FILES[name]} cannot be read: ${response.status} ${response.statusText}`);
    return decompressed(new Uint8Array(await response.arrayBuffer()));
}

/** Some servers decompress .gz files on the way, others hand them out as they lie there. */
async function decompressed(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

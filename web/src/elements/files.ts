// Files beside the page. A page from a disk may fetch nothing, but run scripts: a site that closeread wrote has each file as a script, too.

import type { NamedFile } from "./closeread_scorer.js";
import type { Words } from "./words.js";

const waiting = new Map<string, (bytes: Uint8Array<ArrayBuffer>) => void>();

/** What such a script calls, with the file in base64. A page can name the elements' script twice: the first one's elements wait. */
const called = globalThis as { closereadFile?: (base64: string) => void };
called.closereadFile ??= (base64) => {
    const at = (document.currentScript as HTMLScriptElement).src;
    waiting.get(at)?.(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));
    waiting.delete(at);
};

/** The file that the script beside it holds. */
export function ofScript(url: string): Promise<Uint8Array<ArrayBuffer>> {
    return new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = `${url}.js`;
        waiting.set(script.src, resolve);
        script.addEventListener("error", () => reject(new Error(`${script.src} is not there`)));
        script.addEventListener("load", () => script.remove());
        document.head.append(script);
    });
}

export const isOnDisk = (url: string | URL) => new URL(url).protocol === "file:";

export async function fetched(url: string, words: Words): Promise<NamedFile> {
    const name = url.split("/").pop() ?? url;
    if (!isOnDisk(url)) return { name, content: new Uint8Array(await (await answered(url, words)).arrayBuffer()) };
    return {
        name,
        content: await ofScript(url).catch((error: Error) => {
            throw new Error(words.notFound(url, error.message));
        }),
    };
}

/** Throws what `fetched` would; over HTTP the file itself is not read. */
export async function findable(url: string, words: Words): Promise<void> {
    if (isOnDisk(url)) await fetched(url, words);
    else await (await answered(url, words)).body?.cancel();
}

async function answered(url: string, words: Words): Promise<Response> {
    const refuse = (why: string) => new Error(words.notFound(url, why));
    const response = await fetch(url).catch((error: unknown) => {
        throw refuse(String(error));
    });
    if (!response.ok) throw refuse(`${response.status} ${response.statusText}`.trim());
    return response;
}

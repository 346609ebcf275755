// Embedding models: the one that ships, fetched when vectors are first wanted, or the reader's own files.

import { fetched } from "../sample.js";

export const SHIPPED = "all-MiniLM-L6-v2";
const FOLDER = `models/${SHIPPED}/`;
/** What a model's folder has, on the command line too. */
export const FILES = ["model.toml", "tokenizer.json", "model.onnx"] as const;

export interface Description {
    toml: string;
    /** Names model and weights: vectors of other weights are others. */
    key: string;
}

export interface Weights {
    tokenizer: Uint8Array;
    onnx: Uint8Array;
}

/** What is read of it is read once. */
export interface ModelSource {
    describe(): Promise<Description>;
    /** `progress` hears how many bytes of how many have come, if nobody asked before. */
    weights(progress: (done: number, total: number) => void): Promise<Weights>;
}

export const shipped: ModelSource = {
    describe: once(async () => {
        const [toml, manifest] = await Promise.all(["model.toml", "manifest.json"].map(async (name) => (await fetched(FOLDER + name)).text()));
        const { files } = JSON.parse(manifest!) as { files: Record<string, string> };
        return { toml: toml!, key: `${SHIPPED} ${files["model.onnx"]}` };
    }),
    weights: once(async (progress: (done: number, total: number) => void) => {
        const [tokenizer, onnx] = await Promise.all([
            fetched(`${FOLDER}tokenizer.json`).then(async (response) => new Uint8Array(await response.arrayBuffer())),
            read(await fetched(`${FOLDER}model.onnx`), progress),
        ]);
        return { tokenizer, onnx };
    }),
};

/** A model of files that were chosen; rejects with what `lacks` says of the names that are not among them. */
export async function ownModel(files: File[], lacks: (names: string[]) => string): Promise<ModelSource> {
    const missing = FILES.filter((name) => !files.some((file) => file.name === name));
    if (missing.length > 0) throw new Error(lacks(missing));
    const contents = FILES.map(async (wanted) => new Uint8Array(await files.find(({ name }) => name === wanted)!.arrayBuffer()));
    const [toml, tokenizer, onnx] = (await Promise.all(contents)) as [Uint8Array, Uint8Array, Uint8Array];
    const description = { toml: new TextDecoder().decode(toml), key: (await Promise.all([toml, tokenizer, onnx].map(digest))).map(orNever).join(" ") };
    return { describe: async () => description, weights: async () => ({ tokenizer, onnx }) };
}

/** Keeps what came of the first call for the later ones; after a failure the next one tries again. */
function once<A extends unknown[], T>(make: (...given: A) => Promise<T>): (...given: A) => Promise<T> {
    let made: Promise<T> | undefined;
    return (...given) => {
        made ??= make(...given).catch((error: unknown) => {
            made = undefined;
            throw error;
        });
        return made;
    };
}

/** SHA-256; nothing without a secure context, where browsers have none. */
export async function digest(bytes: Uint8Array): Promise<string | undefined> {
    if (!("subtle" in crypto)) return undefined;
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
    return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** In the place of a hash, something that no later visit finds. */
const orNever = (hash: string | undefined): string => hash ?? `${Date.now()} ${Math.random()}`;

async function read(response: Response, progress: (done: number, total: number) => void): Promise<Uint8Array> {
    const total = Number(response.headers.get("content-length") ?? 0);
    const parts: Uint8Array[] = [];
    let done = 0;
    const reader = response.body!.getReader();
    for (;;) {
        const { value, done: over } = await reader.read();
        if (over) break;
        parts.push(value);
        progress((done += value.length), Math.max(total, done));
    }
    const all = new Uint8Array(done);
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}

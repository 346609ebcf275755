// The embedding model that ships, fetched when vectors are first wanted.

import { fetched } from "../sample.js";

export const MODEL = "all-MiniLM-L6-v2";
const FOLDER = `models/${MODEL}/`;

export interface ModelFiles {
    toml: string;
    /** Names model and weights: vectors of other weights are others. */
    key: string;
}

export async function modelFiles(): Promise<ModelFiles> {
    const [toml, manifest] = await Promise.all(["model.toml", "manifest.json"].map(async (name) => (await fetched(FOLDER + name)).text()));
    const { files } = JSON.parse(manifest!) as { files: Record<string, string> };
    return { toml: toml!, key: `${MODEL} ${files["model.onnx"]}` };
}

/** The weights and the tokenizer; `progress` hears how many bytes of how many have come. */
export async function modelBytes(progress: (done: number, total: number) => void, signal: AbortSignal): Promise<{ tokenizer: Uint8Array; onnx: Uint8Array }> {
    const [tokenizer, onnx] = await Promise.all([
        fetched(`${FOLDER}tokenizer.json`).then(async (response) => new Uint8Array(await response.arrayBuffer())),
        read(await fetched(`${FOLDER}model.onnx`), progress, signal),
    ]);
    return { tokenizer, onnx };
}

async function read(response: Response, progress: (done: number, total: number) => void, signal: AbortSignal): Promise<Uint8Array> {
    const total = Number(response.headers.get("content-length") ?? 0);
    const parts: Uint8Array[] = [];
    let done = 0;
    const reader = response.body!.getReader();
    signal.addEventListener("abort", () => reader.cancel());
    for (;;) {
        const { value, done: over } = await reader.read();
        if (over) break;
        parts.push(value);
        progress(done += value.length, Math.max(total, done));
    }
    signal.throwIfAborted();
    const all = new Uint8Array(done);
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}

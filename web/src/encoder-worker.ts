// One embedding model in one worker. It does one thing at a time, in the order it was asked.

import init, { EmbeddingModel } from "./closeread_encoder.js";

export type EncoderRequest =
    | { id: number; kind: "load"; toml: string; tokenizer: Uint8Array; onnx: Uint8Array }
    | { id: number; kind: "embed"; role: "query" | "passage"; texts: string[] };

export interface Loaded {
    dimension: number;
    /** Instructions and numbers, e.g. `simd128 int16`. */
    arithmetic: string;
}

export type EncoderReply =
    | { id: number; ok: true; value: Loaded | Float32Array }
    | { id: number; ok: false; message: string };

const ready = init();
let encoder: EmbeddingModel | undefined;
let before: Promise<void> = Promise.resolve();

addEventListener("message", ({ data }: MessageEvent<EncoderRequest>) => {
    before = before.then(async () => {
        let reply: EncoderReply;
        try {
            await ready;
            reply = { id: data.id, ok: true, value: data.kind === "load" ? load(data) : embed(data) };
        } catch (error) {
            reply = { id: data.id, ok: false, message: error instanceof Error ? error.message : String(error) };
        }
        postMessage(reply);
    });
});

function load({ toml, tokenizer, onnx }: Extract<EncoderRequest, { kind: "load" }>): Loaded {
    encoder ??= new EmbeddingModel(toml, tokenizer, onnx);
    const { dimension, arithmetic } = encoder;
    return { dimension, arithmetic };
}

function embed({ role, texts }: Extract<EncoderRequest, { kind: "embed" }>): Float32Array {
    if (encoder === undefined) throw new Error("no model is loaded");
    return encoder.embed(role, texts);
}

// One embedding model in one worker, on the processor or by WebGPU. It does one thing at a time, in the order it was asked.

import type { EmbeddingModel, GpuEmbeddingModel } from "./closeread_embed.js";
import type { EmbeddingModel as TractModel } from "./closeread_tract.js";

/**
 * What computes: the processor, by `tract` or by the encoder where that reads the model; or WebGPU, by `software` also where
 * that is the processor in the end.
 */
export type Device = { on: "processor"; tract: boolean } | { on: "webgpu"; software: boolean };

export type EncoderRequest =
    | { id: number; kind: "load"; toml: string; tokenizer: Uint8Array; onnx: Uint8Array; device: Device }
    | { id: number; kind: "embed"; role: "query" | "passage"; texts: string[] };

export interface Loaded {
    dimension: number;
    /** Instructions and numbers, e.g. `simd128 int16`; or the adapter, e.g. `webgpu f32, apple metal-3`. */
    arithmetic: string;
}

export type EncoderReply =
    | { id: number; ok: true; value: Loaded | Float32Array }
    | { id: number; ok: false; name: string; message: string };

let encoder: EmbeddingModel | GpuEmbeddingModel | TractModel | undefined;
let before: Promise<void> = Promise.resolve();

addEventListener("message", ({ data }: MessageEvent<EncoderRequest>) => {
    before = before.then(async () => {
        let reply: EncoderReply;
        try {
            reply = { id: data.id, ok: true, value: await (data.kind === "load" ? load(data) : embed(data)) };
        } catch (error) {
            const { name, message } = error instanceof Error ? error : new Error(String(error));
            reply = { id: data.id, ok: false, name, message };
        }
        postMessage(reply);
    });
});

async function load({ toml, tokenizer, onnx, device }: Extract<EncoderRequest, { kind: "load" }>): Promise<Loaded> {
    let by = "";
    if (device.on === "processor") {
        encoder = await onProcessor(toml, tokenizer, onnx, device.tract);
    } else {
        by = await adapter();
        const { default: init, GpuEmbeddingModel } = await import("./closeread_embed.js");
        await init();
        encoder = await GpuEmbeddingModel.load(toml, tokenizer, onnx, device.software);
    }
    const { dimension, arithmetic } = encoder;
    return { dimension, arithmetic: by === "" ? arithmetic : `${arithmetic}, ${by}` };
}

async function onProcessor(toml: string, tokenizer: Uint8Array, onnx: Uint8Array, tract: boolean): Promise<EmbeddingModel | TractModel> {
    if (!tract) {
        const { default: init, EmbeddingModel } = await import("./closeread_embed.js");
        await init();
        if (EmbeddingModel.reads(onnx)) return new EmbeddingModel(toml, tokenizer, onnx);
    }
    const { default: init, EmbeddingModel } = await import("./closeread_tract.js");
    await init();
    return EmbeddingModel.byTract(toml, tokenizer, onnx);
}

async function embed({ role, texts }: Extract<EncoderRequest, { kind: "embed" }>): Promise<Float32Array> {
    if (encoder === undefined) throw new Error("no model is loaded");
    return encoder.embed(role, texts);
}

/** As much as the browser says of its adapter. Without one, nothing needs to be fetched. */
async function adapter(): Promise<string> {
    interface Gpu {
        requestAdapter(options: { powerPreference: string }): Promise<{ info: { vendor: string; architecture: string } } | null>;
    }
    const { gpu } = navigator as unknown as { gpu?: Gpu };
    const found = await gpu?.requestAdapter({ powerPreference: "high-performance" });
    if (!found) throw Object.assign(new Error("this browser offers no graphics processor"), { name: "NoAdapterError" });
    return `${found.info.vendor} ${found.info.architecture}`.trim();
}

// One embedding model in one worker, on the processor or by WebGPU. It does one thing at a time, in the order it was asked.

import type { EmbeddingModel } from "./closeread_embed.js";
import type { EmbeddingModel as TractModel } from "./closeread_tract.js";

/**
 * What is to compute: the processor, by `tract` or by the encoder where that reads the model; or WebGPU, by `software` also
 * where that is the processor in the end. The processor goes on where WebGPU fails.
 */
export type Device = { on: "processor"; tract: boolean } | { on: "webgpu"; software: boolean };

export type EncoderRequest =
    | { id: number; kind: "load"; toml: string; tokenizer: Uint8Array; onnx: Uint8Array; device: Device }
    | { id: number; kind: "embed"; role: "query" | "passage"; texts: string[] };

/** What computes now. */
export interface Computing {
    on: Device["on"];
    /** Instructions and numbers, e.g. `simd128 int16`; or the adapter, e.g. `webgpu f32, apple metal-3`. */
    arithmetic: string;
    /** Why WebGPU does not, where it was to. */
    trouble?: { name: string; message: string };
}

export type EncoderReply = { id: number; ok: true; vectors?: Float32Array; computing: Computing } | { id: number; ok: false; name: string; message: string };

let encoder: EmbeddingModel | TractModel | undefined;
/** Where WebGPU was asked for, as much as the browser says of its adapter. */
let adapter: string | undefined;
let before: Promise<void> = Promise.resolve();

addEventListener("message", ({ data }: MessageEvent<EncoderRequest>) => {
    before = before.then(async () => {
        let reply: EncoderReply;
        try {
            const vectors = await (data.kind === "load" ? load(data) : embed(data));
            reply = { id: data.id, ok: true, ...(vectors && { vectors }), computing: computing() };
        } catch (error) {
            const { name, message } = error instanceof Error ? error : new Error(String(error));
            reply = { id: data.id, ok: false, name, message };
        }
        postMessage(reply);
    });
});

async function load({ toml, tokenizer, onnx, device }: Extract<EncoderRequest, { kind: "load" }>): Promise<undefined> {
    if (device.on === "processor" && device.tract) {
        encoder = await byTract(toml, tokenizer, onnx);
        return;
    }
    const { default: init, EmbeddingModel } = await import("./closeread_embed.js");
    await init();
    if (!EmbeddingModel.reads(onnx)) {
        encoder = await byTract(toml, tokenizer, onnx);
    } else if (device.on === "processor") {
        encoder = new EmbeddingModel(toml, tokenizer, onnx);
    } else {
        adapter = await adapterName();
        encoder = await EmbeddingModel.byWebGpu(toml, tokenizer, onnx, device.software);
    }
}

async function byTract(toml: string, tokenizer: Uint8Array, onnx: Uint8Array): Promise<TractModel> {
    const { default: init, EmbeddingModel } = await import("./closeread_tract.js");
    await init();
    return EmbeddingModel.byTract(toml, tokenizer, onnx);
}

async function embed({ role, texts }: Extract<EncoderRequest, { kind: "embed" }>): Promise<Float32Array> {
    if (encoder === undefined) throw new Error("no model is loaded");
    return encoder.embed(role, texts);
}

function computing(): Computing {
    if (encoder === undefined) throw new Error("no model is loaded");
    const { arithmetic } = encoder;
    const trouble = "trouble" in encoder ? encoder.trouble : undefined;
    if (trouble !== undefined) return { on: "processor", arithmetic, trouble: { name: trouble.name, message: trouble.message } };
    if (adapter === undefined) return { on: "processor", arithmetic };
    return { on: "webgpu", arithmetic: adapter === "" ? arithmetic : `${arithmetic}, ${adapter}` };
}

async function adapterName(): Promise<string> {
    interface Gpu {
        requestAdapter(options: { powerPreference: string }): Promise<{ info: { vendor: string; architecture: string } } | null>;
    }
    const { gpu } = navigator as unknown as { gpu?: Gpu };
    const info = (await gpu?.requestAdapter({ powerPreference: "high-performance" }))?.info;
    return info === undefined ? "" : `${info.vendor} ${info.architecture}`.trim();
}

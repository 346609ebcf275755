// Several workers, each with its own instance of the model.

import type { Weights } from "./model.js";
import type { Computing, Device, EncoderReply, EncoderRequest } from "../encoder-worker.js";

/** Leaves a processor to the page; more than four would only fill the memory. */
export const N_WORKERS = Math.max(1, Math.min(4, (navigator.hardwareConcurrency || 2) - 1));

type Order = EncoderRequest extends infer R ? (R extends { id: number } ? Omit<R, "id"> : never) : never;

/** A model as a worker loads it. */
export type Model = Weights & { toml: string };

/**
 * Adds workers on the processor until there are `n`, or fewer where the machine lacks the memory for more; rejects if there is
 * none. Each next one only while `wants()`; one that has loaded ends unless `keeps()`. Returns the arithmetic of the last.
 */
export async function addWorkers(
    workers: EncoderWorker[],
    n: number,
    { toml, tokenizer, onnx }: Model,
    { tract = false, wants = () => true, keeps = () => true }: { tract?: boolean; wants?: () => boolean; keeps?: () => boolean } = {},
): Promise<string | undefined> {
    let last: string | undefined;
    while (workers.length < n && wants()) {
        const worker = new EncoderWorker({ on: "processor", tract });
        try {
            const { arithmetic } = await worker.load(toml, tokenizer, onnx);
            if (!keeps()) {
                worker.end();
                break;
            }
            last = arithmetic;
            workers.push(worker);
        } catch (error) {
            worker.end();
            if (workers.length === 0) throw error;
            break;
        }
    }
    return last;
}

export class EncoderWorker {
    readonly #worker = new Worker(new URL("./encoder-worker.js", import.meta.url), { type: "module" });
    readonly #waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
    #asked = 0;
    /** As the worker last said: WebGPU can fail in any batch, and the processor then goes on with it. */
    computing: Computing;

    constructor(readonly device: Device) {
        this.computing = { on: device.on, arithmetic: "" };
        this.#worker.addEventListener("message", ({ data }: MessageEvent<EncoderReply>) => {
            const waiting = this.#waiting.get(data.id);
            this.#waiting.delete(data.id);
            if (data.ok) {
                this.computing = data.computing;
                waiting?.resolve((data.vectors ?? data.computing) as never);
            } else waiting?.reject(Object.assign(new Error(data.message), { name: data.name }));
        });
        this.#worker.addEventListener("error", (event) => this.#end(event.message || "the encoder's worker could not be started"));
    }

    load(toml: string, tokenizer: Uint8Array, onnx: Uint8Array): Promise<Computing> {
        return this.#ask({ kind: "load", toml, tokenizer, onnx, device: this.device });
    }

    embed(role: "query" | "passage", texts: string[]): Promise<Float32Array> {
        return this.#ask({ kind: "embed", role, texts });
    }

    end(): void {
        this.#worker.terminate();
        this.#end("no longer wanted");
    }

    #ask<T>(order: Order): Promise<T> {
        const id = ++this.#asked;
        return new Promise((resolve, reject) => {
            this.#waiting.set(id, { resolve, reject });
            this.#worker.postMessage({ id, ...order });
        });
    }

    #end(message: string): void {
        for (const { reject } of this.#waiting.values()) reject(new Error(message));
        this.#waiting.clear();
    }
}

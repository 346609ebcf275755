// A language model in the page itself: llama.cpp as WebAssembly (wllama), on WebGPU and in threads where there are any. Fetched
// when it is first used; its weights lie in the browser.

import type { ChatCompletionChunk, Wllama } from "@wllama/wllama/esm/index.js";
import type { MethodCall, ChatReply } from "../closeread_wasm.js";
import { named, type Asking, type Engine } from "./engine.js";
import { NativeLog, mend } from "./native.js";

/** Most tokens of a response, unless the reader says otherwise or a call says fewer: small models may not find an end. */
export const MAX_OUTPUT_TOKENS = 512;

export interface Running {
    threads: number;
    webGpu: boolean;
}

export class InPageEngine implements Engine {
    readonly name: string;
    maxOutputTokens = MAX_OUTPUT_TOKENS;
    #loading: Promise<Wllama> | undefined;

    /** `weights` are opened when the first call comes; `started` hears how the model runs then. */
    constructor(
        id: string,
        readonly weights: () => Promise<Blob>,
        readonly window: number,
        readonly constrain: boolean,
        readonly started: (running: Running) => void,
    ) {
        this.name = `wllama/${id}`;
    }

    async chat(call: MethodCall, { signal, onToken }: Asking): Promise<ChatReply> {
        const model = await this.#loaded();
        signal.throwIfAborted();
        let text = "";
        let last: ChatCompletionChunk | undefined;
        const most = Math.min(call.maxOutputTokens ?? this.maxOutputTokens, this.maxOutputTokens);
        try {
            const pieces = await model.createChatCompletion({
                messages: call.messages.map(({ role, content }) => ({ role, content })),
                stream: true,
                max_tokens: most,
                temperature: call.temperature,
                seed: 0,
                // Qwen3 thinks for minutes unless it is told not to; other templates do not know the word.
                chat_template_kwargs: { enable_thinking: false },
                cache_prompt: true,
                abortSignal: signal,
                ...(this.constrain && call.grammar != null ? { grammar: call.grammar } : {}),
            });
            for await (const piece of pieces) {
                text += piece.choices[0]?.delta.content ?? "";
                if (text !== "") onToken(text);
                last = { ...last, ...piece, choices: piece.choices.length > 0 ? piece.choices : (last?.choices ?? []) };
            }
        } catch (error) {
            signal.throwIfAborted();
            throw told(error, this.window);
        }
        signal.throwIfAborted();
        return {
            text,
            finish: last?.choices[0]?.finish_reason === "length" ? "length" : "stop",
            usage: {
                prompt_tokens: last?.timings ? last.timings.prompt_n + last.timings.cache_n : (last?.usage?.prompt_tokens ?? null),
                completion_tokens: last?.timings?.predicted_n ?? last?.usage?.completion_tokens ?? null,
            },
        };
    }

    end(): void {
        const loading = this.#loading;
        this.#loading = undefined;
        void loading?.then(
            (model) => model.exit(),
            () => {},
        );
    }

    #loaded(): Promise<Wllama> {
        this.#loading ??= this.#load().catch((error) => {
            this.#loading = undefined;
            throw error;
        });
        return this.#loading;
    }

    async #load(): Promise<Wllama> {
        const engine = new URL("wllama/wllama.js", document.baseURI).href;
        const [module, weights, webGpu] = await Promise.all([import(engine) as Promise<Module>, this.weights(), hasWebGpu()]);
        let reason: unknown;
        // What a graphics processor cannot hold, the processor may.
        for (const onGpu of webGpu ? [true, false] : [false]) {
            const log = new NativeLog();
            const model = fresh(module, log);
            try {
                await model.loadModel([weights], { n_ctx: this.window, n_parallel: 1, n_gpu_layers: onGpu ? ALL_LAYERS : 0 });
                mend(model, log);
                this.started({ threads: model.getNumThreads(), webGpu: onGpu });
                return model;
            } catch (error) {
                reason = error;
                void model.exit().catch(() => {});
            }
        }
        throw new Error(`the model could not be started in this browser: ${reason instanceof Error ? reason.message : String(reason)}`);
    }
}

type Module = typeof import("@wllama/wllama/esm/index.js");

/** More layers than any model has. */
const ALL_LAYERS = 999;

function fresh({ Wllama }: Module, { logger }: NativeLog): Wllama {
    const model = new Wllama({ default: new URL("wllama/wllama.wasm", document.baseURI).href }, { logger });
    // What it would fetch from elsewhere for browsers that lack JSPI or memory64.
    model.setCompat(null);
    return model;
}

async function hasWebGpu(): Promise<boolean> {
    const { gpu } = navigator as { gpu?: { requestAdapter(): Promise<unknown> } };
    return (await gpu?.requestAdapter().catch(() => null)) != null;
}

/** What llama.cpp says where a prompt is longer than its window. */
function told(error: unknown, window: number): Error {
    const message = error instanceof Error ? error.message : String(error);
    return /context size|exceed|kv.?cache.*full/i.test(message) ? named("OverflowError", message, { needed: null, window }) : new Error(message);
}

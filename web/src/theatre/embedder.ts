// Vectors for a method that searches by meaning, computed in workers of their own.

import { N_WORKERS, addWorkers, type EncoderWorker } from "../encoder/workers.js";
import type { Session } from "../session.js";
import { inLanguage } from "../words/index.js";
import * as words from "../words/theatre.js";

export type Role = "query" | "passage";

/** Texts that a worker is given at once. */
const BATCH = 8;

export class Embedder {
    /** By role and text: who plays a method again, or another one, waits for nothing. */
    readonly #vectors = new Map<string, Float32Array>();
    #workers: Promise<EncoderWorker[]> | undefined;

    constructor(readonly session: Session) {
        session.addEventListener("model", () => {
            this.#vectors.clear();
            this.#workers?.then((workers) => workers.forEach((worker) => worker.end()), () => {});
            this.#workers = undefined;
        });
    }

    /** Rejects if the model does not know the language of the open book. */
    async check(): Promise<void> {
        const language = this.session.book?.facts.language ?? "en";
        const { toml } = await this.session.model.describe();
        const { name, languages } = await this.session.core.ask("lab/model", { toml });
        if (languages.length > 0 && !languages.includes(language)) {
            throw new Error(inLanguage(words).unknownLanguage(name, language));
        }
    }

    /** One vector a text, in order. */
    async embed(role: Role, texts: string[], signal: AbortSignal): Promise<Float32Array[]> {
        const key = (text: string) => `${role} ${text}`;
        const workers = await (this.#workers ??= this.#load());
        const missing = [...new Set(texts.filter((text) => !this.#vectors.has(key(text))))];
        await Promise.all(workers.map(async (worker) => {
            while (missing.length > 0) {
                signal.throwIfAborted();
                const some = missing.splice(0, BATCH);
                const values = await worker.embed(role, some);
                const dimension = values.length / some.length;
                some.forEach((text, n) => this.#vectors.set(key(text), values.slice(n * dimension, (n + 1) * dimension)));
            }
        }));
        return texts.map((text) => this.#vectors.get(key(text))!);
    }

    async #load(): Promise<EncoderWorker[]> {
        const workers: EncoderWorker[] = [];
        try {
            const { model } = this.session;
            const [{ toml }, weights] = await Promise.all([model.describe(), model.weights(() => {})]);
            await addWorkers(workers, N_WORKERS, { toml, ...weights });
        } catch (error) {
            this.#workers = undefined;
            throw error;
        }
        return workers;
    }
}

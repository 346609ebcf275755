// Vectors for a method that searches by meaning, computed in workers of their own.

import type { PassageVectors } from "../closeread_books.js";
import { digest } from "../encoder/model.js";
import { keep, kept } from "../encoder/store.js";
import { N_WORKERS, addWorkers, type EncoderWorker } from "../encoder/workers.js";
import type { Session } from "../session.js";
import { inLanguage } from "../words/index.js";
import * as words from "../words/watch.js";

export type Role = "query" | "passage";

/** Texts that a worker is given at once. */
const BATCH = 8;

export class Embedder {
    /** By role and text: who plays a method again, or another one, waits for nothing. */
    #vectors = new Map<string, Float32Array>();
    #workers: Promise<EncoderWorker[]> | undefined;
    /** Whether it was said that vectors are not kept. */
    #said = false;

    constructor(readonly session: Session) {
        session.addEventListener("model", () => {
            this.#vectors = new Map();
            this.#workers?.then(
                (workers) => workers.forEach((worker) => worker.end()),
                () => {},
            );
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

    /** One vector a text, in order. Those of passages are kept in this browser for other visits. */
    async embed(role: Role, texts: string[], signal: AbortSignal): Promise<Float32Array[]> {
        const vectors = this.#vectors;
        const key = (text: string) => `${role} ${text}`;
        const put = (some: string[], values: Float32Array) => {
            const dimension = values.length / some.length;
            some.forEach((text, n) => vectors.set(key(text), values.slice(n * dimension, (n + 1) * dimension)));
        };
        const missing = [...new Set(texts.filter((text) => !vectors.has(key(text))))];
        if (missing.length > 0) {
            const name = role === "passage" ? await this.#named(missing) : undefined;
            const before = name === undefined ? undefined : await kept(name);
            if (before !== undefined) put(missing, before.values);
            else {
                await this.#compute(role, missing, put, signal);
                if (role === "passage") void this.#keep(name, together(missing.map((text) => vectors.get(key(text))!)));
            }
        }
        return texts.map((text) => vectors.get(key(text))!);
    }

    /** Keeps vectors for other visits; those that the browser does not keep are said once. */
    async #keep(name: string | undefined, vectors: PassageVectors): Promise<void> {
        if ((name !== undefined && (await keep(name, vectors))) || this.#said) return;
        this.#said = true;
        this.session.store.dispatch({ kind: "failed", problem: inLanguage(words).vectorsNotKept });
    }

    /** Names the texts and the model; nothing where browsers offer no hash. */
    async #named(texts: string[]): Promise<string | undefined> {
        const hash = await digest(new TextEncoder().encode(JSON.stringify(texts)));
        return hash && `texts ${hash}/${(await this.session.model.describe()).key}`;
    }

    /** `put` takes what has come, also of what is stopped. */
    async #compute(role: Role, texts: string[], put: (some: string[], values: Float32Array) => void, signal: AbortSignal): Promise<void> {
        const workers = await (this.#workers ??= this.#load());
        const waiting = [...texts];
        await Promise.all(
            workers.map(async (worker) => {
                while (waiting.length > 0) {
                    signal.throwIfAborted();
                    const some = waiting.splice(0, BATCH);
                    put(some, await worker.embed(role, some));
                }
            }),
        );
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

/** Vectors as they are kept, by their place. */
function together(vectors: Float32Array[]): PassageVectors {
    const dimension = vectors[0]!.length;
    const values = new Float32Array(vectors.length * dimension);
    vectors.forEach((vector, n) => values.set(vector, n * dimension));
    return { dimension, passages: Uint32Array.from(vectors.keys()), values };
}

// The worker as promises.

import type { Asked, Kind, Replied, Reply, Request, Told } from "./messages.js";

interface Waiting {
    tell: (event: never) => void;
    resolve: (value: never) => void;
    reject: (error: Error) => void;
}

export class Core {
    #started: Worker | undefined;
    readonly #waiting = new Map<number, Waiting>();
    #asked = 0;

    /** Started by the first request: who only reads the essay needs none. */
    get #worker(): Worker {
        if (this.#started) return this.#started;
        const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
        worker.addEventListener("message", ({ data }: MessageEvent<Reply>) => this.#hear(data));
        worker.addEventListener("error", (event) => {
            const error = named("WorkerError", event.message || "the worker could not be started; reload the page");
            for (const { reject } of this.#waiting.values()) reject(error);
            this.#waiting.clear();
            // One that could not be fetched says nothing of itself: the next request starts it anew.
            if (!event.message) this.#started = undefined;
        });
        return (this.#started = worker);
    }

    /** Asks the worker. Rejects with what is wrong with the request, or with an `AbortError` once `signal` is aborted. */
    ask<K extends Kind>(
        kind: K,
        request: Asked<K>,
        { tell = () => {}, signal, transfer = [] }: { tell?: (event: Told<K>) => void; signal?: AbortSignal; transfer?: Transferable[] } = {},
    ): Promise<Replied<K>> {
        const id = ++this.#asked;
        return new Promise((resolve, reject) => {
            if (signal?.aborted) return reject(named("AbortError", "no longer wanted"));
            this.#waiting.set(id, { tell, resolve, reject });
            signal?.addEventListener("abort", () => {
                if (!this.#waiting.delete(id)) return;
                this.#worker.postMessage({ id, cancel: true } satisfies Request);
                reject(named("AbortError", "no longer wanted"));
            });
            this.#worker.postMessage({ id, kind, request } satisfies Request, { transfer });
        });
    }

    #hear(reply: Reply): void {
        const waiting = this.#waiting.get(reply.id);
        if (waiting === undefined) return;
        if ("event" in reply) return waiting.tell(reply.event as never);
        this.#waiting.delete(reply.id);
        if (reply.ok) waiting.resolve(reply.value as never);
        else waiting.reject(named(reply.name, reply.message));
    }
}

function named(name: string, message: string): Error {
    const error = new Error(message);
    error.name = name;
    return error;
}

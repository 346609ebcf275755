// The worker as promises.

import type { Opened, Reply, Request, Searched } from "./messages.js";

export class Core {
    readonly #worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    /** Callers in the order of their requests; the worker answers in that order. */
    readonly #waiting: ((reply: Reply<never>) => void)[] = [];

    constructor() {
        this.#worker.addEventListener("message", ({ data }) => this.#waiting.shift()?.(data));
        this.#worker.addEventListener("error", (event) => {
            const message = event.message || "the worker could not be started; reload the page";
            this.#waiting.splice(0).forEach((tell) => tell({ ok: false, name: "WorkerError", message }));
        });
    }

    /** Reads and indexes a file. Rejects with what is wrong with it. */
    open(file: Uint8Array): Promise<Opened> {
        return this.#ask({ kind: "open", file });
    }

    /** Searches the book that was opened last. */
    search(question: string, budget: number): Promise<Searched> {
        return this.#ask({ kind: "search", question, budget });
    }

    #ask<T>(request: Request): Promise<T> {
        return new Promise((resolve, reject) => {
            this.#waiting.push((reply: Reply<T>) => {
                if (reply.ok) return resolve(reply.value);
                const error = new Error(reply.message);
                error.name = reply.name;
                reject(error);
            });
            this.#worker.postMessage(request);
        });
    }
}

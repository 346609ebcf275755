// Embedding the open book in the background, nearest to the question first.

import type { Session } from "../session.js";
import { EncoderWorker, N_WORKERS } from "./encoders.js";
import { MODEL, modelBytes, modelFiles, type ModelFiles } from "./model.js";

/** Passages that a worker is given at once: two units of the encoder's work. */
const BATCH = 8;
/** Batches between two times that the vectors are kept. */
const KEEP_EVERY = 40;

export type State =
    | { kind: "off" }
    | { kind: "unknown language"; language: string; model: string }
    | { kind: "fetching"; done: number; total: number }
    | { kind: "embedding" | "complete"; done: number; total: number; workers: number; arithmetic: string; kept: number }
    | { kind: "failed"; message: string };

/** Tells "change" whenever its state changes, "vectors" when rankings may have. */
export class Embedding extends EventTarget {
    state: State = { kind: "off" };
    /** Whether the open book's passages can be ranked by vectors: some are there, or on their way. */
    ranks = false;
    readonly #session: Session;
    #files: Promise<ModelFiles> | undefined;
    #bytes: ReturnType<typeof modelBytes> | undefined;
    #workers: EncoderWorker[] = [];
    #arithmetic = "";
    #question = "";
    /** Ends what goes on for a book that is no longer open. */
    #ending = new AbortController();

    constructor(session: Session) {
        super();
        this.#session = session;
        session.addEventListener("book", () => {
            this.#ending.abort();
            this.#ending = new AbortController();
            this.ranks = false;
            this.#become({ kind: "off" });
        });
    }

    /** Begins, or goes on; the question's own vector comes first. */
    async want(question: string): Promise<void> {
        const changed = this.#question !== question;
        this.#question = question;
        const running = this.state.kind === "embedding" || this.state.kind === "complete";
        if (running && changed) return this.#embedQuestion(question, this.#ending.signal);
        if (running || this.state.kind === "fetching" || this.state.kind === "unknown language") return;
        const { signal } = this.#ending;
        try {
            await this.#run(signal);
        } catch (error) {
            if (!signal.aborted) this.#become({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
        }
    }

    async #run(signal: AbortSignal): Promise<void> {
        const { core, book } = this.#session;
        if (book === undefined) return;
        this.#become({ kind: "fetching", done: 0, total: 0 });
        const { toml, key } = await (this.#files ??= modelFiles());
        const facts = await core.ask("lab/model", { toml });
        const { language } = book.facts;
        if (facts.languages.length > 0 && !facts.languages.includes(language)) {
            return this.#become({ kind: "unknown language", language, model: MODEL });
        }
        const { done: kept, total } = await core.ask("lab/expect", { model: key, dimension: facts.dimension });
        if (signal.aborted) return;
        this.ranks = true;
        const n = kept === total ? 1 : N_WORKERS;
        await this.#load(toml, n, signal);
        if (signal.aborted) return;
        const at = (done: number) => this.#become({
            kind: done === total ? "complete" : "embedding", done, total, workers: this.#workers.length, arithmetic: this.#arithmetic, kept,
        });
        at(kept);
        await this.#embedQuestion(this.#question, signal);
        let batches = 0;
        const work = async (worker: EncoderWorker) => {
            while (!signal.aborted) {
                const { passages, texts } = await core.ask("lab/next", { question: this.#question, n: BATCH });
                if (passages.length === 0) return;
                const values = await worker.embed("passage", texts).catch((error: unknown) => {
                    if (!signal.aborted) core.ask("lab/give-back", { passages });
                    throw error;
                });
                if (signal.aborted) return;
                at((await core.ask("lab/vectors", { passages, values })).done);
                this.dispatchEvent(new Event("vectors"));
                if (++batches % KEEP_EVERY === 0) await core.ask("lab/keep", { model: key });
            }
        };
        await Promise.all(this.#workers.map(work));
        if (!signal.aborted && kept < total) await core.ask("lab/keep", { model: key });
    }

    async #load(toml: string, n: number, signal: AbortSignal): Promise<void> {
        if (this.#workers.length >= n) return;
        this.#bytes ??= modelBytes((done, total) => {
            if (this.state.kind === "fetching") this.#become({ kind: "fetching", done, total });
        }, new AbortController().signal);
        this.#bytes.catch(() => (this.#bytes = undefined));
        const { tokenizer, onnx } = await this.#bytes;
        while (this.#workers.length < n && !signal.aborted) {
            const worker = new EncoderWorker();
            try {
                this.#arithmetic = (await worker.load(toml, tokenizer, onnx)).arithmetic;
                this.#workers.push(worker);
            } catch (error) {
                worker.end();
                // One is enough; a machine may lack the memory for more.
                if (this.#workers.length === 0) throw error;
                return;
            }
        }
    }

    async #embedQuestion(question: string, signal: AbortSignal): Promise<void> {
        const worker = this.#workers[0];
        if (worker === undefined || question.trim() === "") return;
        const vector = await worker.embed("query", [question]);
        if (signal.aborted || question !== this.#question) return;
        await this.#session.core.ask("lab/query", { question, vector });
        this.dispatchEvent(new Event("vectors"));
    }

    #become(state: State): void {
        this.state = state;
        this.dispatchEvent(new Event("change"));
    }
}

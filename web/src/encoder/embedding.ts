// Embedding the open book in the background, nearest to the question first.

import type { Computing } from "../encoder-worker.js";
import { EncoderWorker, N_WORKERS, addWorkers } from "./workers.js";
import type { Session } from "../session.js";

/** Passages that a worker is given at once: two units of the encoder's work, or enough to keep a graphics processor busy. */
const BATCH = { processor: 8, webgpu: 32 };
/** Passages between two times that the vectors are kept. */
const KEEP_EVERY = 320;

/** What is to compute: WebGPU where the browser has a graphics processor, or as chosen by hand. */
export type Compute = "automatic" | "processor" | "tract" | "webgpu";

export type State =
    | { kind: "off" }
    | { kind: "unknown language"; language: string; model: string }
    | { kind: "fetching"; done: number; total: number }
    | { kind: "embedding" | "complete"; done: number; total: number; workers: number; arithmetic: string; kept: number; isKept: boolean; trouble: string }
    | { kind: "paused"; done: number; total: number }
    | { kind: "failed"; message: string };

/** Tells "change" whenever its state changes, "vectors" when rankings may have. */
export class Embedding extends EventTarget {
    state: State = { kind: "off" };
    /** Whether the open book's passages can be ranked by vectors: some are there, or on their way. */
    ranks = false;
    readonly #session: Session;
    #workers: EncoderWorker[] = [];
    #loading: Promise<void> = Promise.resolve();
    #arithmetic = "";
    #compute: Compute = "automatic";
    /** Why WebGPU is not tried again. */
    #trouble: { reason: string; worthSaying: boolean } | undefined;
    #question = "";
    /** When embedding began, and with how many vectors. */
    #begun = { at: 0, done: 0 };
    /** The name of the weights. */
    #key = "";
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
        session.addEventListener("model", () => {
            this.ranks = false;
            this.#restart();
        });
    }

    /** Begins, or goes on; the question's own vector comes first. */
    async want(question: string): Promise<void> {
        const changed = this.#question !== question;
        this.#question = question;
        const running = this.state.kind === "embedding" || this.state.kind === "complete";
        if ((running || this.state.kind === "paused") && changed) return this.#embedQuestion(question, this.#ending.signal);
        if (running || this.state.kind === "paused" || this.state.kind === "fetching" || this.state.kind === "unknown language") return;
        const { signal } = this.#ending;
        try {
            await this.#run(signal);
        } catch (error) {
            if (!signal.aborted) this.#become({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
        }
    }

    /** Stops embedding; what has come is kept, and ranks. */
    pause(): void {
        if (this.state.kind !== "embedding") return;
        const { done, total } = this.state;
        this.#ending.abort();
        this.#ending = new AbortController();
        this.#become({ kind: "paused", done, total });
        void this.#session.core.ask("lab/keep", { model: this.#key }).catch(() => {});
    }

    resume(): void {
        if (this.state.kind !== "paused") return;
        this.#become({ kind: "off" });
        void this.want(this.#question);
    }

    /** Whether some passages can be ranked by their vectors already. */
    get hasSome(): boolean {
        return this.ranks && "done" in this.state && this.state.kind !== "fetching" && this.state.done > 0;
    }

    /** Seconds until all passages have vectors, at the pace so far; undefined while there is none. */
    get secondsLeft(): number | undefined {
        if (this.state.kind !== "embedding") return undefined;
        const done = this.state.done - this.#begun.done;
        const seconds = (performance.now() - this.#begun.at) / 1000;
        return done < 16 || seconds < 2 ? undefined : ((this.state.total - this.state.done) * seconds) / done;
    }

    get compute(): Compute {
        return this.#compute;
    }

    /** Goes on with what is to compute from now on. */
    set compute(compute: Compute) {
        if (compute === this.#compute) return;
        this.#compute = compute;
        this.#restart();
    }

    #restart(): void {
        this.#trouble = undefined;
        this.#ending.abort();
        this.#ending = new AbortController();
        for (const worker of this.#workers.splice(0)) worker.end();
        if (this.state.kind === "off") return;
        this.#become({ kind: "off" });
        void this.want(this.#question);
    }

    async #run(signal: AbortSignal): Promise<void> {
        const { core, book } = this.#session;
        if (book === undefined) return;
        this.#become({ kind: "fetching", done: 0, total: 0 });
        const { toml, key } = await this.#session.model.describe();
        const facts = await core.ask("lab/model", { toml });
        const { language } = book.facts;
        if (facts.languages.length > 0 && !facts.languages.includes(language)) {
            return this.#become({ kind: "unknown language", language, model: facts.name });
        }
        const { done: kept, total } = await core.ask("lab/expect", { model: key, dimension: facts.dimension });
        if (signal.aborted) return;
        this.ranks = true;
        this.#key = key;
        let [done, isKept] = [kept, true];
        const tell = () =>
            this.#become({
                kind: done === total ? "complete" : "embedding",
                done,
                total,
                kept,
                isKept,
                workers: this.#workers.length,
                arithmetic: this.#arithmetic,
                trouble: this.#trouble?.worthSaying ? this.#trouble.reason : "",
            });
        let sinceKept = 0;
        let on: Computing["on"];
        /** Ends, too, when WebGPU has failed: more workers are then of use. */
        const work = async (worker: EncoderWorker) => {
            while (!signal.aborted && worker.computing.on === on) {
                const { passages, texts } = await core.ask("lab/next", { question: this.#question, n: BATCH[on] });
                if (passages.length === 0) return;
                let values;
                try {
                    values = await worker.embed("passage", texts);
                } catch (error) {
                    if (this.#session.book === book) core.ask("lab/give-back", { passages });
                    throw error;
                }
                if (signal.aborted) {
                    if (this.#session.book === book) core.ask("lab/give-back", { passages });
                    return;
                }
                ({ done } = await core.ask("lab/vectors", { passages, values }));
                tell();
                this.dispatchEvent(new Event("vectors"));
                if ((sinceKept += passages.length) < KEEP_EVERY) continue;
                sinceKept = 0;
                isKept = await core.ask("lab/keep", { model: key });
            }
        };
        do {
            await this.#load(toml, kept === total ? 1 : N_WORKERS, signal);
            const first = this.#workers[0];
            if (signal.aborted || first === undefined) return;
            ({ on } = first.computing);
            // All that is kept is of use once the question has its vector.
            if (done < total) tell();
            this.#begun = { at: performance.now(), done };
            await this.#embedQuestion(this.#question, signal);
            await Promise.all(this.#workers.map(work));
        } while (this.#workers[0] !== undefined && this.#workers[0].computing.on !== on);
        if (!signal.aborted && kept < total) isKept = await core.ask("lab/keep", { model: key });
        if (signal.aborted) return;
        tell();
        this.dispatchEvent(new Event("vectors"));
    }

    /** Loads the model into so many workers, or one that uses WebGPU; calls do not overlap. */
    #load(toml: string, n: number, signal: AbortSignal): Promise<void> {
        const loading = this.#loading.then(() => this.#loadNow(toml, n, signal));
        this.#loading = loading.catch(() => {});
        return loading;
    }

    async #loadNow(toml: string, n: number, signal: AbortSignal): Promise<void> {
        this.#hear();
        if (signal.aborted || this.#workers.length >= n || this.#workers[0]?.computing.on === "webgpu") return;
        const [compute, { model }] = [this.#compute, this.#session];
        const { tokenizer, onnx } = await model.weights((done, total) => {
            if (this.state.kind === "fetching") this.#become({ kind: "fetching", done, total });
        });
        if (signal.aborted) return;
        const stays = () => this.#compute === compute && this.#session.model === model;
        const offered = compute === "webgpu" || (compute === "automatic" && "gpu" in navigator);
        if (offered && this.#trouble === undefined && this.#workers.length === 0) {
            const worker = new EncoderWorker({ on: "webgpu", software: compute === "webgpu" });
            try {
                await worker.load(toml, tokenizer, onnx);
                if (!stays()) return worker.end();
                this.#workers.push(worker);
                this.#hear();
                if (worker.computing.on === "webgpu") return;
            } catch (error) {
                // Not that it fails, which the worker takes care of: that it breaks down.
                worker.end();
                if (!stays()) return;
                this.#trouble = { reason: error instanceof Error ? error.message : String(error), worthSaying: true };
            }
        }
        const arithmetic = await addWorkers(
            this.#workers,
            n,
            { toml, tokenizer, onnx },
            {
                tract: compute === "tract",
                wants: () => !signal.aborted,
                keeps: stays,
            },
        );
        if (arithmetic !== undefined) this.#arithmetic = arithmetic;
    }

    /** What the first worker says of itself: it alone was to use WebGPU. */
    #hear(): void {
        if (this.#workers[0] === undefined) return;
        const { arithmetic, trouble } = this.#workers[0].computing;
        this.#arithmetic = arithmetic;
        if (trouble === undefined) return;
        const { name, message } = trouble;
        this.#trouble = { reason: message, worthSaying: this.#compute === "webgpu" || name !== "NoAdapterError" };
    }

    async #embedQuestion(question: string, signal: AbortSignal): Promise<void> {
        const worker = this.#workers[0];
        if (worker === undefined || question.trim() === "") return;
        let vector;
        try {
            vector = await worker.embed("query", [question]);
        } catch (error) {
            if (signal.aborted) return;
            throw error;
        }
        if (signal.aborted || question !== this.#question) return;
        await this.#session.core.ask("lab/query", { question, vector });
        this.dispatchEvent(new Event("vectors"));
    }

    #become(state: State): void {
        this.state = state;
        this.dispatchEvent(new Event("change"));
    }
}

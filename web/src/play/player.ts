// Plays a run: hears its calls, has an engine answer them, stops what is no longer wanted.

import type { Item, MethodOptions, ChatReply } from "../closeread_wasm.js";
import type { Core } from "../core.js";
import type { BookFacts, WatchEvent } from "../messages/watch.js";
import { endsCall, type Engine } from "../model/engine.js";
import { Clock, type Pace } from "../model/timing.js";
import { Store } from "../state/store.js";
import { FRESH, nextCall, reduceRun, sentCall, type CallStep, type RunAction, type RunState } from "./run.js";

/** What is run. */
export interface Plan {
    book: BookFacts;
    item: Item;
    options: MethodOptions;
}

/** Gives vectors to methods that search by meaning. */
export interface Embedding {
    embed(role: "query" | "passage", texts: string[], signal: AbortSignal): Promise<Float32Array[]>;
}

let numbers = 0;

export class Player {
    readonly store = new Store<RunState, RunAction>(reduceRun, FRESH);
    readonly run = ++numbers;
    readonly #over = new AbortController();
    #asking: AbortController | undefined;
    #clock: Clock | undefined;

    /** `engine` is asked for at each call: another model can answer the next one. */
    constructor(
        readonly core: Core,
        readonly plan: Plan,
        readonly engine: () => Engine,
        readonly embedding?: Embedding,
    ) {}

    get state(): RunState {
        return this.store.state;
    }

    /** Of the call that is being answered, or was last. */
    get pace(): Pace | undefined {
        return this.#clock?.pace;
    }

    /** Runs to the end; rejects with what kept the method from running. */
    async start(): Promise<void> {
        try {
            const record = await this.core.ask("watch/run", { run: this.run, ...this.plan }, { tell: (event) => this.#hear(event), signal: this.#over.signal });
            this.#do({ kind: "over", phase: "ended", record });
        } catch (error) {
            if (!this.#over.signal.aborted) {
                this.#do({ kind: "over", phase: "broken" });
                throw error;
            }
        }
    }

    /** Sends the next call, if one waits and none is being answered. */
    async step(): Promise<void> {
        const next = nextCall(this.state);
        if (next === undefined || sentCall(this.state) !== undefined || this.state.phase !== "running") return;
        await this.#send(next);
        if (this.state.playing) void this.step();
    }

    /** Sends every call as it comes. */
    play(): void {
        this.#do({ kind: "playing", playing: true });
        void this.step();
    }

    pause(): void {
        this.#do({ kind: "playing", playing: false });
    }

    /** Breaks the call off that is being answered; it waits again. */
    cancel(): void {
        this.pause();
        this.#asking?.abort();
    }

    /** Gives the run up. */
    stop(): void {
        if (this.state.phase !== "running") return;
        this.#do({ kind: "over", phase: "stopped" });
        this.#asking?.abort();
        this.#over.abort();
    }

    /** Lets the worker forget the run; nothing can be asked about its passages afterwards. */
    forget(): void {
        this.stop();
        void this.core.ask("watch/end", { run: this.run }).catch(() => {});
    }

    /** Texts of passages that the run was given. */
    slices(places: { document: string; start: number; end: number }[]): Promise<string[]> {
        return this.core.ask("watch/slices", { run: this.run, places: places.map(({ document, start, end }) => ({ document, start, end })) });
    }

    /** Where the passages of a call stand in the book, and the gold evidence. */
    places(call: number) {
        return this.core.ask("watch/places", { run: this.run, call });
    }

    async #send({ call }: CallStep): Promise<void> {
        const clock = (this.#clock = new Clock());
        const asking = new AbortController();
        this.#asking = asking;
        try {
            const engine = this.engine();
            this.#do({ kind: "sent", call: call.id, by: engine.name });
            const response = await engine.chat(call, {
                signal: asking.signal,
                onToken: (text) => {
                    clock.piece();
                    if (!asking.signal.aborted) this.#do({ kind: "came", call: call.id, text, pace: clock.pace });
                },
                onRetry: (retrying) => this.#do({ kind: "retrying", call: call.id, retrying }),
            });
            clock.stop();
            await this.#answer(call.id, response, clock);
        } catch (thrown) {
            clock.stop();
            const error = thrown instanceof Error ? thrown : new Error(String(thrown));
            if (this.state.phase !== "running") return;
            if (endsCall(error)) await this.#end(call.id, error, clock);
            else this.#do({ kind: "failed", call: call.id, message: asking.signal.aborted ? undefined : error.message });
        } finally {
            if (this.#asking === asking) this.#asking = undefined;
        }
    }

    async #answer(call: number, response: ChatReply, clock: Clock): Promise<void> {
        const { parsed, changes } = await this.core.ask("watch/answer", { run: this.run, call, came: { response } });
        this.#do({ kind: "answered", call, response, parsed, changes, pace: clock.pace });
    }

    async #end(call: number, error: Error & { needed?: number | null; window?: number | null }, clock: Clock): Promise<void> {
        const { name, message, needed = null, window = null } = error;
        await this.core.ask("watch/answer", { run: this.run, call, came: { ended: { name, message, needed, window } } });
        this.#do({ kind: "overflowed", call, message, pace: clock.pace });
    }

    #hear(event: WatchEvent): void {
        if (event.kind === "embed") return void this.#embed(event);
        this.#do(event.kind === "call" ? { kind: "called", call: event.call } : event);
        if (this.state.playing) void this.step();
    }

    async #embed({ id, role, texts }: Extract<WatchEvent, { kind: "embed" }>): Promise<void> {
        const { signal } = this.#over;
        try {
            if (this.embedding === undefined) throw new Error("nothing here embeds texts: search by words");
            const vectors = await this.embedding.embed(role, texts, signal);
            this.#do({ kind: "embedded", n: texts.length });
            if (!signal.aborted) await this.core.ask("watch/vectors", { run: this.run, id, vectors });
        } catch (error) {
            if (signal.aborted) return;
            const failure = error instanceof Error ? error.message : String(error);
            await this.core.ask("watch/vectors", { run: this.run, id, failure });
        }
    }

    #do(action: RunAction): void {
        this.store.dispatch(action);
    }
}

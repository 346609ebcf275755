// A run as it is seen: what was asked, what came back, who is waiting. No rendering.

import type {
    Heard, MethodCall, MethodItem, MethodOptions, MethodPreparation, MethodRecord, MethodResponse, Retrying, TextChange,
} from "../closeread_wasm.js";
import type { Answering, BookFacts, TheatreEvent } from "../messages/theatre.js";
import type { Session } from "../session.js";
import type { Embedder } from "./embedder.js";

export interface CallEntry {
    kind: "call";
    call: MethodCall;
    /** Waiting for the page, sent, or answered. */
    state: "waiting" | "sent" | "done";
    response?: MethodResponse;
    heard?: Heard;
    changes?: TextChange[];
    failure?: string;
    retrying?: Retrying;
}

export interface PreparedEntry {
    kind: "prepared";
    preparation: MethodPreparation;
}

export type Entry = CallEntry | PreparedEntry;

export interface Plan {
    book: BookFacts;
    nBytes: number;
    item: MethodItem;
    options: MethodOptions;
    /** Who replies; a person is asked call by call. */
    reader: Answering | { by: "person" };
}

/**
 * Events: "entry" when there is one more, "change" when one changed (`changed`), "state" when the run did, "embedded" when more
 * texts have vectors (`nEmbedded`).
 */
export class Play extends EventTarget {
    readonly entries: Entry[] = [];
    changed: CallEntry | undefined;
    record: MethodRecord | undefined;
    state: "running" | "ended" | "stopped" | "broken" = "running";
    playing = false;
    nEmbedded = 0;
    readonly #ending = new AbortController();
    #answering = false;

    constructor(readonly session: Session, readonly plan: Plan, readonly embedder: Embedder) {
        super();
    }

    /** Runs to the end; resolves then, whatever it is. */
    async run(): Promise<void> {
        const { book, item, options } = this.plan;
        await this.session.attempt(async () => {
            try {
                const tell = (event: TheatreEvent) => this.#hear(event);
                if (options.retriever !== "bm25") await this.embedder.check();
                this.record = await this.session.core.ask("theatre/run", { book, item, options },
                    { tell, signal: this.#ending.signal });
                this.state = "ended";
            } catch (error) {
                this.state = this.#ending.signal.aborted ? "stopped" : "broken";
                throw error;
            } finally {
                this.playing = false;
                this.dispatchEvent(new Event("state"));
            }
        });
    }

    /** The call that is answered next. */
    get next(): CallEntry | undefined {
        return this.entries.find((entry): entry is CallEntry => entry.kind === "call" && entry.state === "waiting");
    }

    get calls(): CallEntry[] {
        return this.entries.filter((entry): entry is CallEntry => entry.kind === "call");
    }

    /** Answers the next call, if there is one and none is being answered. */
    async step(text?: string): Promise<void> {
        const entry = this.next;
        const { reader } = this.plan;
        if (entry === undefined || this.#answering) return;
        const answering: Answering | undefined = reader.by === "person"
            ? text === undefined ? undefined : { by: "person", text }
            : reader;
        if (answering === undefined) return;
        this.#answering = true;
        await this.session.attempt(() => this.#answer(entry, answering));
        this.#answering = false;
        if (this.playing && this.state === "running") void this.step();
    }

    /** Answers every call as it comes. */
    play(): void {
        this.playing = true;
        this.dispatchEvent(new Event("state"));
        void this.step();
    }

    pause(): void {
        this.playing = false;
        this.dispatchEvent(new Event("state"));
    }

    stop(): void {
        this.playing = false;
        this.#ending.abort();
    }

    async #answer(entry: CallEntry, answering: Answering): Promise<void> {
        entry.state = "sent";
        this.#say(entry);
        const tell = (retrying: Retrying) => {
            entry.retrying = retrying;
            this.#say(entry);
        };
        try {
            const answered = await this.session.core.ask("theatre/answer", { call: entry.call.id, answering },
                { tell, signal: this.#ending.signal });
            entry.state = "done";
            Object.assign(entry, answered);
        } catch (error) {
            // It was not sent: the reader can be corrected and the call sent again.
            entry.state = "waiting";
            this.playing = false;
            throw error;
        } finally {
            entry.retrying = undefined;
            this.#say(entry);
            this.dispatchEvent(new Event("state"));
        }
    }

    #hear(event: TheatreEvent): void {
        if (event.kind === "embed") return void this.#embed(event);
        this.entries.push(event.kind === "call" ? { kind: "call", call: event.call, state: "waiting" } : event);
        this.dispatchEvent(new Event("entry"));
        if (this.playing) void this.step();
    }

    async #embed({ id, role, texts }: Extract<TheatreEvent, { kind: "embed" }>): Promise<void> {
        const { core } = this.session;
        const { signal } = this.#ending;
        try {
            const vectors = await this.embedder.embed(role, texts, signal);
            this.nEmbedded += texts.length;
            this.dispatchEvent(new Event("embedded"));
            if (!signal.aborted) await core.ask("theatre/vectors", { id, vectors });
        } catch (error) {
            if (signal.aborted) return;
            await core.ask("theatre/vectors", { id, failure: error instanceof Error ? error.message : String(error) });
        }
    }

    #say(entry: CallEntry): void {
        this.changed = entry;
        this.dispatchEvent(new Event("change"));
    }
}

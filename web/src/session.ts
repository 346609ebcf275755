// What the views share: the open book, the question, the worker.

import { Core } from "./core.js";
import { shipped, type ModelSource } from "./encoder/model.js";
import type { Facts } from "./messages/book.js";
import { textOf, type Item, type Work } from "./sample.js";
import { inLanguage } from "./words/index.js";
import * as words from "./words/app.js";

export interface OpenBook {
    name: string;
    bytes: Uint8Array;
    facts: Facts;
    /** Where it is one of the sample's works. */
    work: Work | undefined;
}

/** Events: "book" and "model" when another one is open or embeds, "question" when another is asked, "status" and "problem" for the page's two lines. */
export type SessionEvent = "book" | "model" | "question" | "status" | "problem";

export class Session extends EventTarget {
    readonly core = new Core();
    book: OpenBook | undefined;
    /** The question, and the sample's item that it is from. */
    question: { text: string; item: Item | undefined } = { text: "", item: undefined };
    status = "";
    problem = "";
    /** What views keep while the language changes or another view is shown, by a name of their own. */
    readonly kept = new Map<string, unknown>();
    #model = shipped;
    #opening = 0;
    #prepared: Promise<void> | undefined;

    /** Hears an event for as long as `section` is part of the page. */
    listen(section: HTMLElement, event: SessionEvent, action: () => void): void {
        const heard = () => (section.isConnected ? action() : this.removeEventListener(event, heard));
        this.addEventListener(event, heard);
    }

    /** What embeds, in every view. */
    get model(): ModelSource {
        return this.#model;
    }

    set model(model: ModelSource) {
        this.#model = model;
        this.dispatchEvent(new Event("model"));
    }

    /** Something is about to be opened: what that takes is fetched meanwhile. */
    prepare(): void {
        this.#prepared ??= this.core.ask("book/prepare", {}).catch(() => (this.#prepared = undefined));
    }

    openFile(file: File): Promise<void> {
        return this.open(file.name, async () => new Uint8Array(await file.arrayBuffer()));
    }

    openWork(work: Work): Promise<void> {
        return this.open(work.title, () => textOf(work), work);
    }

    /** Opens a book; one that cannot be read is said, and the book before it stays. */
    open(name: string, read: () => Promise<Uint8Array>, work?: Work): Promise<void> {
        const mine = ++this.#opening;
        return this.attempt(async () => {
            const { reading, opened, kept, noBook } = inLanguage(words);
            this.say(reading(name));
            try {
                const bytes = await read();
                const facts = await this.core.ask("book/open", { id: work?.id ?? name, bytes });
                if (mine !== this.#opening) return;
                this.book = { name, bytes, facts, work };
                this.ask("", undefined);
                this.say(opened(name, facts));
                this.dispatchEvent(new Event("book"));
            } catch (error) {
                this.say(this.book === undefined ? noBook : kept);
                throw error;
            }
        });
    }

    ask(text: string, item: Item | undefined): void {
        this.question = { text, item };
        this.dispatchEvent(new Event("question"));
    }

    /** What is going on, read out politely. */
    say(status: string): void {
        this.status = status;
        this.dispatchEvent(new Event("status"));
    }

    /** Does something; what goes wrong is shown. */
    async attempt(action: () => void | Promise<void>): Promise<void> {
        this.#complain("");
        try {
            await action();
        } catch (error) {
            if (error instanceof Error && error.name === "AbortError") return;
            this.#complain(error instanceof Error ? error.message : String(error));
        }
    }

    #complain(problem: string): void {
        this.problem = problem;
        this.dispatchEvent(new Event("problem"));
    }
}

// What the views do together: open books, ask, go somewhere. What they know is in `state`.

import { Core } from "./core.js";
import { digest, shipped, type ModelSource } from "./encoder/model.js";
import { Models } from "./model/models.js";
import { keepBook, keptBook } from "./recent.js";
import type { Item } from "./closeread_wasm.js";
import { sample, works, textOf, type Work } from "./sample.js";
import { addressHash, parseAddress, type Address } from "./state/address.js";
import { initialApp, reduceApp, type AppAction, type AppState, type OpenBook, type Question } from "./state/app.js";
import { Store } from "./state/store.js";
import { inLanguage, language, setLanguage, type Language } from "./words/index.js";
import * as words from "./words/app.js";

export type { OpenBook } from "./state/app.js";

/** Events: "book" and "model" when another one is open or embeds, "question" when another is asked. */
export type SessionEvent = "book" | "model" | "question";

/** Hexadecimal digits of a hash that stand in an address. */
const KEY = 16;

export class Session extends EventTarget {
    readonly core = new Core();
    readonly models = new Models(this.core);
    readonly store = new Store<AppState, AppAction>(reduceApp, initialApp(parseAddress(location.hash), language()));
    /** What views keep while the language changes or another view is shown, by a name of their own. */
    readonly kept = new Map<string, unknown>();
    #model = shipped;
    #opening = 0;
    #arrival = 0;
    #prepared: Promise<void> | undefined;

    constructor() {
        super();
        addEventListener("popstate", () => this.#arrive());
        this.#arrive();
    }

    get book(): OpenBook | undefined {
        return this.store.state.book;
    }

    get question(): Question {
        return this.store.state.question;
    }

    get address(): Address {
        return this.store.state.address;
    }

    /** Hears an event for as long as `section` is part of the page. */
    listen(section: HTMLElement, event: SessionEvent, action: () => void): void {
        const changed = () => (section.isConnected ? action() : this.removeEventListener(event, changed));
        this.addEventListener(event, changed);
    }

    /** What embeds, in every view. */
    get model(): ModelSource {
        return this.#model;
    }

    set model(model: ModelSource) {
        this.#model = model;
        this.dispatchEvent(new Event("model"));
    }

    /** Goes to an address: a step that Back takes back, or in the place of the present one. */
    go(address: Partial<Address> & { view: Address["view"] }, how: "push" | "replace" = "push"): void {
        const hash = addressHash(address);
        if (hash !== location.hash) history[how === "push" ? "pushState" : "replaceState"](null, "", hash);
        this.store.dispatch({ kind: "went", address: parseAddress(hash) });
    }

    /** Changes the query of the present address; an empty value leaves its key out. */
    put(query: Record<string, string>, how: "push" | "replace" = "push"): void {
        const { view, path, query: before } = this.address;
        this.go({ view, path, query: { ...before, ...query } }, how);
    }

    /** Something is about to be opened: what that takes is fetched meanwhile. */
    prepare(): void {
        this.#prepared ??= this.core.ask("book/prepare", {}).catch(() => (this.#prepared = undefined));
    }

    openFile(file: File): Promise<void> {
        return this.open(file.name, async () => new Uint8Array(await file.arrayBuffer()));
    }

    /** Files that came with one that is opened are named until the next is opened. */
    leave(names: readonly string[]): void {
        this.store.dispatch({ kind: "left", names });
    }

    openWork(work: Work): Promise<void> {
        return this.open(work.title, () => textOf(work), { work });
    }

    /** Opens the book of an address: a work of the sample, or one that this browser keeps. */
    async openKey(key: string): Promise<void> {
        const mine = ++this.#opening;
        const work = (await works()).find(({ id }) => id === key);
        const kept = work ? undefined : await keptBook(key);
        if (mine !== this.#opening) return;
        const arrived = { arrived: true };
        if (work) return this.open(work.title, () => textOf(work), { work, ...arrived });
        if (kept) return this.open(kept.name, async () => kept.bytes, arrived);
        this.store.dispatch({ kind: "kept" });
        this.#complain(inLanguage(words).notHere);
    }

    /** Opens a book; one that cannot be read is said, and the book before it stays. `arrived`: the address names it already. */
    open(name: string, read: () => Promise<Uint8Array>, { work, arrived = false }: { work?: Work; arrived?: boolean } = {}): Promise<void> {
        const mine = ++this.#opening;
        return this.attempt(async () => {
            const { reading, opened, kept, noBook } = inLanguage(words);
            this.store.dispatch({ kind: "opening", name });
            this.say(reading(name));
            try {
                const bytes = await read();
                const hash = work ? undefined : await digest(bytes);
                if (mine !== this.#opening) return;
                const { facts, chapters } = await this.core.ask("book/open", { id: work?.id ?? name, bytes });
                if (mine !== this.#opening) return;
                // What is asked from here on is about this book.
                void this.core.ask("book/show", {});
                const title = work?.title ?? (facts.title || name.replace(/\.(txt|md|epub|html?|docx)$/i, ""));
                const book = { key: work?.id ?? hash?.slice(0, KEY) ?? "", name, title, bytes, facts, chapters, work };
                this.store.dispatch({ kind: "opened", book });
                // The address may have waited for this file, with a question about it.
                const awaited = !arrived && this.address.query.b === book.key;
                if (!arrived && !awaited) this.put({ b: book.key, q: "" });
                this.say(opened(title, facts));
                this.dispatchEvent(new Event("book"));
                if (awaited) void this.#arrive();
                const { language, nTokens } = facts;
                if (hash) void this.#keep(book.key, { hash, name, title, language, nTokens, bytes, opened: Date.now() });
                // By plain http there are no hashes, and books are kept by them.
                else if (!work) this.store.dispatch({ kind: "unkept", key: name });
            } catch (error) {
                if (mine !== this.#opening) return;
                this.store.dispatch({ kind: "kept" });
                this.say(this.book === undefined ? noBook : kept);
                throw error;
            }
        });
    }

    /** Keeps a book for the next visit; one that the browser does not keep is said for as long as it is open. */
    async #keep(key: string, book: Parameters<typeof keepBook>[0]): Promise<void> {
        const isKept = await keepBook(book);
        if (!isKept && key === this.book?.key) this.store.dispatch({ kind: "unkept", key });
    }

    /** Asks a question; the address has it: an item by its id, another by its words. */
    ask(text: string, item: Item | undefined, how: "push" | "replace" = "push"): void {
        this.#asked({ text, item });
        // The address may name a book that is not here.
        this.put({ ...(this.book && { b: this.book.key }), q: item?.id ?? text }, how);
    }

    #asked(question: Question): void {
        this.store.dispatch({ kind: "asked", question });
        this.dispatchEvent(new Event("question"));
    }

    speak(to: Language): void {
        setLanguage(to);
        document.documentElement.lang = to;
        this.store.dispatch({ kind: "spoke", language: to });
        if (this.book) this.say(inLanguage(words).opened(this.book.title, this.book.facts));
    }

    /** What is going on, read out politely. */
    say(status: string): void {
        this.store.dispatch({ kind: "said", status });
    }

    /** Copies a text to the clipboard; a page that may not, such as one by plain http, says so. */
    async copy(text: string): Promise<void> {
        try {
            await navigator.clipboard.writeText(text);
        } catch {
            throw new Error(inLanguage(words).notCopied);
        }
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

    /** Takes the message of what went wrong away. */
    dismiss(): void {
        this.#complain("");
        this.store.dispatch({ kind: "unkept", key: "" });
        this.leave([]);
    }

    #complain(problem: string): void {
        this.store.dispatch({ kind: "failed", problem });
    }

    /** Follows an address that was loaded, typed or gone back to. */
    async #arrive(): Promise<void> {
        const mine = ++this.#arrival;
        const address = parseAddress(location.hash);
        this.store.dispatch({ kind: "went", address });
        if (address.view === "runs") return;
        const { b = "", q = "" } = address.query;
        if (b !== "" && b !== this.book?.key) await this.openKey(b);
        const items = q === "" ? [] : (await sample()).items;
        if (mine !== this.#arrival || b !== (this.book?.key ?? "")) return;
        const item = items.find(({ id, documents }) => id === q && documents[0] === b);
        const asked = this.question.item?.id ?? this.question.text;
        if (q !== asked) this.#asked({ text: item?.question ?? q, item });
    }
}

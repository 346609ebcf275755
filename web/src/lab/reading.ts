// A passage in its place: the file's own text around it.

import { button, foreign, make } from "../dom.js";
import type { Session } from "../session.js";
import type { Words } from "../words/lab.js";
import type { Stand } from "./strip.js";

/** Bytes on each side, at first. */
const MARGIN = 2000;

export class Reading {
    readonly element = make("section", { class: "reading card", id: "reading", "aria-labelledby": "reading-heading", hidden: "" });
    readonly #heading = make("h3", { id: "reading-heading", tabindex: "-1" });
    readonly #facts = make("p", { class: "facts" });
    readonly #text = make("div", { class: "page foreign book-text", dir: "auto", tabindex: "0", role: "group", "aria-labelledby": "reading-heading" });
    readonly #session: Session;
    readonly #words: Words;
    readonly #moved: (read: Stand | undefined) => void;
    #read: (Stand & { index: number }) | undefined;
    #margin = MARGIN;
    #before: Element | null = null;

    /** `moved` is told what is read. */
    constructor(session: Session, words: Words, moved: (read: Stand | undefined) => void) {
        this.#session = session;
        this.#words = words;
        this.#moved = moved;
        const wider = () => {
            this.#margin *= 3;
            session.attempt(() => this.#show());
        };
        this.element.append(this.#heading, this.#facts, this.#text, make("p", {},
            button(words.wider, wider), " ", button(words.close, () => this.close(), { id: "close-reading" })));
        this.element.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    }

    async open(place: Stand & { index: number }): Promise<void> {
        this.#before = document.activeElement;
        [this.#read, this.#margin] = [place, MARGIN];
        await this.#show();
        this.#moved(place);
        this.#heading.focus();
    }

    close(): void {
        if (this.element.hidden) return;
        this.element.hidden = true;
        this.#moved(undefined);
        if (this.#before instanceof HTMLElement && this.#before.isConnected) this.#before.focus();
    }

    async #show(): Promise<void> {
        if (this.#read === undefined) return;
        const { start, end, index } = this.#read;
        const { stretches } = await this.#session.core.ask("lab/read", { start, end, margin: this.#margin });
        this.#heading.textContent = this.#words.reading(index + 1);
        this.#facts.textContent = this.#words.readingFacts(start, end);
        this.#text.replaceChildren(...stretches.map(({ text, passage, evidence }) => {
            const part = foreign(passage ? "mark" : "span", text);
            part.removeAttribute("dir");
            part.classList.toggle("gold", evidence);
            return part;
        }));
        this.element.hidden = false;
        // Where a pane scrolls by itself, its passage is what it shows.
        const mark = this.#text.querySelector("mark");
        if (mark) this.#text.scrollTop = mark.offsetTop - this.#text.offsetTop - this.#text.clientHeight / 3;
    }
}

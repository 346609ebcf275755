// The same passages in two orders, side by side.

import type { Retrieved } from "../closeread_books.js";
import { button, foreign, make } from "../dom.js";
import type { Words } from "../words/lab.js";
import type { Stand } from "./strip.js";

export type Place = Retrieved["passages"][number];

/** Passages that a column shows at first, and with each click on "more". */
export const SHOWN = 40;

export class Columns {
    readonly element = make("div", { class: "orders" });
    readonly #byScore = make("ol", { id: "by-score" });
    readonly #byDocument = make("ol", { id: "by-document" });
    readonly #more: HTMLButtonElement;
    readonly #words: Words;
    readonly #open: (passage: Place) => void;

    /** `open` shows a passage in the book, `more` asks for longer columns. */
    constructor(words: Words, open: (passage: Place) => void, more: () => void) {
        this.#words = words;
        this.#open = open;
        const column = (heading: string, note: string, list: HTMLElement) => make("section", {},
            make("h3", {}, `${heading} `, make("small", {}, note)), list);
        this.#more = button("", more, { id: "more" });
        this.element.append(
            column(words.byScore, words.byScoreNote, this.#byScore),
            column(words.byDocument, words.byDocumentNote, this.#byDocument),
            this.#more,
        );
    }

    /** `left` passages of each are not listed. */
    show(byScore: Place[], byDocument: Place[], left: number, texts: Map<number, string>, evidence: Stand[], nBytes: number): void {
        for (const [list, places] of [[this.#byScore, byScore], [this.#byDocument, byDocument]] as const) {
            list.replaceChildren(...places.map((place) => this.#card(place, texts, evidence, nBytes)));
        }
        this.#more.hidden = left <= 0;
        this.#more.textContent = this.#words.more(Math.min(left, SHOWN));
    }

    #card(place: Place, texts: Map<number, string>, evidence: Stand[], nBytes: number): HTMLLIElement {
        const number = place.index + 1;
        const gold = evidence.some((span) => span.start < place.end && place.start < span.end);
        const facts = make("p", { class: "facts" }, this.#words.passage(number, place.start / nBytes, place.score, place.tokens));
        if (gold) facts.append(" ", make("strong", { class: "badge" }, this.#words.holdsEvidence));
        const show = button(this.#words.inBook, () => this.#open(place), { class: "quiet", "aria-label": this.#words.inBookOf(number) });
        const item = make("li", { class: gold ? "card gold" : "card", "data-passage": String(place.index) },
            facts, foreign("p", texts.get(place.index) ?? "", { class: "book-text" }), show);
        return item;
    }
}

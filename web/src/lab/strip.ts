// The whole book as a strip: retrieved passages above, gold evidence below, the passage being read as a frame.

import { make } from "../dom.js";
import type { Words } from "../words/lab.js";
import { at, draw } from "./drawing.js";

export interface Stand {
    start: number;
    end: number;
}

const [WIDTH, UPPER, LOWER] = [1000, 24, 12];

export class Strip {
    readonly element = make("div", { class: "strip" });
    readonly #svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${UPPER + LOWER}`, preserveAspectRatio: "none", role: "img" });
    readonly #retrieved = draw("path", { class: "retrieved" });
    readonly #evidence = draw("path", { class: "evidence", fill: "url(#hatch)" });
    readonly #read = draw("path", { class: "read" });
    readonly #key: HTMLElement;
    readonly #words: Words;
    #nBytes = 1;

    /** `open` is called with the byte that was clicked at. */
    constructor(words: Words, open: (byte: number) => void) {
        this.#words = words;
        const hatch = draw("pattern", { id: "hatch", width: "5", height: "5", patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
            draw("rect", { width: "5", height: "5", class: "under" }), draw("rect", { width: "2.5", height: "5", class: "stroke" }));
        this.#svg.append(draw("defs", {}, hatch), this.#retrieved, this.#evidence, this.#read);
        this.#svg.addEventListener("click", (event) => {
            const { left, width } = this.#svg.getBoundingClientRect();
            open(Math.round(((event.clientX - left) / width) * this.#nBytes));
        });
        const swatch = (kind: string) => make("span", { class: `swatch ${kind}` });
        this.#key = make("span", { class: "evidence-key" }, swatch("evidence"), words.evidence);
        this.element.append(this.#svg, make("p", { class: "ends", "aria-hidden": "true" },
            make("span", {}, words.start), make("span", {}, swatch("retrieved"), words.retrieved), this.#key, make("span", {}, words.end)));
    }

    /** `retrieved` is what the `n` passages cover. */
    show(retrieved: Stand[], n: number, evidence: Stand[], nBytes: number): void {
        this.#nBytes = nBytes;
        this.#retrieved.setAttribute("d", retrieved.map((span) => this.#bar(span, 0, UPPER, 1.5)).join(""));
        this.#evidence.setAttribute("d", evidence.map((place) => this.#bar(place, UPPER, LOWER, 6)).join(""));
        this.#svg.setAttribute("aria-label", this.#words.mapLabel(n, evidence.length));
        this.#key.hidden = evidence.length === 0;
    }

    mark(read: Stand | undefined): void {
        this.#read.setAttribute("d", read === undefined ? "" : this.#bar(read, 0, UPPER + LOWER, 3));
    }

    #bar({ start, end }: Stand, top: number, height: number, least: number): string {
        const x = (WIDTH * start) / this.#nBytes;
        const width = Math.max(least, (WIDTH * (end - start)) / this.#nBytes);
        return `M${at(x)} ${top}h${at(width)}v${height}h-${at(width)}z`;
    }
}

// Evidence recall over the budget, with the slider's place marked; the numbers are in a table below.

import type { RecallAt } from "../closeread_books.js";
import { make, table } from "../dom.js";
import { shown } from "../words/index.js";
import type { Words } from "../words/lab.js";
import { at, draw } from "./drawing.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [640, 180, 46, 28, 8];

export class Curve {
    readonly element = make("section", { class: "curve", hidden: "" });
    readonly #svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    readonly #numbers = make("div", { class: "scroll" });
    readonly #line = draw("path", { class: "line" });
    readonly #here = draw("path", { class: "here" });
    readonly #dot = draw("circle", { class: "dot", r: "5" });
    readonly #axes = draw("g", { class: "axes" });
    readonly #words: Words;
    #curve: RecallAt[] = [];

    constructor(words: Words) {
        this.#words = words;
        this.#svg.append(this.#axes, this.#line, this.#here, this.#dot);
        this.element.append(make("h3", {}, words.curve), this.#svg,
            make("details", {}, make("summary", {}, words.curveTable), this.#numbers));
    }

    /** One point a budget of the slider; nothing is shown where no evidence is known. */
    show(curve: RecallAt[]): void {
        this.#curve = curve;
        this.element.hidden = curve.length === 0 || curve[0]?.recall === null;
        if (this.element.hidden) return;
        this.#line.setAttribute("d", curve.map(({ recall }, n) => `${n === 0 ? "M" : "L"}${this.#x(n)} ${this.#y(recall ?? 0)}`).join(""));
        const levels = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
            draw("path", { d: `M${LEFT} ${this.#y(share)}H${WIDTH}` }),
            draw("text", { x: String(LEFT - 6), y: this.#y(share), class: "end" }, this.#words.percent(share)),
        ]);
        const every = Math.max(1, Math.ceil(curve.length / 8));
        const ticks = curve.flatMap(({ budget }, n) => n % every === 0 && n < curve.length - every / 2
            ? [draw("text", { x: this.#x(n), y: String(HEIGHT - 8), class: n === 0 ? "" : "middle" }, shown(budget))] : []);
        this.#axes.replaceChildren(...levels, ...ticks);
        this.#numbers.replaceChildren(table(this.#words.curve, [this.#words.budgetColumn, this.#words.recallColumn],
            curve.map(({ budget, recall }) => [shown(budget), this.#words.percent(recall ?? 0)])));
    }

    /** Marks the slider's place. */
    mark(budget: number): void {
        const n = this.#curve.findIndex((point) => point.budget === budget);
        const recall = this.#curve[n]?.recall;
        if (recall === undefined || recall === null) return;
        this.#here.setAttribute("d", `M${this.#x(n)} ${TOP}V${HEIGHT - BOTTOM}`);
        this.#dot.setAttribute("cx", this.#x(n));
        this.#dot.setAttribute("cy", this.#y(recall));
        this.#svg.setAttribute("aria-label", this.#words.curveLabel(budget, recall));
    }

    #x(n: number): string {
        return at(LEFT + ((WIDTH - LEFT - 8) * n) / Math.max(1, this.#curve.length - 1));
    }

    #y(share: number): string {
        return at(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * share);
    }
}

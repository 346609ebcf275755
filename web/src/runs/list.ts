// The list of trials: a hundred thousand lines, of which only those in sight are elements.

import type { TrialLine } from "../closeread_wasm.js";
import { make } from "../dom.js";
import { percent } from "../percent.js";
import { inLanguage, shown } from "../words/index.js";
import * as words from "../words/runs.js";
import { shownText, visible } from "./text.js";

/** Pixels of a line: fixed, so that a place in the list is a number. */
const HEIGHT = 56;
/** Lines that are fetched together. */
const PAGE = 200;
/** Lines beyond the edges that are drawn. */
const MARGIN = 6;

export class TrialsInSight {
    readonly element = make("div", { class: "trial-list card", role: "listbox", tabindex: "0" });
    readonly #inner = make("div", { class: "trial-list-inner", role: "presentation" });
    readonly #pages = new Map<number, TrialLine[] | "asked">();
    #numbers: Uint32Array = new Uint32Array();
    #active = -1;
    #waiting = false;
    #generation = 0;

    /** `fetchLines` gets lines by their numbers; `chosen` hears the number of a line that is opened. */
    constructor(
        private readonly cells: string[],
        private readonly fetchLines: (numbers: Uint32Array) => Promise<TrialLine[]>,
        private readonly chosen: (number: number, byKey: boolean) => void,
    ) {
        this.element.setAttribute("aria-label", inLanguage(words).trials);
        this.element.append(this.#inner);
        this.element.addEventListener("scroll", () => this.#soon());
        this.element.addEventListener("keydown", (event) => this.#key(event));
        this.element.addEventListener("click", (event) => {
            const line = (event.target as Element).closest<HTMLElement>("[role=option]");
            if (line?.dataset.place !== undefined) this.#choose(Number(line.dataset.place), false);
        });
        new ResizeObserver(() => this.#soon()).observe(this.element);
    }

    /** Other lines, from the first. */
    show(numbers: Uint32Array): void {
        this.#generation += 1;
        this.#numbers = numbers;
        this.#pages.clear();
        this.#active = -1;
        this.#inner.style.height = `${numbers.length * HEIGHT}px`;
        this.element.scrollTop = 0;
        this.element.hidden = numbers.length === 0;
        this.#soon();
    }

    /** Marks the line of the trial that is open, and brings it into sight. */
    mark(place: number): void {
        if (place === this.#active) return;
        this.#active = place;
        this.#bring(place);
        this.#draw();
    }

    #bring(place: number): void {
        const [above, below] = [place * HEIGHT, (place + 1) * HEIGHT - this.element.clientHeight];
        if (this.element.scrollTop > above) this.element.scrollTop = above;
        if (this.element.scrollTop < below) this.element.scrollTop = below;
    }

    #soon(): void {
        if (this.#waiting) return;
        this.#waiting = true;
        requestAnimationFrame(() => {
            this.#waiting = false;
            this.#draw();
        });
    }

    #draw(): void {
        const top = Math.max(0, Math.floor(this.element.scrollTop / HEIGHT) - MARGIN);
        const end = Math.min(this.#numbers.length, Math.ceil((this.element.scrollTop + this.element.clientHeight) / HEIGHT) + MARGIN);
        const lines: HTMLElement[] = [];
        for (let place = top; place < end; place++) lines.push(this.#line(place));
        this.#inner.replaceChildren(...lines);
        const active = this.#inner.querySelector(`#trial-${this.#active}`);
        if (active) this.element.setAttribute("aria-activedescendant", active.id);
        else this.element.removeAttribute("aria-activedescendant");
    }

    #line(place: number): HTMLElement {
        const element = make("div", {
            id: `trial-${place}`,
            role: "option",
            class: "trial",
            "data-place": String(place),
            "aria-posinset": String(place + 1),
            "aria-setsize": String(this.#numbers.length),
            "aria-selected": String(place === this.#active),
        });
        element.style.top = `${place * HEIGHT}px`;
        const line = this.#at(place);
        if (line === undefined) element.append("…");
        else element.append(...content(line, this.cells));
        return element;
    }

    #at(place: number): TrialLine | undefined {
        const page = Math.floor(place / PAGE);
        const lines = this.#pages.get(page);
        if (lines === undefined) {
            this.#pages.set(page, "asked");
            const mine = this.#generation;
            this.fetchLines(this.#numbers.slice(page * PAGE, (page + 1) * PAGE)).then(
                (fetched) => {
                    if (mine !== this.#generation) return;
                    this.#pages.set(page, fetched);
                    this.#soon();
                },
                () => this.#pages.delete(page),
            );
        }
        return lines === undefined || lines === "asked" ? undefined : lines[place - page * PAGE];
    }

    #key(event: KeyboardEvent): void {
        const rows = Math.max(1, Math.floor(this.element.clientHeight / HEIGHT) - 1);
        const last = this.#numbers.length - 1;
        const moves: Record<string, number> = {
            ArrowDown: this.#active + 1,
            ArrowUp: this.#active - 1,
            PageDown: this.#active + rows,
            PageUp: this.#active - rows,
            Home: 0,
            End: last,
        };
        if (event.key === "Enter" && this.#active >= 0) return this.#choose(this.#active, true);
        const to = moves[event.key];
        if (to === undefined) return;
        event.preventDefault();
        const place = Math.min(last, Math.max(0, to));
        this.#bring(place);
        this.#active = place;
        this.#draw();
    }

    #choose(place: number, byKey: boolean): void {
        this.#active = place;
        this.#draw();
        const number = this.#numbers[place];
        if (number !== undefined) this.chosen(number, byKey);
    }
}

function content({ item, question, cell, repeat, outcome, said, scores, verdict }: TrialLine, cells: string[]): Node[] {
    const say = inLanguage(words);
    const score = Object.entries(scores)
        .filter(([name]) => name !== "evidence_recall")
        .map(([name, value]) => `${name} ${percent(value)}`);
    const which = `${cells[cell] ?? ""}${repeat > 0 ? `, ${say.repeat(shown(repeat + 1))}` : ""}`;
    return [
        ...(verdict ? [make("span", { class: `verdict ${verdict}`, role: "img", "aria-label": say[verdict] })] : []),
        make(
            "span",
            { class: "trial-head" },
            shownText("strong", item),
            " ",
            shownText("span", which, { class: "note" }),
            " ",
            make("span", { class: `outcome ${outcome}` }, say.outcome(outcome)),
            " ",
            make("span", { class: "note" }, visible(score.join(", "))),
        ),
        make("span", { class: "trial-words" }, shownText("span", question), said === "" ? "" : " → ", shownText("span", said)),
    ];
}

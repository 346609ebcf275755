// <closeread-scorer gold="items.jsonl">: drop a file of predictions, see its scores. Nothing leaves the page.

import type { Problem, Scorecard } from "./closeread_scorer.js";
import { make, table } from "../dom.js";
import { percent } from "../percent.js";
import { csv, save, styled } from "./dom.js";
import { fetched, findable } from "./files.js";
import { LEDGER, metricNames, score, scoringOf } from "./scoring.js";
import { words } from "./words.js";

/** Endings of items that no row of the file is about. */
const NOT_PREDICTED = new Set<string>(["missing", "no_gold", "not_asked"]);
/** Rows that a table shows; the JSON has all. */
const MAX_ROWS = 50;

class Scorer extends HTMLElement {
    /** What decides the scores: a change of one scores the last file anew. */
    static readonly observedAttributes = ["gold", "metrics", "by", "chinese", "format", "task", "system"];
    readonly #root = styled(this, ":host(.dropping) { outline: 3px dashed var(--mark); outline-offset: -6px; }");
    readonly #status = make("p", { role: "status" });
    readonly #problem = make("p", { role: "alert", class: "problem" });
    readonly #result = make("div", { class: "scroll" });
    /** Counts files, so that a late score does not replace a newer one. */
    #asked = 0;
    #file: File | undefined;
    /** The address of the gold answers that was asked for before there was a file. */
    #checked: string | undefined;
    readonly #example = make("button", { type: "button", id: "example" });

    attributeChangedCallback(): void {
        this.#example.hidden = this.hasAttribute("format");
        const asked = this.#asked;
        // Several attributes may change at once.
        queueMicrotask(() => asked === this.#asked && (this.#file ? this.#take(this.#file) : this.#check()));
    }

    connectedCallback(): void {
        if (this.#root.childElementCount > 0) return;
        const file = make("input", { type: "file", id: "file", accept: ".jsonl,.json,.csv,.txt" });
        // The same file may be chosen again, corrected.
        file.addEventListener("click", () => (file.value = ""));
        file.addEventListener("change", () => file.files?.[0] && this.#take(file.files[0]));
        const [say, example] = [words(this), this.#example];
        example.textContent = say.example;
        example.addEventListener("click", () => this.#saveExample());
        this.#root.append(make("p", {}, make("label", { for: "file" }, say.predictions), " ", file, " ", example), this.#status, this.#problem, this.#result);
        this.addEventListener("dragover", (event) => {
            event.preventDefault();
            this.classList.add("dropping");
        });
        this.addEventListener("dragleave", () => this.classList.remove("dropping"));
        this.addEventListener("drop", (event) => {
            event.preventDefault();
            this.classList.remove("dropping");
            const dropped = event.dataTransfer?.files[0];
            if (dropped) this.#take(dropped);
        });
        this.#check();
    }

    #gold(): string | undefined {
        const at = this.getAttribute("gold")?.trim();
        return at ? new URL(at, document.baseURI).href : undefined;
    }

    /** Says that the gold answers are not where they are said to be, before there is a file to score. */
    async #check(): Promise<void> {
        if (!this.isConnected || this.#checked === this.getAttribute("gold")) return;
        this.#checked = this.getAttribute("gold") ?? undefined;
        this.#problem.textContent = "";
        const [checked, asked] = [this.#checked, this.#asked];
        try {
            const gold = this.#gold();
            if (gold) await findable(gold, words(this));
        } catch (error) {
            if (checked === this.#checked && asked === this.#asked) this.#problem.textContent = error instanceof Error ? error.message : String(error);
        }
    }

    /** A file as predictions are to be: an id of each item, with an answer to be put in. */
    async #saveExample(): Promise<void> {
        const say = words(this);
        this.#problem.textContent = "";
        try {
            const { content } = await fetched(new URL(this.getAttribute("gold")?.trim() || "items.jsonl", document.baseURI).href, say);
            const text = new TextDecoder().decode(content as Uint8Array).trim();
            const lines = text.split("\n").filter((line) => line.trim() !== "");
            // The scorer takes an array, too.
            const items = JSON.parse(text.startsWith("[") ? text : `[${lines.join(",")}]`) as { id: string; task?: string | null; options?: unknown }[];
            save(
                "predictions.jsonl",
                items
                    .map(
                        ({ id, task, options }) =>
                            `${JSON.stringify((task ?? (options ? "choice" : "")) === "choice" ? { item: id, choice: 0 } : { item: id, answer: say.yourAnswer })}\n`,
                    )
                    .join(""),
                "application/jsonl",
            );
        } catch (error) {
            this.#problem.textContent = error instanceof Error ? error.message : String(error);
        }
    }

    async #take(file: File): Promise<void> {
        const say = words(this);
        const mine = ++this.#asked;
        this.#file = file;
        this.#problem.textContent = "";
        this.#status.textContent = say.scoring;
        this.#result.replaceChildren();
        try {
            const at = this.#gold();
            const gold = at ? await fetched(at, say) : undefined;
            const predictions = { name: file.name, content: new Uint8Array(await file.arrayBuffer()) };
            const json = await score(gold, predictions, scoringOf(this), say);
            if (mine === this.#asked) this.#show(json, file.name);
        } catch (error) {
            if (mine !== this.#asked) return;
            this.#status.textContent = "";
            this.#problem.textContent = error instanceof Error ? error.message : String(error);
        }
    }

    #show(json: string, name: string): void {
        const [say, card] = [words(this), JSON.parse(json) as Scorecard];
        const { ledger } = card;
        const problems = [...ledger.problems.malformed_rows, ...ledger.problems.unknown_ids, ...ledger.problems.duplicate_ids].sort(
            (a, b) => (a.line ?? 0) - (b.line ?? 0),
        );
        const used = LEDGER.filter((ending) => !NOT_PREDICTED.has(ending)).reduce((sum, ending) => sum + ledger[ending], 0);
        if (used === 0) {
            // A table of zeros would look like a score.
            this.#status.textContent = "";
            this.#problem.textContent = say.nothingUsable(name);
            return this.#result.replaceChildren(...(problems.length > 0 ? [this.#rows(problems)] : []));
        }
        this.#status.textContent = card.complete ? say.complete(card.n) : say.incomplete(ledger.missing, card.n);
        this.#problem.textContent = problems.length > 0 ? say.problems(count(problems)) : "";
        const scores = metricNames(card).map((metric) => {
            const { value, low, high, n } = card.metrics[metric]!;
            return [metric, percent(value), `[${percent(low)}, ${percent(high)}]`, String(n)];
        });
        const ended = LEDGER.filter((outcome) => ledger[outcome] > 0).map((outcome) => [outcome, String(ledger[outcome])]);
        this.#result.replaceChildren(
            table(say.scores, [say.metric, say.score, say.interval, say.over], scores),
            table(say.ledger, [say.outcome, say.items], ended),
        );
        if (problems.length > 0) this.#result.append(this.#rows(problems));
        if (card.notes.length > 0) {
            this.#result.append(make("h3", {}, say.notes), make("ul", {}, ...card.notes.map((note) => make("li", {}, note))));
        }
        this.#result.append(this.#items(card, name));
        const link = make(
            "a",
            {
                download: `${name}.scores.json`,
                href: URL.createObjectURL(new Blob([`${json}\n`], { type: "application/json" })),
            },
            say.download,
        );
        this.#result.append(make("p", {}, link));
        this.dispatchEvent(new CustomEvent("scored", { detail: card, bubbles: true, composed: true }));
    }

    /** Every item with its ending and scores, those that failed or score least first. */
    #items(card: Scorecard, name: string): HTMLElement {
        const say = words(this);
        const metrics = metricNames(card).filter((metric) => card.items.some(({ scores }) => metric in scores));
        const value = ({ scores }: Scorecard["items"][number]) => scores[metrics[0] ?? ""] ?? -1;
        const items = [...card.items].sort((a, b) => value(a) - value(b));
        const cells = ({ id, outcome, scores }: Scorecard["items"][number]) => [
            id,
            outcome,
            ...metrics.map((metric) => (scores[metric] === undefined ? "" : percent(scores[metric]!))),
        ];
        const columns = [say.item, say.outcome, ...metrics];
        const all = make("button", { type: "button" }, say.saveItems);
        all.addEventListener("click", () => save(`${name}.items.csv`, csv([columns, ...items.map(cells)]), "text/csv"));
        const shown = make(
            "details",
            { id: "by-item" },
            make("summary", {}, say.byItem(items.length)),
            table(say.byItem(items.length), columns, items.slice(0, MAX_ROWS).map(cells)),
        );
        if (items.length > MAX_ROWS) shown.append(make("p", { class: "note" }, say.more(items.length - MAX_ROWS)));
        shown.append(make("p", {}, all));
        return shown;
    }

    #rows(problems: Problem[]): HTMLElement {
        const say = words(this);
        const rows = problems.slice(0, MAX_ROWS).map(({ file, line, item, message }) => [file, line === null ? "" : String(line), item ?? "", message]);
        const shown = make("div", {}, table(say.rows, [say.file, say.line, say.item, say.message], rows));
        const more = count(problems) - rows.length;
        if (more > 0) shown.append(make("p", { class: "note" }, say.more(more)));
        return shown;
    }
}

/** Rows that could not be used; one problem can stand for many that are not listed. */
function count(problems: Problem[]): number {
    return problems.reduce((sum, { more }) => sum + (more ?? 1), 0);
}

if (!customElements.get("closeread-scorer")) customElements.define("closeread-scorer", Scorer);

// The question, the budget, the ranking: what a search is asked with.

import { labelled, make, option } from "../dom.js";
import type { Asking, Retriever } from "../messages/lab.js";
import { sample, type Item } from "../sample.js";
import type { Session } from "../session.js";
import type { Words } from "../words/lab.js";
import type { Compute, Embedding } from "./embedding.js";
import { modelChoice } from "./model.js";

const STEPS = [1, 1.5, 2, 3, 4, 5, 7.5];

/** Budgets that the slider stops at, from 100 tokens to the whole book. */
export function budgets(nTokens: number): number[] {
    const all: number[] = [];
    for (let power = 100; power < nTokens; power *= 10) all.push(...STEPS.map((step) => step * power));
    return [...all.filter((budget) => budget < nTokens), Math.max(nTokens, 100)];
}

export class Controls {
    readonly form = make("form", { class: "ask" });
    readonly #question = make("input", { id: "question", type: "search", autocomplete: "off", required: "", dir: "auto" });
    readonly #items = make("select", { id: "items" }, option("", ""));
    readonly #itemField: HTMLElement;
    readonly #answers = make("p", { class: "note", id: "answers" });
    readonly #budget = make("input", { id: "budget", type: "range", min: "0", step: "1" });
    readonly #budgetShown = make("output", { for: "budget", id: "budget-shown" });
    readonly #retriever = make("select", { id: "retriever" });
    readonly #compute = make("select", { id: "compute" });
    readonly #neighbours = make("select", { id: "neighbours" }, ...["0", "1", "2", "3"].map((n) => option(n, n)));
    readonly #search: HTMLButtonElement;
    readonly #words: Words;
    #budgets: number[] = [100];
    #ofBook: Item[] = [];

    /** `asked` is called for another question, `moved` for another budget of the same one. */
    constructor(session: Session, words: Words, embedding: Embedding, asked: () => void, moved: () => void) {
        this.#words = words;
        this.#retriever.append(...Object.entries(words.retrievers).map(([name, text]) => option(name, text)));
        this.#compute.append(...Object.entries(words.computes).map(([name, text]) => option(name, text)));
        this.#compute.value = embedding.compute;
        this.#compute.addEventListener("change", () => (embedding.compute = this.#compute.value as Compute));
        this.#search = make("button", { type: "submit", class: "primary", id: "go" }, words.search);
        this.#itemField = labelled(words.fromSample, this.#items);
        this.form.append(
            make("div", { class: "questions" }, labelled(words.question, this.#question), this.#itemField), this.#answers,
            make("div", { class: "settings" },
                labelled(words.retriever, this.#retriever), labelled(words.neighbours, this.#neighbours),
                labelled(words.compute, this.#compute), this.#search,
                make("p", { class: "field budget" },
                    make("label", { for: "budget" }, `${words.budget}: `, this.#budgetShown), this.#budget)),
            modelChoice(session, words),
        );
        this.form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.#ask(session, session.question.item?.question === this.#question.value ? session.question.item : undefined);
            asked();
        });
        this.#items.addEventListener("change", () => {
            const item = this.#ofBook.find(({ id }) => id === this.#items.value);
            if (item === undefined) return;
            this.#question.value = item.question;
            this.#ask(session, item);
            asked();
        });
        for (const select of [this.#retriever, this.#neighbours]) select.addEventListener("change", asked);
        this.#budget.addEventListener("input", () => {
            this.#showBudget();
            moved();
        });
    }

    get asking(): Asking {
        const { value: question } = this.#question;
        return { question, retriever: this.#retriever.value as Retriever, neighbours: Number(this.#neighbours.value) };
    }

    get budget(): number {
        return this.#budgets[this.#budget.valueAsNumber] ?? 100;
    }

    get budgets(): number[] {
        return this.#budgets;
    }

    /** Fits the controls to the open book. */
    async show(session: Session): Promise<void> {
        const { book, question } = session;
        for (const control of [this.#question, this.#budget, this.#retriever, this.#neighbours, this.#search]) control.disabled = book === undefined;
        const before = this.budget;
        this.#budgets = budgets(book?.facts.nTokens ?? 100);
        this.#budget.max = String(this.#budgets.length - 1);
        const wanted = this.#budgets.length === 1 || before === 100 ? 1500 : before;
        const at = this.#budgets.findIndex((budget) => budget >= wanted);
        this.#budget.value = String(at < 0 ? this.#budgets.length - 1 : at);
        this.#showBudget();
        this.#question.value = question.text;
        this.#showAnswers(question.item);
        const { items } = await sample();
        this.#ofBook = items.filter(({ documents }) => documents.length === 1 && documents[0] === book?.work?.id);
        this.#itemField.hidden = this.#ofBook.length === 0;
        this.#items.replaceChildren(option("", this.#words.chooseQuestion), ...this.#ofBook.map(({ id, question }) => option(id, question)));
        this.#items.value = question.item?.id ?? "";
    }

    focus(): void {
        this.#question.focus();
    }

    #ask(session: Session, item: Item | undefined): void {
        this.#items.value = item?.id ?? "";
        this.#showAnswers(item);
        session.ask(this.#question.value, item);
    }

    #showAnswers(item: Item | undefined): void {
        this.#answers.hidden = item === undefined;
        this.#answers.textContent = item === undefined ? "" : `${this.#words.answers}: ${item.answers[0] ?? ""}`;
    }

    #showBudget(): void {
        const text = this.#words.tokens(this.budget);
        this.#budgetShown.value = text;
        this.#budget.setAttribute("aria-valuetext", text);
    }
}

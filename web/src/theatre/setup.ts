// What is played: the form for method, parameters, question and reader.

import type { MethodItem, MethodOffer } from "../closeread_wasm.js";
import { labelled, make, option, type Child } from "../dom.js";
import type { Retriever } from "../messages/lab.js";
import type { BookFacts } from "../messages/theatre.js";
import { sample, type Item } from "../sample.js";
import type { OpenBook, Session } from "../session.js";
import { inLanguage } from "../words/index.js";
import * as words from "../words/theatre.js";
import type { Plan } from "./play.js";
import { freshReader, readerForm, type ReaderState } from "./reader.js";

const TASKS = ["generative", "choice", "summary"] as const;
/** Tokens, as long as nobody says otherwise. */
const BUDGET = 1000;

/** What the form holds, also while another view or language is shown. */
export interface SetupState {
    method: string;
    budget: string;
    retriever: Retriever;
    /** By method, what was changed, as typed. */
    parameters: Record<string, Record<string, string>>;
    /** Id of a sample item; empty for an own question. */
    item: string;
    own: { question: string; task: (typeof TASKS)[number]; options: string };
    reader: ReaderState;
}

export function freshSetup(): SetupState {
    return {
        method: "dos-rag", budget: String(BUDGET), retriever: "bm25", parameters: {}, item: "",
        own: { question: "", task: "generative", options: "" }, reader: freshReader(),
    };
}

/** The open book as a method is told of it. */
export function factsOf({ work, facts }: OpenBook): BookFacts {
    return work === undefined
        ? { id: "book", title: facts.title, language: facts.language }
        : { id: work.id, title: work.title, language: work.language };
}

/** The form; `read` gives the plan, or throws what is missing. */
export async function setupForm(
    session: Session, book: OpenBook, state: SetupState,
): Promise<{ form: HTMLElement; read: () => Plan }> {
    const say = inLanguage(words);
    const facts = factsOf(book);
    const [offers, { items }] = await Promise.all([session.core.ask("theatre/methods", { book: facts }), sample()]);
    const mine = items.filter(({ documents }) => documents.length === 1 && documents[0] === facts.id);

    const method = make("select", { id: "method" }, ...offers.map(({ name }) => option(name, name)));
    method.value = state.method;
    const budget = make("input", { id: "budget", type: "number", min: "1", step: "1" });
    budget.value = state.budget;
    budget.addEventListener("input", () => (state.budget = budget.value));
    const budgetField = labelled(say.budget, budget);
    const retriever = make("select", { id: "searches-by", "aria-describedby": "searches-by-hint" },
        ...Object.entries(say.retrievers).map(([name, text]) => option(name, text)));
    retriever.value = state.retriever;
    retriever.addEventListener("change", () => (state.retriever = retriever.value as Retriever));
    const retrieverField = labelled(say.retriever, retriever, make("small", { id: "searches-by-hint" }, say.retrieverHint));
    const about = make("div", { class: "about" });
    const parameters = make("div", { class: "parameters" });
    const offer = () => offers.find(({ name }) => name === state.method) ?? offers[0]!;
    const chosen = () => {
        state.method = method.value;
        about.replaceChildren(...described(offer()));
        budgetField.hidden = offer().costs[0]?.budget === null;
        parameters.replaceChildren(...parameterFields(offer(), state));
    };
    method.addEventListener("change", chosen);
    chosen();

    const question = questionForm(session, mine, state);
    const reader = readerForm(state.reader);
    const form = make("div", { class: "columns setup" },
        make("fieldset", {}, make("legend", {}, say.method), labelled(say.method, method), about, budgetField, retrieverField,
            make("details", {}, make("summary", {}, say.parameters), parameters)),
        question.form, reader.form);
    const read = (): Plan => {
        const { answering, name, window, maxOutputTokens } = reader.read();
        const taken = offer().costs[0]?.budget === null ? {} : { budget: Number(state.budget) || BUDGET };
        return {
            book: facts, nBytes: book.facts.nBytes, reader: answering, item: question.read(facts.id!),
            options: {
                method: state.method, parameters: given(offer(), state), model: name, retriever: state.retriever,
                ...taken, ...(window === undefined ? {} : { window }), ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
            },
        };
    };
    return { form, read };
}

function described({ paper, summary, costs }: MethodOffer): Child[] {
    const say = inLanguage(words);
    const preparation = costs[0]?.preparation;
    const lines = costs.map(({ budget, question }) => say.aQuestion(budget, question.calls, question.prompt_tokens));
    if (preparation && preparation.calls.high > 0) lines.unshift(say.onceABook(preparation.calls, preparation.prompt_tokens));
    return [
        make("p", { lang: "en" }, summary), make("p", { class: "facts", lang: "en" }, paper),
        make("details", {}, make("summary", {}, say.costs), ...lines.map((line) => make("p", { class: "facts" }, line))),
    ];
}

/** What cannot be set here: the lab chooses the embedding model for all methods. */
const NOT_HERE = new Set(["embedder"]);

function parameterFields({ name, parameters }: MethodOffer, state: SetupState): Child[] {
    const say = inLanguage(words);
    const changed = (state.parameters[name] ??= {});
    const fields = Object.entries(parameters).filter(([parameter]) => !NOT_HERE.has(parameter)).map(([parameter, value]) => {
        const input = make("input", { id: `parameter-${parameter}`, type: "text", autocomplete: "off", placeholder: shownValue(value) });
        input.value = changed[parameter] ?? "";
        input.addEventListener("input", () => (changed[parameter] = input.value));
        return labelled(parameter, input, make("small", {}, `${say.standard}: ${shownValue(value)}`));
    });
    return fields.length === 0 ? [make("p", { class: "note" }, say.noParameters)] : fields;
}

function shownValue(value: unknown): string {
    return typeof value === "string" ? value : JSON.stringify(value);
}

/** What was changed, numbers and switches as such; the core says what it does not take. */
function given({ name, parameters }: MethodOffer, state: SetupState): Record<string, unknown> {
    const typed = Object.entries(state.parameters[name] ?? {}).filter(([, text]) => text.trim() !== "");
    return Object.fromEntries(typed.map(([parameter, text]) => {
        if (typeof parameters[parameter] === "string") return [parameter, text.trim()];
        try {
            return [parameter, JSON.parse(text) as unknown];
        } catch {
            return [parameter, text.trim()];
        }
    }));
}

function questionForm(session: Session, items: Item[], state: SetupState): { form: HTMLElement; read: (document: string) => MethodItem } {
    const say = inLanguage(words);
    const { own } = state;
    if (session.question.item && items.includes(session.question.item)) state.item = session.question.item.id;
    else if (session.question.text !== "") [state.item, own.question] = ["", session.question.text];
    else if (!items.some(({ id }) => id === state.item)) state.item = own.question === "" ? (items[0]?.id ?? "") : "";

    const choice = make("select", { id: "item" }, ...items.map(({ id, question }) => option(id, question)), option("", say.own));
    choice.value = state.item;
    const text = make("textarea", { id: "own-question", rows: "2" });
    text.value = own.question;
    const task = make("select", { id: "task" }, ...TASKS.map((name) => option(name, say.tasks[name])));
    task.value = own.task;
    const options = make("textarea", { id: "own-options", rows: "4" });
    options.value = own.options;
    const optionsField = labelled(say.options, options);
    const mine = make("div", {}, labelled(say.question, text), labelled(say.task, task), optionsField);
    const facts = make("p", { class: "facts" });
    const changed = () => {
        [state.item, own.question, own.options] = [choice.value, text.value, options.value];
        own.task = task.value as SetupState["own"]["task"];
        mine.hidden = state.item !== "";
        optionsField.hidden = own.task !== "choice";
        const item = items.find(({ id }) => id === state.item);
        facts.textContent = item === undefined ? "" : `${item.id}: ${say.tasks[item.task as keyof typeof say.tasks] ?? item.task}`;
    };
    for (const control of [choice, text, task, options]) control.addEventListener("input", changed);
    changed();

    const read = (document: string): MethodItem => {
        const item = items.find(({ id }) => id === state.item);
        if (item !== undefined) return item as MethodItem;
        if (own.question.trim() === "") throw new Error(say.noQuestion);
        const lines = own.options.split("\n").map((line) => line.trim()).filter((line) => line !== "");
        return {
            id: "question", documents: [document], question: own.question.trim(), task: own.task,
            ...(own.task === "choice" ? { options: lines } : {}),
        };
    };
    const form = make("fieldset", {}, make("legend", {}, say.item),
        ...(items.length > 0 ? [labelled(say.item, choice), facts] : []), mine);
    return { form, read };
}

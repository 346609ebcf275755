// What is to be run: a row of choices, and a fold for what is seldom changed.

import type { MethodOffer } from "../../closeread_wasm.js";
import type { Item } from "../../closeread_wasm.js";
import type { OpenBook } from "../../state/app.js";
import { useApp, useSession, useWords } from "../../context.js";
import { shown } from "../../words/index.js";
import * as words from "../../words/watch.js";
import { Budget } from "../Budget.js";
import { TASKS, costOf, takesBudget, type SetupState, type Task } from "./plan.js";

interface Props {
    offers: MethodOffer[];
    offer: MethodOffer;
    items: Item[];
    book: OpenBook;
    setup: SetupState;
    set: (change: Partial<SetupState>) => void;
    budget: number;
    missing: "question" | undefined;
}

/** What cannot be set here: Find chooses the embedding model for all methods. */
const NOT_HERE = new Set(["embedder"]);

export function Setup({ offers, offer, items, book, setup, set, budget, missing }: Props) {
    const session = useSession();
    const say = useWords(words);
    const question = useApp((state) => state.question);
    const own = question.item === undefined;
    const choose = (id: string) => {
        const item = items.find((one) => one.id === id);
        session.ask(item?.question ?? "", item);
    };
    const cost = costOf(offer, budget);
    const changed = setup.parameters[offer.name] ?? {};
    const parameters = Object.entries(offer.parameters).filter(([name]) => !NOT_HERE.has(name));
    return (
        <form class="setup" aria-label={say.setup} onSubmit={(event) => event.preventDefault()}>
            <div class="row">
                <p class="field">
                    <label for="method">{say.method}</label>
                    <select id="method" value={offer.name} onChange={(event) => session.put({ m: event.currentTarget.value })}>
                        {offers.map(({ name }) => (
                            <option key={name} value={name}>
                                {name}
                            </option>
                        ))}
                    </select>
                </p>
                {items.length > 0 && (
                    <p class="field wide">
                        <label for="item">{say.item}</label>
                        <select id="item" value={question.item?.id ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
                            {items.map(({ id, question }) => (
                                <option key={id} value={id}>
                                    {question}
                                </option>
                            ))}
                            <option value="">{say.own}</option>
                        </select>
                    </p>
                )}
                {takesBudget(offer) && <Budget label={say.budget} budget={budget} />}
            </div>
            {own && (
                <div class="row">
                    <p class="field wide">
                        <label for="own-question">{say.question}</label>
                        <input
                            id="own-question"
                            type="text"
                            aria-invalid={missing === "question"}
                            aria-describedby={missing === "question" ? "question-missing" : undefined}
                            value={question.text}
                            onInput={(event) => session.ask(event.currentTarget.value, undefined, "replace")}
                        />
                        {missing === "question" && (
                            <small id="question-missing" class="problem">
                                {say.noQuestion}
                            </small>
                        )}
                    </p>
                    <p class="field">
                        <label for="task">{say.task}</label>
                        <select id="task" value={setup.task} onChange={(event) => set({ task: event.currentTarget.value as Task })}>
                            {TASKS.map((task) => (
                                <option key={task} value={task}>
                                    {say.tasks[task]}
                                </option>
                            ))}
                        </select>
                    </p>
                </div>
            )}
            {own && setup.task === "choice" && (
                <p class="field">
                    <label for="own-options">{say.options}</label>
                    <textarea id="own-options" rows={4} value={setup.options} onInput={(event) => set({ options: event.currentTarget.value })} />
                </p>
            )}
            <p class="mute summary" lang="en">
                {offer.summary} <span class="facts">{offer.paper}</span>
            </p>
            <details class="how">
                <summary>{say.how}</summary>
                {cost && (
                    <p class="facts num">
                        {cost.preparation.calls.high > 0 && `${say.onceABook(cost.preparation.calls, cost.preparation.prompt_tokens)} `}
                        {say.aQuestion(cost.budget, cost.question.calls, cost.question.prompt_tokens)}
                    </p>
                )}
                {offer.searches && (
                    <p class="field">
                        <label for="searches-by">{say.retriever}</label>
                        <select
                            id="searches-by"
                            aria-describedby="searches-by-hint"
                            value={setup.retriever}
                            onChange={(event) => set({ retriever: event.currentTarget.value as SetupState["retriever"] })}
                        >
                            {Object.entries(say.retrievers).map(([name, text]) => (
                                <option key={name} value={name}>
                                    {text}
                                </option>
                            ))}
                        </select>
                        <small id="searches-by-hint">{say.retrieverHint}</small>
                    </p>
                )}
                {book.chapters.length > 1 && (
                    <p class="field">
                        <label for="part">{say.part}</label>
                        <select id="part" value={setup.part} onChange={(event) => set({ part: Number(event.currentTarget.value) })}>
                            <option value={-1}>{say.wholeBook}</option>
                            {book.chapters.map(({ title }, n) => (
                                <option key={n} value={n}>
                                    {title || shown(n + 1)}
                                </option>
                            ))}
                        </select>
                    </p>
                )}
                <h3>{say.parameters}</h3>
                {parameters.length === 0 && <p class="note">{say.noParameters}</p>}
                <div class="columns">
                    {parameters.map(([name, value]) => (
                        <p key={name} class="field">
                            <label for={`parameter-${name}`}>{name}</label>
                            <input
                                id={`parameter-${name}`}
                                type="text"
                                autocomplete="off"
                                placeholder={written(value)}
                                value={changed[name] ?? ""}
                                onInput={(event) =>
                                    set({ parameters: { ...setup.parameters, [offer.name]: { ...changed, [name]: event.currentTarget.value } } })
                                }
                            />
                            <small>
                                {say.standard}: {written(value)}
                            </small>
                        </p>
                    ))}
                </div>
            </details>
        </form>
    );
}

function written(value: unknown): string {
    return typeof value === "string" ? value : JSON.stringify(value);
}

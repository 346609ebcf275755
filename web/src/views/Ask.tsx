// Ask: one model reads the same passages in both orders, question after question; what that did to the answers.

import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import type { Item } from "../closeread_wasm.js";
import { Missing } from "../model/models.js";
import { ORDERS, answered, isDone, secondsAQuestion } from "../play/asked.js";
import { Asker } from "../play/asker.js";
import { warnLeaving } from "../play/leaving.js";
import { sample } from "../sample.js";
import type { Session } from "../session.js";
import { useApp, useSession, useWords } from "../context.js";
import { csv, saveFile } from "../parts/export.js";
import { inView, whole } from "../state/address.js";
import type { OpenBook } from "../state/app.js";
import { settingsOf } from "../state/find.js";
import { useStore } from "../state/store.js";
import * as words from "../words/ask.js";
import * as modelWords from "../words/model.js";
import { All } from "./ask/All.js";
import { Answers, goldOf } from "./ask/Answers.js";
import { Paper } from "./ask/Paper.js";
import { Verdict } from "./ask/Verdict.js";
import { Budget } from "./Budget.js";
import { Fits, Notes } from "./model/Notes.js";
import { useModelName } from "./model/name.js";
import { factsOf, itemsAbout } from "./watch/plan.js";

/** How many questions are offered to begin with. */
const COUNTS = [1, 5, 20];

interface Kept {
    asker: Asker | undefined;
    book: OpenBook | undefined;
    own: string;
}

function keptOf(session: Session): Kept {
    const before = session.kept.get("ask") as Kept | undefined;
    if (before) return before;
    const kept: Kept = { asker: undefined, book: undefined, own: "" };
    session.kept.set("ask", kept);
    // Whatever view is shown: the rest would be asked with the other book's passages.
    session.addEventListener("book", () => kept.asker?.stop());
    return kept;
}

export function Ask() {
    const session = useSession();
    const say = useWords(words);
    const book = useApp((state) => state.book);
    const budget = useApp((state) => settingsOf(state.address.query).budget);
    const name = useModelName();
    const [items, setItems] = useState<{ book: OpenBook; items: Item[] }>();
    useEffect(() => {
        if (book) void sample().then(({ items }) => setItems({ book, items: itemsAbout(items, book) }));
    }, [book]);
    const kept = keptOf(session);
    if (kept.book !== book) {
        kept.asker?.stop();
        [kept.asker, kept.book] = [undefined, book];
    }
    const [, draw] = useReducer((n: number) => n + 1, 0);
    // Answers belong to the budget that they were asked with, whatever the address says now.
    const asked = kept.asker?.plan.options.budget ?? budget;
    return (
        <section id="ask" class="ask" aria-labelledby="ask-heading">
            <header class="head">
                <h1 id="ask-heading">{say.heading}</h1>
                {book && <p class="mute num">{say.facts(name, asked)}</p>}
            </header>
            <p class="lede serif">{say.lead}</p>
            {book === undefined ? (
                <p class="mute">{say.noBook}</p>
            ) : (
                items?.book === book && <Asking key={book.key} {...{ session, kept, book, items: items.items, budget, changed: () => draw(0) }} />
            )}
            <Paper budget={asked} />
        </section>
    );
}

/** A line is a question, and behind its last = the gold answer where it is known. */
function ownItems(text: string, book: OpenBook): Item[] {
    const lines = text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
    return lines.map((line, n) => {
        const [, question = line, gold] = /^(.*)\s=\s(.*)$/.exec(line) ?? [];
        return {
            id: `own-${n + 1}`,
            documents: [factsOf(book).id!],
            question: question.trim(),
            task: "generative",
            ...(gold ? { answers: [gold.trim()] } : {}),
        };
    });
}

interface AskingProps {
    session: Session;
    kept: Kept;
    book: OpenBook;
    items: Item[];
    budget: number;
    /** Another asking is there, or none. */
    changed: () => void;
}

function Asking({ session, kept, book, items, budget, changed }: AskingProps) {
    const say = useWords(words);
    const modelSay = useWords(modelWords);
    const query = useApp((state) => state.address.query);
    const question = useApp((state) => state.question);
    const source = useStore(session.models.store, ({ choice }) => choice.source);
    const [asker, setAsker] = useState(kept.asker);
    const [own, setOwn] = useState(kept.own || question.text);
    const count = items.length === 0 ? 0 : query.qs === "own" ? 0 : Math.min(items.length, whole(query.qs, 1, 1e9, 5));
    // The chosen question comes first.
    const ordered = question.item ? [question.item, ...items.filter((item) => item !== question.item)] : items;
    const chosen: Item[] = count === 0 ? ownItems(own, book) : (ordered.slice(0, count) as Item[]);
    const begin = () =>
        session.attempt(async () => {
            kept.asker?.stop();
            const language = book.facts.language;
            const made = new Asker(session.core, { book: factsOf(book), options: { budget, ...limits(session) } }, (run) =>
                session.models.engine(run, language),
            );
            warnLeaving(made.store, ({ phase }) => phase === "running");
            kept.asker = made;
            setAsker(made);
            changed();
            await asking(() => made.ask(chosen));
        });
    const asking = async (ask: () => Promise<void>) => {
        try {
            await ask();
        } catch (error) {
            throw error instanceof Missing ? new Error(modelSay.missing[error.what]) : error;
        }
    };
    const counts = [...new Set([...COUNTS.filter((n) => n < items.length), count || items.length, items.length])].sort((a, b) => a - b);
    return (
        <>
            {asker === undefined && (
                <form
                    class="setup"
                    noValidate
                    aria-label={say.setup}
                    onSubmit={(event) => {
                        event.preventDefault();
                        void begin();
                    }}
                >
                    <div class="row">
                        {items.length > 0 && (
                            <p class="field">
                                <label for="count">{say.which}</label>
                                <select
                                    id="count"
                                    value={count === 0 ? "own" : String(count)}
                                    onChange={(event) => session.put({ qs: event.currentTarget.value })}
                                >
                                    {counts.map((n) => (
                                        <option key={n} value={String(n)}>
                                            {say.ofSample(n, items.length)}
                                        </option>
                                    ))}
                                    <option value="own">{say.own}</option>
                                </select>
                            </p>
                        )}
                        <Budget label={say.budget} budget={budget} />
                    </div>
                    {count === 0 && (
                        <p class="field">
                            <label for="own-questions">{say.ownQuestions}</label>
                            <textarea
                                id="own-questions"
                                rows={4}
                                placeholder={say.ownExample}
                                value={own}
                                onInput={(event) => setOwn((kept.own = event.currentTarget.value))}
                            />
                        </p>
                    )}
                    <Fits budget={budget} />
                    {source === "words" && (
                        <p class="mute">
                            {say.needsModel}
                            <a href={inView(session.address, "model")}>{say.chooseModel}</a>
                        </p>
                    )}
                    <p class="buttons">
                        <button id="ask-all" type="submit" class="primary" disabled={chosen.length === 0}>
                            {say.ask(chosen.length)}
                        </button>
                    </p>
                </form>
            )}
            {asker && (
                <Run
                    {...{
                        session,
                        asker,
                        book,
                        items: ordered,
                        asking,
                        over: () => {
                            asker.stop();
                            kept.asker = undefined;
                            setAsker(undefined);
                            changed();
                        },
                    }}
                />
            )}
        </>
    );
}

function limits({ models }: Session): { window?: number; maxOutputTokens?: number } {
    const { window, maxOutputTokens } = models.facts ?? {};
    return { ...(window ? { window } : {}), ...(maxOutputTokens ? { maxOutputTokens } : {}) };
}

function Run({
    session,
    asker,
    book,
    items,
    asking,
    over,
}: {
    session: Session;
    asker: Asker;
    book: OpenBook;
    items: Item[];
    asking: (ask: () => Promise<void>) => Promise<void>;
    over: () => void;
}) {
    const say = useWords(words);
    const modelSay = useWords(modelWords);
    const state = useStore(asker.store, (all) => all);
    const person = useStore(session.models.store, ({ choice }) => choice.source === "person");
    const [chosen, choose] = useState<number>();
    const answers = useRef<HTMLDivElement>(null);
    const { questions, phase, effect } = state;
    const done = questions.filter(isDone).length;
    const current = questions.findIndex((asked) => ORDERS.some((order) => asked.answers[order].state === "asked"));
    const selected = Math.min(chosen ?? (current >= 0 ? current : Math.max(0, done - 1)), Math.max(0, questions.length - 1));
    const asked = questions[selected];
    const running = phase === "running";
    const seconds = secondsAQuestion(state);
    const known = new Set(questions.map(({ item }) => item.id));
    const left = items.filter(({ id }) => !known.has(id)) as Item[];
    const ofSample = questions.length > 0 && items.some(({ id }) => known.has(id));
    const readers = new Set(questions.flatMap(({ answers }) => ORDERS.flatMap((order) => (answers[order].state === "done" ? [answers[order].by ?? ""] : []))));
    useEffect(() => session.say(say.progress(done, questions.length)), [done]);
    const select = (n: number) => {
        choose(n);
        answers.current?.querySelector<HTMLElement>("h2")?.focus();
    };
    const go = (ask: () => Promise<void>) => () => session.attempt(() => asking(ask));
    const save = () => {
        const heads = [say.columns.question, ...ORDERS.map((order) => say.orders[order]), say.columns.gold];
        const rows = questions.map((asked) => [asked.item.question, ...ORDERS.map((order) => answered(asked.answers[order]) ?? ""), goldOf(asked) ?? ""]);
        saveFile("answers.csv", csv([heads, ...rows]), "text/csv");
    };
    return (
        <>
            <Verdict state={state} available={ofSample ? items.length : undefined} select={select} />
            <Notes readers={[...readers]} />
            <p class="buttons">
                <span class="num" id="progress">
                    {say.progress(done, questions.length)}
                </span>
                {running ? (
                    <button id="stop" type="button" onClick={() => asker.stop()}>
                        {say.stop}
                    </button>
                ) : (
                    <>
                        {done < questions.length && (
                            <button id="go-on" type="button" class="primary" onClick={go(() => asker.goOn())}>
                                {say.goOn}
                            </button>
                        )}
                        {done === questions.length && ofSample && left.length > 0 && (
                            <button id="ask-more" type="button" class="primary" onClick={go(() => asker.ask(left))}>
                                {say.askMore(left.length, seconds === undefined ? undefined : modelSay.seconds(seconds * left.length))}
                            </button>
                        )}
                        <button id="again" type="button" onClick={over}>
                            {say.over}
                        </button>
                        <button id="save-answers" type="button" class="quiet" onClick={save}>
                            {say.save}
                        </button>
                    </>
                )}
            </p>
            <div ref={answers}>
                {asked && (
                    <Answers
                        key={selected}
                        asked={asked}
                        number={selected}
                        of={questions.length}
                        scored={effect?.scored[selected]}
                        book={book}
                        pace={() => asker.pace}
                        typed={person ? (text) => session.models.person.reply(text) : undefined}
                    />
                )}
            </div>
            {questions.length > 1 && <All {...{ questions, effect, selected, select }} />}
        </>
    );
}

// Find: which passages a budget finds for a question, and in which order a model would read them.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Item } from "../closeread_wasm.js";
import { sample } from "../sample.js";
import type { Session } from "../session.js";
import { Reading, type Read } from "../parts/Reading.js";
import { StepChart } from "../parts/StepChart.js";
import { Term } from "../parts/Term.js";
import { TwoOrders } from "../parts/TwoOrders.js";
import { chooseBook, useApp, useSession, useWords } from "../context.js";
import type { OpenBook, Question } from "../state/app.js";
import { isNothing, queryOf, settingsOf, stopsOf, type Settings } from "../state/find.js";
import * as words from "../words/find.js";
import { How } from "./How.js";
import { markedEvidence, useRetrieval } from "./retrieval.js";
import { Worth } from "./Worth.js";

export function Find() {
    const session = useSession();
    const say = useWords(words);
    const { book, question, address } = useApp((state) => state);
    const settings = useMemo(() => settingsOf(address.query), [address.query]);
    const stops = useMemo(() => stopsOf(book?.facts.nTokens ?? 100), [book]);
    const [marks, setMarks] = useState(0);
    const { shown, budget, busy, curve, scores, evidence, missing, more } = useRetrieval(session, book, question, settings, stops, marks);
    const [read, setRead] = useState<Read>();
    useEffect(() => setRead(undefined), [book, question]);
    const put = (change: Partial<Settings>, how: "push" | "replace" = "push") => session.put(queryOf(change), how);
    const openAt = (byte: number) => session.attempt(async () => setRead(await session.core.ask("lab/at", { byte })));
    const around = useCallback(
        async (margin: number) => {
            const { start, end } = read!;
            return (await session.core.ask("lab/read", { start, end, margin })).stretches;
        },
        [read],
    );
    const prove = read && question.item === undefined && question.text !== "" ? provenBy(read) : undefined;
    function provenBy({ index, start, end }: Read) {
        const marked = markedEvidence(session, book, question);
        const toggle = () => {
            if (!marked.delete(index)) marked.set(index, { start, end });
            setMarks((n) => n + 1);
        };
        return { proven: marked.has(index), toggle };
    }
    return (
        <section id="find" aria-labelledby="find-heading">
            <h1 id="find-heading">{say.heading}</h1>
            {book === undefined ? (
                <NoBook />
            ) : (
                <>
                    <Asking key={book.key} />
                    {missing > 0 && <p class="note">{say.missing(missing)}</p>}
                    <How settings={settings} put={put} />
                    {shown && (
                        <div id="found" data-budget={budget} aria-busy={busy}>
                            <TwoOrders
                                shown={shown}
                                nBytes={book.facts.nBytes}
                                nPassages={book.facts.nPassages}
                                chapters={book.chapters}
                                evidence={evidence}
                                order={settings.order}
                                choose={(order) => put({ order })}
                                budget={settings.budget}
                                stops={stops}
                                move={(budget) => put({ budget }, "replace")}
                                open={(row) => setRead({ ...row, rank: shown.byScore.findIndex(({ index }) => index === row.index) + 1 })}
                                openAt={openAt}
                                reading={read}
                                more={more}
                            />
                            {!isNothing(shown) && (
                                <section class="curve" aria-labelledby="curve-heading">
                                    <h2 id="curve-heading">{evidence.length > 0 ? <Term name="recall">{say.curve}</Term> : say.places}</h2>
                                    <p class="note">{evidence.length > 0 ? say.curveNote : say.placesNote}</p>
                                    {curve.length > 0 &&
                                        (evidence.length > 0 ? (
                                            <StepChart
                                                name="evidence-recall"
                                                title={say.curve}
                                                low={0}
                                                high={1}
                                                xLabel={say.budgetAxis}
                                                value={say.percent}
                                                mark={settings.budget}
                                                choose={(budget) => put({ budget })}
                                                curves={[
                                                    {
                                                        name: say.recallName,
                                                        line: "solid",
                                                        step: true,
                                                        points: curve.map(({ budget, recall }) => ({ x: budget, y: recall ?? 0 })),
                                                    },
                                                ]}
                                            />
                                        ) : (
                                            <StepChart
                                                name="places"
                                                title={say.places}
                                                low={0}
                                                high={Math.max(4, ...curve.map(({ nPlaces }) => nPlaces))}
                                                xLabel={say.budgetAxis}
                                                value={say.count}
                                                mark={settings.budget}
                                                choose={(budget) => put({ budget })}
                                                curves={[
                                                    {
                                                        name: say.placesName,
                                                        line: "solid",
                                                        step: true,
                                                        points: curve.map(({ budget, nPlaces }) => ({ x: budget, y: nPlaces })),
                                                    },
                                                ]}
                                            />
                                        ))}
                                    {scores && <Worth scores={scores} />}
                                </section>
                            )}
                        </div>
                    )}
                    <Reading
                        read={read}
                        close={() => setRead(undefined)}
                        title={book.title}
                        nBytes={book.facts.nBytes}
                        chapters={book.chapters}
                        around={around}
                        prove={prove}
                    />
                </>
            )}
        </section>
    );
}

/** What is there before a book is. */
function NoBook() {
    const say = useWords(words);
    return (
        <div class="no-book">
            <p class="lead serif">{say.lead}</p>
            <p>
                <button type="button" class="go" onClick={chooseBook}>
                    {say.chooseBook}
                </button>{" "}
                <span class="mute">{say.orDrop}</span>
            </p>
        </div>
    );
}

interface Typed {
    book: OpenBook | undefined;
    question: Question;
    text: string;
}

/** What stands in the field: also what was not asked yet, after another view was shown. */
function typedOf(session: Session): Typed {
    const { book, question } = session;
    const before = session.kept.get("find-typed") as Typed | undefined;
    if (before && before.book === book && before.question === question) return before;
    const typed = { book, question, text: question.text };
    session.kept.set("find-typed", typed);
    return typed;
}

/** The question, and those that the sample has on this book. */
function Asking() {
    const session = useSession();
    const say = useWords(words);
    const { book, question } = useApp((state) => state);
    const typed = typedOf(session);
    const [text, setText] = useState(typed.text);
    const [items, setItems] = useState<Item[]>([]);
    const field = useRef<HTMLInputElement>(null);
    useEffect(() => setText(typed.text), [question]);
    useEffect(() => {
        if (!session.address.query.q) field.current?.focus({ preventScroll: true });
        void sample().then(({ items }) => setItems(items.filter(({ documents }) => documents.length === 1 && documents[0] === book?.work?.id)));
    }, [book]);
    const ask = (event: Event) => {
        event.preventDefault();
        if (text.trim() === "") return field.current?.focus();
        session.ask(text, question.item?.question === text ? question.item : undefined);
    };
    const choose = (id: string) => {
        const item = items.find((one) => one.id === id);
        if (item) session.ask(item.question, item);
    };
    return (
        <form class="asking" role="search" onSubmit={ask}>
            <p class="field">
                <label for="question">{say.question}</label>
                <input
                    ref={field}
                    id="question"
                    class="serif"
                    type="search"
                    autocomplete="off"
                    dir="auto"
                    value={text}
                    placeholder={say.askPlaceholder}
                    onInput={(event) => setText((typed.text = event.currentTarget.value))}
                />
            </p>
            <button type="submit" id="go" class="go">
                {say.search}
            </button>
            {items.length > 0 && (
                <p class="field from-sample">
                    <label for="items">{say.fromSample}</label>
                    <select id="items" value={question.item?.id ?? ""} onChange={(event) => choose(event.currentTarget.value)}>
                        <option value="">{say.chooseQuestion}</option>
                        {items.map(({ id, question }) => (
                            <option key={id} value={id}>
                                {question}
                            </option>
                        ))}
                    </select>
                </p>
            )}
            {question.item?.answers?.[0] && (
                <p id="answers" class="gold-answer">
                    <Term name="gold">{say.answers}</Term>: <b>{question.item.answers[0]}</b>
                </p>
            )}
        </form>
    );
}

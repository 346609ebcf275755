// The figure of the first screen: painted from what was computed before; live once the reader has a book and a question.

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { useRetrieval, type Found } from "../find/retrieval.js";
import type { OpenBook, Question } from "../state/app.js";
import { inView } from "../state/address.js";
import { DEFAULTS, queryOf, settingsOf, stopsOf, type Settings, type Shown } from "../state/find.js";
import { Reading, type Read } from "../parts/Reading.js";
import type { Chapter, Stand } from "../parts/Ribbon.js";
import { Term } from "../parts/Term.js";
import { TwoOrders } from "../parts/TwoOrders.js";
import { useApp, useSession, useWords } from "../context.js";
import * as words from "../words/essay.js";
import { shownAt, type EssayFile } from "./data.js";

/** What the essay speaks of: the sample as it was computed before, or the reader's own book. */
export interface Subject {
    title: string;
    nBytes: number;
    nTokens: number;
    nPassages: number;
    chapters: readonly Chapter[];
    question: string;
    answer: string | undefined;
    evidence: readonly Stand[];
    shown: Shown | undefined;
    settings: Settings;
    stops: readonly number[];
    /** What was computed before, and the open book with its question and what the core finds in it. */
    file: EssayFile;
    mine: { book: OpenBook; question: Question; found: Found } | undefined;
}

const NO_STOPS: number[] = [];

export function useSubject(file: EssayFile | undefined): Subject | undefined {
    const session = useSession();
    const { book, question, address } = useApp((state) => state);
    const settings = useMemo(() => settingsOf(address.query), [address.query]);
    const own = book !== undefined && book.work === undefined;
    const stops = useMemo(() => (own ? stopsOf(book.facts.nTokens) : NO_STOPS), [book, own]);
    const found = useRetrieval(session, own ? book : undefined, question, { ...settings, retriever: "bm25" }, stops, 0);
    const before = useMemo(() => file && shownAt(file, settings.budget), [file, settings.budget]);
    if (file === undefined) return undefined;
    if (own) {
        const { nBytes, nTokens, nPassages } = book.facts;
        return {
            title: book.title,
            nBytes,
            nTokens,
            nPassages,
            chapters: book.chapters,
            question: question.text,
            answer: undefined,
            evidence: found.evidence,
            shown: found.shown,
            settings,
            stops,
            file,
            mine: { book, question, found },
        };
    }
    const { title, nBytes, nTokens, nPassages } = file.book;
    return {
        title,
        nBytes,
        nTokens,
        nPassages,
        chapters: file.chapters,
        question: file.item.question,
        answer: file.item.answer,
        evidence: file.evidence,
        shown: before,
        settings,
        stops: file.stops,
        file,
        mine: undefined,
    };
}

export function Hero({ subject }: { subject: Subject }) {
    const session = useSession();
    const say = useWords(words);
    const address = useApp((state) => state.address);
    const { shown, settings, mine, file, nBytes, chapters, evidence } = subject;
    const [read, setRead] = useState<Read>();
    useEffect(() => setRead(undefined), [mine?.book, mine?.question]);
    const around = useCallback(
        async (margin: number) => (await session.core.ask("lab/read", { start: read!.start, end: read!.end, margin })).stretches,
        [read],
    );
    const put = (change: Partial<Settings>, how: "push" | "replace") => session.put(queryOf(change), how);
    const bench = mine ? inView(address, "find") : inView({ ...address, query: { ...address.query, b: file.book.id, q: file.item.id } }, "find");
    return (
        <figure class="hero-figure" aria-labelledby="hero-question">
            {mine ? (
                <OwnQuestion key={mine.book.key} book={mine.book} question={mine.question.text} />
            ) : (
                <div class="question">
                    <p id="hero-question" class="asked foreign" dir="auto">
                        {subject.question}
                    </p>
                    <p class="answer">
                        <Term name="gold">{say.goldAnswer}</Term> <b dir="auto">{subject.answer}</b>
                    </p>
                </div>
            )}
            {shown && (
                <TwoOrders
                    shown={shown}
                    nBytes={nBytes}
                    nPassages={subject.nPassages}
                    chapters={chapters}
                    evidence={evidence}
                    order={settings.order}
                    choose={(order) => put({ order }, "push")}
                    budget={Math.min(settings.budget, subject.stops.at(-1) ?? DEFAULTS.budget)}
                    stops={subject.stops}
                    move={(budget) => put({ budget }, "replace")}
                    open={(row) => setRead({ ...row, rank: shown.byScore.indexOf(row) + 1 || shown.byScore.findIndex(({ index }) => index === row.index) + 1 })}
                    {...(mine ? { more: mine.found.more } : {})}
                >
                    <p>
                        <a href={bench}>{say.openBench}</a>
                    </p>
                </TwoOrders>
            )}
            <Reading read={read} close={() => setRead(undefined)} title={subject.title} nBytes={nBytes} chapters={chapters} {...(mine ? { around } : {})} />
        </figure>
    );
}

/** The reader's own question on their own book. */
function OwnQuestion({ book, question }: { book: OpenBook; question: string }) {
    const session = useSession();
    const say = useWords(words);
    const [text, setText] = useState(question);
    useEffect(() => setText(question), [question]);
    const ask = (event: Event) => {
        event.preventDefault();
        if (text.trim() !== "") session.ask(text, undefined);
    };
    return (
        <form class="own-question" role="search" onSubmit={ask}>
            <p id="hero-question" class="mute">
                {say.onMine(book.title)}
            </p>
            <label for="own">{say.myQuestion}</label>
            <div>
                <input
                    id="own"
                    class="serif"
                    type="search"
                    dir="auto"
                    autocomplete="off"
                    value={text}
                    placeholder={say.myQuestionHint}
                    onInput={(event) => setText(event.currentTarget.value)}
                />
                <button type="submit" class="go">
                    {say.show}
                </button>
            </div>
        </form>
    );
}

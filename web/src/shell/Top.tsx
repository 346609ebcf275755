// The bar at the top: the mark, the open book, a link to what is shown, the language.

import { useRef, useState } from "preact/hooks";
import { addressHash, inView } from "../state/address.js";
import { useModelName } from "../views/model/name.js";
import { LANGUAGES, shown } from "../words/index.js";
import * as words from "../words/app.js";
import * as modelWords from "../words/model.js";
import { Books } from "./Books.js";
import { useApp, useSession, useWords } from "../context.js";

export function Top() {
    const session = useSession();
    const say = useWords(words);
    const { book, opening, language } = useApp((state) => state);
    const books = useRef<HTMLDialogElement>(null);
    const other = language === "en" ? "zh" : "en";
    const facts = book && `${say.tokens(shown(book.facts.nTokens))} · ${say.languageName(book.facts.language)}`;
    return (
        <header class="top">
            <a class="brand" href={addressHash({ view: "essay" })} aria-label={say.home}>
                <Mark />
                <span>closeread</span>
            </a>
            <button
                id="book-chip"
                type="button"
                class="chip book"
                aria-haspopup="dialog"
                onClick={() => books.current?.showModal()}
                onPointerEnter={() => session.prepare()}
            >
                <span class="vh">{say.book}: </span>
                {opening ? (
                    <span class="busy">{say.reading(opening)}</span>
                ) : book ? (
                    <>
                        <i dir="auto">{book.title}</i>
                        <span class="num more">{facts}</span>
                    </>
                ) : (
                    <b>{say.chooseBook}</b>
                )}
            </button>
            <span class="spacer" />
            <ModelChip />
            <CopyLink />
            <button id="language" type="button" class="quiet" lang={other} onClick={() => session.speak(other)}>
                {LANGUAGES[other]}
            </button>
            <Books dialog={books} />
        </header>
    );
}

/** Who reads, and the way to another one. */
function ModelChip() {
    const say = useWords(modelWords);
    const address = useApp((state) => state.address);
    const name = useModelName();
    return (
        <a id="model-chip" class="chip who" href={inView(address, "model")} aria-current={address.view === "model" ? "page" : undefined}>
            <span class="more">{say.chip}</span> <b>{name}</b>
        </a>
    );
}

/** A ribbon in small: retrieved above, evidence below. */
function Mark() {
    return (
        <svg width="34" height="20" viewBox="0 0 34 20" aria-hidden="true">
            <rect class="not-read" width="34" height="20" />
            {[5, 14, 25].map((x) => (
                <rect key={x} class="retrieved" x={x} width="3" height="12" />
            ))}
            <rect class="evidence" x="14" y="13.5" width="6" height="6.5" />
        </svg>
    );
}

/** Copies the address, which has everything that is shown. */
function CopyLink() {
    const session = useSession();
    const say = useWords(words);
    const [done, setDone] = useState(false);
    const copy = () =>
        session.attempt(async () => {
            await session.copy(location.href);
            setDone(true);
            session.say(session.book && session.book.work === undefined ? say.copiedOwn : say.copied);
            setTimeout(() => setDone(false), 2000);
        });
    return (
        <button id="copy-link" type="button" class="quiet" onClick={copy}>
            <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
                {done ? <path d="M4 10.5l4 4 8-9" /> : <path d="M8.5 11.5l3-3M9 6l2-2a3.5 3.5 0 0 1 5 5l-2 2M11 14l-2 2a3.5 3.5 0 0 1-5-5l2-2" />}
            </svg>
            <span class="words">{done ? say.copiedShort : say.copyLink}</span>
        </button>
    );
}

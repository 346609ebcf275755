// Where a book is chosen: a file, a work of the sample, one that this browser keeps, pasted text.

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { forgetBook, keptBook, recentBooks, type RecentBook } from "../recent.js";
import { works as listed, type Work } from "../sample.js";
import { shown } from "../words/index.js";
import * as words from "../words/app.js";
import { useApp, useSession, useWords } from "../context.js";

const ACCEPTED = ".txt,.md,.epub,.html,.htm,text/plain,text/markdown,text/html,application/epub+zip";

export function Books({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }) {
    const session = useSession();
    const say = useWords(words);
    const book = useApp((state) => state.book);
    const [works, setWorks] = useState<Work[]>([]);
    const [recent, setRecent] = useState<RecentBook[]>([]);
    const [pasted, setPasted] = useState("");
    useEffect(() => void listed().then(setWorks), []);
    useEffect(() => void recentBooks().then(setRecent), [book]);
    const close = () => dialog.current?.close();
    const file = (event: Event) => {
        const input = event.currentTarget as HTMLInputElement;
        const chosen = input.files?.[0];
        if (!chosen) return;
        close();
        // The same file may be chosen again.
        void session.openFile(chosen).then(() => (input.value = ""));
    };
    const again = async ({ hash, name }: RecentBook) => {
        close();
        const read = async () => {
            const kept = await keptBook(hash);
            // Another tab may have forgotten it since it was listed.
            if (kept === undefined) throw new Error(say.notHere);
            return kept.bytes;
        };
        await session.open(name, read);
        setRecent(await recentBooks());
    };
    const forget = async ({ hash }: RecentBook) => {
        await forgetBook(hash);
        setRecent(await recentBooks());
    };
    return (
        <dialog ref={dialog} id="books" aria-labelledby="books-heading" onClick={(event) => event.target === dialog.current && close()}>
            <form method="dialog" class="dialog-head">
                <h2 id="books-heading">{say.chooseBook}</h2>
                <button type="submit" class="quiet">
                    {say.close}
                </button>
            </form>
            <p class="mute">{say.stays}</p>
            <div class="field">
                <label class="button go" for="file">
                    {say.file}
                </label>
                <input id="file" class="vh" type="file" accept={ACCEPTED} onFocus={() => session.prepare()} onChange={file} />
                <span class="mute">{say.orDrop}</span>
            </div>
            {works.length > 0 && (
                <section aria-labelledby="works-heading">
                    <h3 id="works-heading">{say.sample}</h3>
                    <ul class="books">
                        {works.map((work) => (
                            <li key={work.id}>
                                <button
                                    type="button"
                                    class="row"
                                    data-work={work.id}
                                    aria-current={book?.key === work.id}
                                    onClick={() => {
                                        close();
                                        void session.openWork(work);
                                    }}
                                >
                                    <i lang={work.language}>{work.title}</i>
                                    <span class="mute">{say.languageName(work.language)}</span>
                                </button>
                            </li>
                        ))}
                    </ul>
                </section>
            )}
            {recent.length > 0 && (
                <section aria-labelledby="recent-heading">
                    <h3 id="recent-heading">{say.recent}</h3>
                    <ul class="books">
                        {recent.map((one) => (
                            <li key={one.hash}>
                                <button type="button" class="row" data-recent={one.hash} onClick={() => void again(one)}>
                                    <i dir="auto">{one.title}</i>
                                    <span class="mute num">{say.tokens(shown(one.nTokens))}</span>
                                </button>
                                <button type="button" class="quiet forget" aria-label={say.forgetOne(one.title)} onClick={() => void forget(one)}>
                                    {say.forget}
                                </button>
                            </li>
                        ))}
                    </ul>
                </section>
            )}
            <details>
                <summary>{say.paste}</summary>
                <label for="pasted">{say.pasteHere}</label>
                <textarea id="pasted" rows={6} value={pasted} onInput={(event) => setPasted(event.currentTarget.value)} />
                <button
                    type="button"
                    id="open-pasted"
                    disabled={pasted.trim() === ""}
                    onClick={() => {
                        close();
                        void session.open(say.pasted, async () => new TextEncoder().encode(pasted));
                    }}
                >
                    {say.openPasted}
                </button>
            </details>
        </dialog>
    );
}

// A passage in its place: the file's own text around it, its evidence underlined, to be copied with its place.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Stretch } from "../messages/lab.js";
import { useSession, useWords } from "../context.js";
import * as words from "../words/parts.js";
import type { Chapter, Stand } from "./Ribbon.js";

/** Bytes on each side, at first. */
const MARGIN = 1200;

export interface Read extends Stand {
    index: number;
    tokens?: number;
    score?: number;
    rank?: number;
    text?: string;
}

interface Props {
    read: Read | undefined;
    close: () => void;
    title: string;
    nBytes: number;
    chapters: readonly Chapter[];
    /** The book's text around the passage; without it the passage alone is shown. */
    around?: (margin: number) => Promise<Stretch[]>;
    /** Says that the passage proves the answer, or takes that back; undefined where the gold evidence is known. */
    prove?: { proven: boolean; toggle: () => void } | undefined;
}

/** Where a passage stands, as one would cite it. */
export function placeOf({ start }: Stand, nBytes: number, chapters: readonly Chapter[], into: (share: number) => string): string {
    const chapter = chapters.findLast((one) => one.start <= start)?.title;
    return [...(chapter ? [chapter] : []), into(start / Math.max(1, nBytes))].join(", ");
}

export function Reading({ read, close, title, nBytes, chapters, around, prove }: Props) {
    const session = useSession();
    const say = useWords(words);
    const dialog = useRef<HTMLDialogElement>(null);
    const page = useRef<HTMLDivElement>(null);
    const [margin, setMargin] = useState(MARGIN);
    const [stretches, setStretches] = useState<Stretch[]>([]);
    useEffect(() => setMargin(MARGIN), [read?.index]);
    useEffect(() => {
        if (read && !dialog.current!.open) dialog.current!.showModal();
        if (!read && dialog.current!.open) dialog.current!.close();
        if (!read || !around) return setStretches([]);
        let wanted = true;
        void session.attempt(async () => {
            const found = await around(margin);
            if (wanted) setStretches(found);
        });
        return () => void (wanted = false);
    }, [read, margin, around]);
    useEffect(() => {
        const mark = page.current?.querySelector<HTMLElement>(".passage");
        if (mark && page.current) page.current.scrollTop = mark.offsetTop - page.current.offsetTop - page.current.clientHeight / 3;
    }, [stretches]);
    const place = read ? placeOf(read, nBytes, chapters, say.into) : "";
    const copy = () =>
        session.attempt(async () => {
            const passage =
                stretches
                    .filter((stretch) => stretch.passage)
                    .map(({ text }) => text)
                    .join("") ||
                read!.text ||
                "";
            await session.copy(`${passage.trim()}\n${say.cited(title, place)}`);
            session.say(say.copied);
        });
    return (
        <dialog
            ref={dialog}
            id="reading"
            class="reading"
            aria-labelledby="reading-heading"
            onClose={close}
            onClick={(event) => event.target === dialog.current && dialog.current?.close()}
        >
            {read && (
                <>
                    <h2 id="reading-heading" tabIndex={-1}>
                        {place}
                    </h2>
                    <p class="facts num">
                        {[
                            say.passageOf(read.index + 1),
                            ...(read.rank === undefined ? [] : [say.rank(read.rank)]),
                            say.readingFacts(read.start, read.end, read.tokens, read.score),
                        ].join(" · ")}
                    </p>
                    <div class="page book-text foreign" dir="auto" tabIndex={0} role="group" aria-labelledby="reading-heading" ref={page}>
                        {stretches.length === 0 ? (
                            <span class="passage">{read.text}</span>
                        ) : (
                            stretches.map(({ text, passage, evidence }, n) =>
                                evidence ? (
                                    <mark key={n} class={passage ? "passage" : undefined}>
                                        {text}
                                    </mark>
                                ) : (
                                    <span key={n} class={passage ? "passage" : undefined}>
                                        {text}
                                    </span>
                                ),
                            )
                        )}
                    </div>
                    <p class="buttons">
                        <button type="button" class="go" id="close-reading" onClick={() => dialog.current?.close()}>
                            {say.close}
                        </button>
                        <button type="button" id="copy-passage" onClick={copy}>
                            {say.copy}
                        </button>
                        {around && (
                            <button type="button" class="quiet" onClick={() => setMargin(margin * 3)}>
                                {say.wider}
                            </button>
                        )}
                        {prove && (
                            <button type="button" class="quiet" id="prove" aria-pressed={prove.proven} onClick={prove.toggle}>
                                {prove.proven ? say.unmarkEvidence : say.markEvidence}
                            </button>
                        )}
                    </p>
                </>
            )}
        </dialog>
    );
}

// Where in its books a trial's passages stand, and the gold evidence: a ribbon a book.

import type { TracedPassage, TrialTrace } from "../closeread_wasm.js";
import { useWords } from "../context.js";
import { Key, Ribbon } from "../parts/Ribbon.js";
import { metInOrder } from "../state/find.js";
import * as words from "../words/find.js";
import { visible } from "./text.js";

/** Books that have a ribbon; what searches a corpus finds passages in more than can be looked at. */
const MOST = 4;

export function Places({ trace: { item }, passages }: { trace: TrialTrace; passages: readonly TracedPassage[] }) {
    const say = useWords(words);
    const books = new Map(passages.flatMap(({ document, book_bytes }) => (book_bytes === undefined ? [] : [[document, book_bytes] as const])));
    const evidence = (book: string) =>
        (item.evidence ?? []).flatMap(({ document, start, end }) =>
            start !== undefined && end !== undefined && (document ?? item.documents[0]) === book ? [{ start, end }] : [],
        );
    const shown = [...books]
        .slice(0, MOST)
        .map(([book, nBytes]) => ({ book, nBytes, retrieved: passages.filter(({ document }) => document === book), gold: evidence(book) }));
    if (shown.length === 0) return null;
    return (
        <div class="places">
            {shown.map(({ book, nBytes, retrieved, gold }) => (
                <div key={book}>
                    {books.size > 1 && (
                        <p class="facts foreign" dir="auto">
                            {visible(book)}
                        </p>
                    )}
                    <Ribbon
                        nBytes={nBytes}
                        retrieved={retrieved}
                        evidence={gold}
                        label={say.ribbon(retrieved.length, gold.length, metInOrder(retrieved, gold).length)}
                    />
                </div>
            ))}
            <Key evidence={shown.some(({ gold }) => gold.length > 0)} />
        </div>
    );
}

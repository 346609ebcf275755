// Long texts and long lists, shown piece by piece: a prompt may be a whole novel.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { useWords } from "../../context.js";
import * as words from "../../words/watch.js";

/** UTF-16 code units shown at first, and with each press of the button. */
const FIRST = 6_000;
const MORE = 60_000;
const ITEMS = 20;

/** A text as it is, its first `shared` code units marked; what is long is shown on demand. */
export function ExactText({ text, shared = 0, fresh = false }: { text: string; shared?: number | undefined; fresh?: boolean }) {
    const say = useWords(words);
    const [most, setMost] = useState(FIRST);
    const pre = useRef<HTMLPreElement>(null);
    const end = whole(text, most);
    const mark = Math.min(shared, end);
    const more = () => {
        setMost(most + MORE);
        pre.current?.focus();
    };
    return (
        <>
            <pre ref={pre} class={fresh ? "exact foreign fresh" : "exact foreign"} dir="auto" tabIndex={0}>
                {mark > 0 && <mark>{text.slice(0, mark)}</mark>}
                {text.slice(mark, end)}
            </pre>
            {end < text.length && (
                <button type="button" onClick={more}>
                    {say.more(Math.min(text.length - end, MORE))}
                </button>
            )}
        </>
    );
}

/** An end that cuts no surrogate pair. */
function whole(text: string, end: number): number {
    if (end >= text.length) return text.length;
    const unit = text.charCodeAt(end - 1);
    return unit >= 0xd800 && unit < 0xdc00 ? end + 1 : end;
}

/** A list of which the first items are shown. */
export function LongList<T>({ items, children }: { items: readonly T[]; children: (item: T, index: number) => ComponentChildren }) {
    const say = useWords(words);
    const [most, setMost] = useState(ITEMS);
    return (
        <>
            <ol class="plain">
                {items.slice(0, most).map((item, index) => (
                    <li key={index}>{children(item, index)}</li>
                ))}
            </ol>
            {most < items.length && (
                <button type="button" onClick={() => setMost(most + ITEMS)}>
                    {say.moreItems(Math.min(ITEMS, items.length - most))}
                </button>
            )}
        </>
    );
}

/** Something behind a summary, made when it is first opened. */
export function Folded({ summary, children, open = false }: { summary: string; children: () => ComponentChildren; open?: boolean }) {
    const [shown, setShown] = useState(open);
    return (
        <details open={open} onToggle={(event) => event.currentTarget.open && setShown(true)}>
            <summary>{summary}</summary>
            {shown && children()}
        </details>
    );
}

// Long texts and long lists, shown piece by piece: a prompt may be a whole novel.

import { button, foreign, make, type Child } from "../dom.js";
import { inLanguage } from "../words/index.js";
import * as words from "../words/theatre.js";

/** UTF-16 code units shown at first, and with each press of the button. */
const FIRST = 6_000;
const MORE = 60_000;
const ITEMS = 20;

/** A text as it is, its first `shared` code units marked; what is long is shown on demand. */
export function exactText(text: string, shared = 0): HTMLElement {
    const pre = foreign("pre", "", { class: "exact", tabindex: "0" });
    const box = make("div", {}, pre);
    let shown = 0;
    const grow = (by: number) => {
        const end = whole(text, shown + by);
        const marked = Math.min(Math.max(shared - shown, 0), end - shown);
        if (marked > 0) {
            const mark = make("mark");
            mark.textContent = text.slice(shown, shown + marked);
            pre.append(mark);
        }
        pre.append(text.slice(shown + marked, end));
        shown = end;
        const rest = text.length - shown;
        box.querySelector(":scope > button")?.remove();
        if (rest > 0) box.append(button(inLanguage(words).more(Math.min(rest, MORE)), () => {
            grow(MORE);
            pre.focus();
        }));
    };
    grow(FIRST);
    return box;
}

/** An end that cuts no surrogate pair. */
function whole(text: string, end: number): number {
    if (end >= text.length) return text.length;
    const unit = text.charCodeAt(end - 1);
    return unit >= 0xd800 && unit < 0xdc00 ? end + 1 : end;
}

/** Something behind a summary, made when it is first opened. */
export function folded(summary: Child, content: () => Child | Promise<Child>, open = false): HTMLDetailsElement {
    const details = make("details", {}, make("summary", {}, summary));
    let filled = false;
    const fill = async () => {
        if (filled) return;
        filled = true;
        details.append(await content());
    };
    details.addEventListener("toggle", () => details.open && void fill());
    if (open) {
        details.open = true;
        void fill();
    }
    return details;
}

/** A list of which the first items are shown. */
export function longList<T>(items: T[], item: (item: T, index: number) => Child): HTMLElement {
    const list = make("ol", { class: "plain" });
    const box = make("div", {}, list);
    let shown = 0;
    const grow = () => {
        const next = items.slice(shown, shown + ITEMS);
        list.append(...next.map((value, index) => make("li", {}, item(value, shown + index))));
        shown += next.length;
        box.querySelector(":scope > button")?.remove();
        const rest = Math.min(ITEMS, items.length - shown);
        if (rest > 0) box.append(button(inLanguage(words).moreItems(rest), grow));
    };
    grow();
    return box;
}

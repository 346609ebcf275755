// Where a book is chosen: a file, a work of the sample, pasted text. The views for one book show it above themselves.

import { button, labelled, make, option } from "./dom.js";
import { sample } from "./sample.js";
import type { Session } from "./session.js";
import { inLanguage } from "./words/index.js";
import * as words from "./words/app.js";

export function mountShelf(section: HTMLElement, session: Session): void {
    const say = inLanguage(words);
    const file = make("input", { id: "file", type: "file", accept: ".txt,.md,.epub,text/plain,text/markdown,application/epub+zip" });
    file.addEventListener("change", () => file.files?.[0] && session.openFile(file.files[0]));

    for (const sign of ["pointerenter", "focusin", "dragenter"]) section.addEventListener(sign, () => session.prepare(), { once: true });

    const works = make("select", { id: "sample" }, option("", say.chooseSample));
    const choice = labelled(say.sample, works);
    choice.hidden = true;
    sample().then(({ works: all }) => {
        choice.hidden = all.length === 0;
        works.append(...all.map(({ id, title }) => option(id, title)));
        const mark = () => (works.value = session.book?.work?.id ?? "");
        mark();
        session.listen(section, "book", mark);
        works.addEventListener("change", () => {
            const work = all.find(({ id }) => id === works.value);
            if (work) session.openWork(work);
        });
    });

    const text = make("textarea", { id: "pasted", rows: "6" });
    const open = () => text.value.trim() !== "" &&
        session.open(say.pasted, async () => new TextEncoder().encode(text.value));
    const paste = make("details", {}, make("summary", {}, say.paste),
        labelled(say.pasteHere, text), button(say.openPasted, open, { id: "open-pasted" }));

    section.replaceChildren(
        make("h2", { id: "book-heading" }, say.book),
        make("div", { class: "choose" }, labelled(say.file, file), choice, paste),
    );
}

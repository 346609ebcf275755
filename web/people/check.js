// @ts-check
/// <reference path="./dom.js" />
// The page on which a person checks a sample of what a build made, and writes questions by forms. What is asked is the JSON in
// #asked (web/people/src/lib.rs); what the person says is saved as the file that `closeread build ... --checked` takes.

/**
 * @typedef {{ id: string, about: string, context: string, shows: string[], asks: string }} Question
 * @typedef {{ id: string, shown: string, slots: string[], aspect: string, complexity: string, format: string }} Form
 * @typedef {{ forms: Form[], books: [string, string][], complexities: string[] }} Sheet
 * @typedef {{ id: string, title: string, language: string, questions: Question[], sheet?: Sheet }} Check
 * @typedef {{ form: string, book: string, slots?: Record<string, string>, aspect?: string, complexity?: string, answers?: string[], evidence?: string[] }} Written
 * @typedef {{ check: string, who: string, answers: Record<string, string>, notes: Record<string, string>, written?: Written[] }} Checked
 */

{
    /** @type {Check} */
    const check = JSON.parse(byId("asked").textContent ?? "");
    const KEY = `closeread-check-${check.id}`;
    /** @type {HTMLInputElement} */
    const who = byId("who");
    /** @type {HTMLFieldSetElement[]} */
    const fields = [];
    const place = make("div", { id: "written" });

    /** Words of a book, which may run the other way. @param {string} text */
    const foreign = (text) => make("bdi", {}, text);

    /** @param {HTMLElement} within @param {string} selector */
    const input = (within, selector) => /** @type {HTMLInputElement} */ (within.querySelector(selector));

    /** @param {Question} question @param {number} number */
    function fieldset({ id, shows, asks }, number) {
        const choices = [
            ["yes", "Yes"],
            ["no", "No"],
            ["unsure", "Cannot say"],
        ].map(([value, words]) => make("label", {}, make("input", { type: "radio", name: `q${number}`, value: value ?? "" }), ` ${words}`));
        const note = make("input", { type: "text", autocomplete: "off", "aria-label": `Note on question ${number}` });
        return make(
            "fieldset",
            { "data-id": id },
            make("legend", {}, `${number}. ${asks}`),
            ...shows.map((line) => make("blockquote", { lang: check.language }, foreign(line))),
            ...choices,
            make("label", { class: "note" }, "Note ", note),
        );
    }

    /** All questions about one unit, below its text. @param {Question[]} same */
    function unit(same) {
        const section = make("section");
        const [first] = same;
        if (!first) return section;
        section.append(make("h2", {}, foreign(first.about)));
        const lines = first.context.split("\n").filter((line) => line.trim() !== "");
        if (lines.length > 0) {
            const paragraphs = lines.map((line) => make("p", { lang: check.language }, foreign(line)));
            section.append(make("details", {}, make("summary", {}, "The text"), ...paragraphs));
        }
        for (const question of same) {
            const field = fieldset(question, fields.length + 1);
            fields.push(field);
            section.append(field);
        }
        return section;
    }

    /** Questions in their order, those about the same unit together. @returns {Question[][]} */
    function units() {
        /** @type {Question[][]} */
        const found = [];
        for (const question of check.questions) {
            const last = found.at(-1);
            if (last?.[0]?.about === question.about) last.push(question);
            else found.push([question]);
        }
        return found;
    }

    /** @param {string} name @param {[string, string][]} options @param {string} [chosen] */
    function select(name, options, chosen) {
        const made = make("select", { "data-field": name }, ...options.map(([value, words]) => make("option", { value }, words)));
        if (chosen !== undefined) made.value = chosen;
        return made;
    }

    /** Where forms are chosen and filled in. @param {Sheet} sheet */
    function writing({ forms, books }) {
        const kind = make("select", { id: "kind" });
        for (const aspect of new Set(forms.map((form) => form.aspect))) {
            const of = forms.filter((form) => form.aspect === aspect);
            kind.append(make("optgroup", { label: aspect }, ...of.map((form) => make("option", { value: form.id }, form.shown))));
        }
        const book = make("select", { id: "book" }, ...books.map(([id, title]) => make("option", { value: id }, title)));
        const more = make("button", { type: "button", id: "add" }, "Add a question");
        more.addEventListener("click", () => {
            catchUp();
            const field = add({ form: kind.value, book: book.value });
            wrote = true;
            keep();
            if (field) input(field, "[data-slot]").focus();
        });
        return make(
            "section",
            { id: "writing" },
            make("h2", {}, "Write questions"),
            make("p", {}, "Choose a book and a form, and fill it in as often as you like. The answer must stand in the book, and only one must be right."),
            make("p", {}, make("label", {}, "Book ", book), " ", make("label", {}, "Form ", kind), " ", more),
            place,
        );
    }

    /** Puts a form on the page, filled in as `written` says. @param {Written} written */
    function add(written) {
        const form = check.sheet?.forms.find(({ id }) => id === written.form);
        if (!check.sheet || !form) return undefined;
        const title = check.sheet.books.find(([id]) => id === written.book)?.[1] ?? written.book;
        const aspects = [...new Set(check.sheet.forms.map(({ aspect }) => aspect))];
        /** @param {string} words @param {"answers" | "evidence"} name */
        const lines = (words, name) => {
            const area = make("textarea", { rows: "2", "data-field": name });
            area.value = (written[name] ?? []).join("\n");
            return make("label", { class: "line" }, `${words} `, area);
        };
        /** @param {string[]} names @returns {[string, string][]} */
        const same = (names) => names.map((name) => [name, name]);
        const slots = form.slots.map((slot) => {
            const field = make("input", { type: "text", autocomplete: "off", "data-slot": slot });
            field.value = written.slots?.[slot] ?? "";
            return make("label", { class: "line" }, `${slot} `, field);
        });
        const remove = make("button", { type: "button", class: "remove" }, "Remove this question");
        const field = make(
            "fieldset",
            { class: "written", "data-form": form.id, "data-book": written.book },
            make("legend", {}, form.shown),
            make("p", { class: "of" }, "About: ", foreign(title)),
            ...slots,
            lines(`Answer${form.format && `: ${form.format}`} (other right ones below it, one a line)`, "answers"),
            lines("Words of the book that show it, one sentence a line", "evidence"),
            make("label", {}, "About ", select("aspect", same(aspects), written.aspect ?? form.aspect)),
            " ",
            make("label", {}, "Takes ", select("complexity", same(check.sheet.complexities), written.complexity ?? form.complexity)),
            " ",
            remove,
        );
        remove.addEventListener("click", () => {
            field.remove();
            wrote = true;
            keep();
            byId("add").focus();
        });
        place.append(field);
        return field;
    }

    /** @param {HTMLElement} field @returns {Written} */
    function filled(field) {
        /** @param {string} name */
        const value = (name) => input(field, `[data-field=${name}]`).value;
        /** @param {string} name */
        const lines = (name) =>
            value(name)
                .split("\n")
                .map((line) => line.trim())
                .filter((line) => line !== "");
        /** @type {HTMLInputElement[]} */
        const slots = [...field.querySelectorAll("input")].filter((slot) => slot.dataset.slot !== undefined);
        return {
            form: field.dataset.form ?? "",
            book: field.dataset.book ?? "",
            slots: Object.fromEntries(slots.map((slot) => [slot.dataset.slot ?? "", slot.value.trim()])),
            aspect: value("aspect"),
            complexity: value("complexity"),
            answers: lines("answers"),
            evidence: lines("evidence"),
        };
    }

    /** @returns {Checked} */
    function collected() {
        /** @type {Checked} */
        const state = { check: check.id, who: who.value.trim(), answers: {}, notes: {} };
        for (const field of fields) {
            const id = field.dataset.id ?? "";
            const ticked = input(field, "input[type=radio]:checked");
            const note = input(field, "input[type=text]").value.trim();
            if (ticked) state.answers[id] = ticked.value;
            if (note) state.notes[id] = note;
        }
        if (check.sheet) state.written = [.../** @type {HTMLCollectionOf<HTMLElement>} */ (place.children)].map(filled);
        return state;
    }

    function show() {
        const state = collected();
        for (const field of fields) field.classList.toggle("answered", (field.dataset.id ?? "") in state.answers);
        const written = state.written ? `, ${state.written.length} written` : "";
        byId("done").textContent = `${Object.keys(state.answers).length} of ${fields.length} answered${written}`;
        return state;
    }

    /** Questions that were answered in this window: of all others, what another window of the page has kept counts. @type {Set<string>} */
    const mine = new Set();
    /** Whether a name was typed and questions were written in this window. */
    let [named, wrote] = [false, false];

    /** Shows what was kept, but for what was done in this window. */
    function takeOver() {
        /** @type {Partial<Checked>} */
        const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
        if (!named) who.value ||= kept.who ?? "";
        for (const field of fields) {
            const id = field.dataset.id ?? "";
            if (mine.has(id)) continue;
            const [answer, note] = [kept.answers?.[id], kept.notes?.[id]];
            for (const radio of field.querySelectorAll("input")) if (radio.value === answer) radio.checked = true;
            if (note) input(field, "input[type=text]").value = note;
        }
        if (wrote || !kept.written) return;
        place.replaceChildren();
        kept.written.forEach(add);
    }

    function catchUp() {
        try {
            takeOver();
        } catch {
            /* what was kept is not readable, or a browser keeps nothing for files: as it is here */
        }
    }

    function keep() {
        catchUp();
        const state = show();
        try {
            localStorage.setItem(KEY, JSON.stringify(state));
        } catch {
            /* then it lives as long as the page */
        }
    }

    function empty() {
        /** @type {HTMLFormElement} */ (form).reset();
        place.replaceChildren();
        mine.clear();
        [named, wrote] = [false, false];
        show();
    }

    document.title = check.title;
    byId("title").append(foreign(check.title));
    const form = byId("form");
    form.append(...units().map(unit));
    if (check.sheet) form.append(writing(check.sheet));
    catchUp();

    // What is written here is kept at once: another window has kept it, too, and what was written there.
    addEventListener("storage", ({ key, newValue }) => {
        if (key !== KEY) return;
        // It was emptied for another person: what this one has would count as theirs.
        if (newValue === null) return empty();
        wrote = false;
        catchUp();
        show();
    });
    form.addEventListener("input", ({ target }) => {
        const field = /** @type {HTMLElement} */ (target).closest("fieldset");
        if (field?.dataset.id !== undefined) mine.add(field.dataset.id);
        else if (field) wrote = true;
        else named = true;
        keep();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    byId("save").addEventListener("click", () => {
        saveJson(`check-${check.id}.json`, collected());
    });
    byId("another").addEventListener("click", () => {
        if (!confirm("Empty this page for another person? Answers that were not saved as a file are lost.")) return;
        try {
            localStorage.removeItem(KEY);
        } catch {
            /* then nothing was kept */
        }
        empty();
        who.focus();
    });
    show();
}

// The page: a book in, a question, its passages in two orders. No algorithm here, and texts are shown as text.

import type { ListedPassage } from "./closeread_wasm.js";
import { Core } from "./core.js";
import type { Opened, Searched } from "./messages.js";

const SAMPLE = "sample/story.txt";

const file = element("file", HTMLInputElement);
const sample = element("sample", HTMLButtonElement);
const question = element("question", HTMLInputElement);
const budget = element("budget", HTMLInputElement);
const core = new Core();
let book: Opened | undefined;
/** Counts searches, so that a late answer does not replace a newer one. */
let asked = 0;

file.addEventListener("change", () => file.files?.[0] && openFile(file.files[0]));
sample.addEventListener("click", () =>
    attempt(async () => open("the sample story", await (await fetch(SAMPLE)).arrayBuffer())));
element("ask", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(search);
});
budget.addEventListener("input", () => {
    element("budget-shown", HTMLOutputElement).value = shown(budget.valueAsNumber);
    if (question.value.trim() !== "") attempt(search);
});
document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
});
document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const dropped = event.dataTransfer?.files[0];
    if (dropped) openFile(dropped);
});
fetch(SAMPLE, { method: "HEAD" }).then(({ ok }) => (sample.hidden = !ok), () => {});

function openFile(chosen: File): void {
    attempt(async () => open(chosen.name, await chosen.arrayBuffer()));
}

async function open(name: string, bytes: ArrayBuffer): Promise<void> {
    say("status", `Reading ${name} …`);
    try {
        book = await core.open(new Uint8Array(bytes));
    } catch (error) {
        say("status", book === undefined ? "No book yet." : "The book before it is still open.");
        throw error;
    }
    asked += 1;
    element("found", HTMLElement).hidden = true;
    const { nPassages, nTokens, language, encoding } = book;
    say("status", `${name}: ${shown(nTokens)} tokens in ${shown(nPassages)} passages; ${language}, ${encoding}.`);
    for (const control of [question, budget, element("go", HTMLButtonElement)]) control.disabled = false;
    question.focus();
}

async function search(): Promise<void> {
    const mine = ++asked;
    const searched = await core.search(question.value, budget.valueAsNumber);
    if (mine === asked && book !== undefined) show(searched, book);
}

function show({ byScore, byDocument }: Searched, { nBytes }: Opened): void {
    element("found", HTMLElement).hidden = false;
    const n = byScore.passages.length;
    say("summary", n === 0
        ? "No passage fits this budget."
        : `${shown(n)} passages, ${shown(byScore.tokens)} tokens. Both columns hold the same passages.`);
    element("strip", HTMLElement).replaceChildren(...byDocument.passages.map((passage) => {
        const mark = document.createElement("span");
        mark.style.left = `${(100 * passage.start) / nBytes}%`;
        mark.style.width = `${(100 * (passage.end - passage.start)) / nBytes}%`;
        return mark;
    }));
    list("by-score", byScore.passages, nBytes);
    list("by-document", byDocument.passages, nBytes);
}

function list(id: string, passages: ListedPassage[], nBytes: number): void {
    element(id, HTMLOListElement).replaceChildren(...passages.map((passage) => {
        const item = document.createElement("li");
        const facts = paragraph(
            `passage ${shown(passage.index + 1)}, ${Math.round((100 * passage.start) / nBytes)} % into the book, ` +
                `BM25 ${(passage.score ?? 0).toFixed(2)}, ${passage.tokens} tokens`,
        );
        facts.className = "facts";
        item.append(facts, paragraph(passage.text));
        return item;
    }));
}

function paragraph(text: string): HTMLParagraphElement {
    const p = document.createElement("p");
    p.textContent = text;
    return p;
}

async function attempt(action: () => Promise<void>): Promise<void> {
    say("problem", "");
    try {
        await action();
    } catch (error) {
        say("problem", error instanceof Error ? error.message : String(error));
    }
}

function say(id: string, text: string): void {
    element(id, HTMLElement).textContent = text;
}

function shown(number: number): string {
    return number.toLocaleString("en");
}

function element<T extends HTMLElement>(id: string, kind: new () => T): T {
    const found = document.getElementById(id);
    if (!(found instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
    return found;
}

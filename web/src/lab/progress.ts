// What the encoder is doing, in words and as a bar.

import { make } from "../dom.js";
import type { Words } from "../words/lab.js";
import type { Embedding } from "./embedding.js";

/** Milliseconds between two announcements to a screen reader. */
const ANNOUNCED = 5000;

export function progressLine(section: HTMLElement, embedding: Embedding, words: Words): HTMLElement {
    const [text, spoken] = [make("span", { id: "embedding" }), make("span", { class: "visually-hidden", role: "status" })];
    const bar = make("progress", { "aria-labelledby": "embedding" });
    const line = make("p", { class: "note embedding" }, text, " ", bar, spoken);
    let last = 0;
    const show = () => {
        const { state } = embedding;
        line.hidden = state.kind === "off";
        text.textContent = told(embedding, words);
        bar.hidden = !("total" in state) || state.kind === "complete" || state.total === 0;
        if ("total" in state && state.total > 0) [bar.max, bar.value] = [state.total, state.done];
        const now = Date.now();
        if (now - last < ANNOUNCED && (state.kind === "embedding" || state.kind === "fetching")) return;
        [last, spoken.textContent] = [now, text.textContent];
    };
    const heard = () => (section.isConnected ? show() : embedding.removeEventListener("change", heard));
    embedding.addEventListener("change", heard);
    show();
    return line;
}

function told({ state }: Embedding, words: Words): string {
    switch (state.kind) {
        case "off": return "";
        case "unknown language": return words.unknownLanguage(state.model, state.language);
        case "fetching": return words.fetching(state.done, state.total);
        case "embedding": return words.embedding(state.done, state.total, state.workers, state.arithmetic) + words.trouble(state.trouble);
        case "complete": return words.complete(state.total, state.kept) + words.trouble(state.trouble);
        case "failed": return words.failed(state.message);
    }
}

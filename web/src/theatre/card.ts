// A call as a card: its prompt, the response, what the response was understood as.

import type { Heard, MethodCall, MethodMessage, MethodOutcome, TextChange } from "../closeread_wasm.js";
import { button, foreign, labelled, make, type Child } from "../dom.js";
import { inLanguage } from "../words/index.js";
import * as words from "../words/theatre.js";
import type { CallEntry } from "./play.js";
import { exactText, folded, longList } from "./text.js";

/** A card; `before` is the call before it, `typed` takes a person's response where one is asked. */
export function card(entry: CallEntry, before: MethodCall | undefined, typed: ((text: string) => void) | undefined): HTMLElement {
    const say = inLanguage(words);
    const { call } = entry;
    // What is written down for later calls is asked for as an answer is, and is none.
    const keeps = call.want.kind === "answer" && (call.stage === "preparation" || call.prompt === "memory-agent-update");
    const heading = make("h4", {}, say.call(call.id + 1),
        make("small", {}, ` ${say.callFacts(call.prompt, call.tokens)}; ${say.stages[call.stage]}; ${say.wants[keeps ? "text" : call.want.kind]}`));
    const item = make("li", { class: "card call" }, heading, prompt(call), ...passages(call, before),
        make("div", { class: "came" }));
    fill(item, entry, typed);
    return item;
}

/** What came of the call, again. */
export function fill(item: HTMLElement, entry: CallEntry, typed: ((text: string) => void) | undefined): void {
    item.dataset["state"] = entry.state;
    item.querySelector(":scope > .came")?.replaceChildren(...came(entry, typed));
}

function prompt(call: MethodCall): HTMLElement {
    const say = inLanguage(words);
    return folded(say.prompt, () => make("div", {}, ...call.messages.map(message)));
}

function message({ role, content, tokens, sharedLength }: MethodMessage): HTMLElement {
    const say = inLanguage(words);
    return make("div", { class: `message ${role}` },
        make("p", { class: "facts" }, `${say.speakers[role]}, ${say.messageFacts(tokens)}`,
            ...(sharedLength === undefined ? [] : [make("br"), say.shared])),
        exactText(content, sharedLength));
}

function passages({ passages }: MethodCall, before: MethodCall | undefined): Child[] {
    if (passages.length === 0) return [];
    const known = new Set(before?.passages);
    const fresh = passages.filter((text) => !known.has(text)).length;
    const show = (text: string) => {
        const shown = exactText(text);
        if (known.size > 0 && !known.has(text) && fresh < passages.length) shown.classList.add("fresh");
        return shown;
    };
    return [folded(inLanguage(words).passages(passages.length, fresh), () => longList(passages, show))];
}

function came(entry: CallEntry, typed: ((text: string) => void) | undefined): Child[] {
    const say = inLanguage(words);
    const { state, response, heard, changes, failure, retrying, call } = entry;
    if (state === "waiting" && typed !== undefined) return [responseForm(call, typed)];
    if (failure !== undefined) return [make("p", { class: "problem" }, failure)];
    if (response === undefined) {
        const said = retrying === undefined ? say.states[state]
            : say.retrying(retrying.message, retrying.tries, retrying.of, retrying.wait);
        return [make("p", { class: "note" }, said)];
    }
    const facts = [];
    if (response.usage) facts.push(say.usage(response.usage.prompt_tokens, response.usage.completion_tokens));
    if (response.stop === "length") facts.push(say.cut);
    return [
        make("h5", {}, say.response), exactText(response.text),
        ...(facts.length > 0 ? [make("p", { class: "facts" }, facts.join(" "))] : []),
        ...(heard === undefined ? [] : [make("p", { class: "heard" }, `${say.heard}: `, ...understood(heard))]),
        ...(changes === undefined ? [] : [changed(changes)]),
    ];
}

function understood(heard: Heard): Child[] {
    const say = inLanguage(words);
    switch (heard.said) {
        case "answer": return outcome(heard);
        case "query": return [foreign("strong", say.query(heard.query))];
        case "blocks": return [say.blocks(heard.answers, heard.queries)];
        case "break": return [make("strong", {}, say.break(heard.label))];
        case "pages": return [make("strong", {}, say.pages(heard.pages))];
        case "memory": case "gist": case "summary": return [make("strong", {}, say[heard.said])];
    }
}

/** How it ended, with the answer where there is one. */
export function outcome(ended: MethodOutcome): Child[] {
    const said = make("strong", {}, inLanguage(words).outcomes[ended.outcome]);
    switch (ended.outcome) {
        case "answered": return [said, ": ", foreign("span", ended.answer)];
        case "failed": return [said, ": ", ended.error];
        case "blocked": case "not_asked": return [said, ": ", ended.reason];
        default: return [said];
    }
}

/** A memory with what it forgot and learnt; marked by element and by sign, not by colour alone. */
function changed(changes: TextChange[]): HTMLElement {
    const say = inLanguage(words);
    const names = { kept: "span", gone: "del", new: "ins" } as const;
    const labels = { kept: say.kept, gone: say.gone, new: say.fresh };
    return make("div", { class: "memory" }, make("h5", {}, say.memoryChange),
        make("div", { class: "changes book-text" }, ...changes.map(({ kind, text }) => {
            const piece = foreign(names[kind], text);
            if (kind !== "kept") piece.prepend(make("b", { class: "facts" }, `[${labels[kind]}] `));
            return piece;
        })));
}

function responseForm(call: MethodCall, typed: (text: string) => void): HTMLElement {
    const say = inLanguage(words);
    const text = make("textarea", { id: `response-${call.id}`, rows: "4" });
    return make("div", {}, labelled(say.typeResponse, text),
        button(say.sendResponse, () => typed(text.value), { class: "primary" }));
}

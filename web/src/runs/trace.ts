// One trial with all that is known of it: the question and its gold, what was retrieved, the calls, the judges' words.

import type { CallTrace, Message, Outcome, TracedPassage, TrialTrace } from "../closeread_wasm.js";
import { make } from "../dom.js";
import { percent } from "../percent.js";
import { inLanguage, shown } from "../words/index.js";
import * as words from "../words/runs.js";
import { shownText, visible } from "./text.js";

export function trialTrace({ item, cell, record, judgements }: TrialTrace, passages: TracedPassage[], sent: () => Promise<Message[][]>): Node[] {
    const say = inLanguage(words);
    const heading = shownText("h2", `${item.id}, ${cell}`, { id: "trace-heading", tabindex: "-1" });
    const facts = make("dl", { class: "trace-facts" });
    const fact = (name: string, ...values: Node[]) => values.length > 0 && facts.append(make("dt", {}, name), make("dd", {}, ...values));
    const chosen = record?.outcome === "answered" ? record.choice : undefined;
    const lines = (texts: string[]) => texts.map((text) => shownText("p", text));
    fact(say.question, shownText("p", item.question));
    if (item.options?.length)
        fact(
            say.options,
            make(
                "ol",
                {},
                ...item.options.map((text, n) =>
                    make("li", {}, shownText("span", text), item.correct === n ? ` (${say.correct})` : "", chosen === n ? ` (${say.chosen})` : ""),
                ),
            ),
        );
    else fact(say.gold, ...lines(item.answers ?? []));
    fact(say.ended, make("p", {}, say.outcome(record?.outcome ?? "missing")));
    if (record !== null) {
        const said = wordsOf(record);
        if (said !== undefined) fact(say.answer, shownText("p", said));
        if (record.outcome === "overflow" && record.needed && record.context_window)
            fact(say.window, make("p", {}, say.tooLong(shown(record.needed), shown(record.context_window))));
        fact(say.scores, ...Object.entries(record.scores).map(([name, value]) => make("p", {}, `${visible(name)} ${percent(value)}`)));
        fact(say.took, make("p", {}, say.tokensAndSeconds(shown(record.prompt_tokens), record.seconds.toFixed(1))));
        fact(say.measures, ...Object.entries(record.measures ?? {}).map(([name, value]) => make("p", {}, `${visible(name)}: ${shown(value)}`)));
        fact(say.cited, ...lines(record.evidence ?? []));
        if (record.shared_call) fact(say.askedWith, shownText("p", record.shared_call));
    }
    fact(
        say.evidence,
        ...(item.evidence ?? []).map(({ document, quote, start, end }) =>
            make(
                "p",
                {},
                shownText("q", quote ?? ""),
                make("small", {}, ` ${visible(document ?? "")} ${start === undefined ? say.nowhere : `${start}–${end}`}`),
            ),
        ),
    );
    fact(say.labels, ...lines(Object.entries(item.labels ?? {}).map(([label, value]) => `${label}: ${value}`)));
    const calls = record?.calls ?? [];
    return [
        heading,
        facts,
        ...(passages.length === 0 ? [] : [details(say.passages(shown(passages.length), record?.context?.retriever ?? ""), true, ...passages.map(passage))]),
        ...(calls.length === 0 ? [] : [whatWasSent(sent)]),
        ...calls.map((call, n) => details(say.call(n + 1, visible(call.prompt)), true, ...responseOf(call))),
        ...judgements.map((judgement) =>
            details(
                say.judge(visible(judgement.judge), visible(judgement.judge_model)),
                true,
                shownText("pre", ruling(judgement)),
                ...(judgement.calls ?? []).flatMap(responseOf),
            ),
        ),
    ];
}

function details(summary: string, open: boolean, ...content: Node[]): HTMLElement {
    return make("details", open ? { open: "" } : {}, make("summary", {}, summary), ...content);
}

/** The messages, computed when they are asked for. */
function whatWasSent(sent: () => Promise<Message[][]>): HTMLElement {
    const say = inLanguage(words);
    const place = make("div", { "aria-live": "polite" });
    const whole = details(say.sent, false, place);
    whole.classList.add("sent");
    whole.addEventListener(
        "toggle",
        async () => {
            place.replaceChildren(make("p", { class: "note" }, say.computing));
            try {
                const calls = await sent();
                place.replaceChildren(
                    make("p", { class: "note" }, say.sameHash),
                    ...calls.flatMap((messages, n) =>
                        messages.flatMap(({ role, content }) => [make("p", { class: "facts" }, `${n + 1}, ${role}`), shownText("pre", content)]),
                    ),
                );
            } catch (error) {
                place.replaceChildren(shownText("p", error instanceof Error ? error.message : String(error), { class: "note" }));
            }
        },
        { once: true },
    );
    return whole;
}

/** What the reader said, or what kept it from answering. */
function wordsOf(ended: Outcome): string | undefined {
    switch (ended.outcome) {
        case "answered":
            return ended.answer;
        case "blocked":
        case "not_asked":
            return ended.reason;
        case "failed":
            return ended.error;
        default:
            return undefined;
    }
}

function passage({ document, start, end, score, text }: TracedPassage): HTMLElement {
    const say = inLanguage(words);
    const place = `${visible(document)} ${start}–${end}${score === undefined ? "" : `, ${score.toFixed(3)}`}`;
    return make(
        "div",
        { class: "card" },
        make("p", { class: "facts" }, place),
        text === undefined ? make("p", { class: "note" }, say.noText) : shownText("p", text, { class: "book-text" }),
    );
}

function responseOf({ response, sha256, usage, cached }: CallTrace): Node[] {
    const say = inLanguage(words);
    const counted = Object.entries(usage)
        .filter(([, value]) => typeof value === "number")
        .map(([name, value]) => `${name} ${shown(value as number)}`);
    const note = [say.messages(sha256.slice(0, 12)), ...counted, ...(cached ? [say.remembered] : [])].join(", ");
    return [make("p", { class: "facts" }, note), shownText("pre", response)];
}

/** What a judge decided, without what names the judgement. */
function ruling(judgement: TrialTrace["judgements"][number]): string {
    const known = ["judge", "judge_model", "vote", "setup", "calls", "item", "trial"];
    const said = Object.entries(judgement).filter(([name]) => !known.includes(name));
    return JSON.stringify(Object.fromEntries(said), null, 2);
}

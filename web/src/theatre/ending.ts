// How a run ended: the record.

import type { MethodRecord } from "../closeread_wasm.js";
import { button, foreign, make, table, type Child } from "../dom.js";
import { inLanguage, shown } from "../words/index.js";
import * as words from "../words/theatre.js";
import { outcome } from "./card.js";
import type { Play } from "./play.js";
import { exactText, folded, longList } from "./text.js";

export function ending(play: Play, record: MethodRecord): HTMLElement {
    const say = inLanguage(words);
    const { item, nBytes } = play.plan;
    const gold = item.options !== undefined && item.correct !== undefined ? item.options[item.correct] : item.answers?.[0];
    const { context } = record;
    return make("section", { class: "card ending" },
        make("h3", {}, say.ending),
        make("p", { class: "outcome" }, ...outcome(record)),
        ...(gold === undefined ? [] : [make("p", {}, `${say.gold}: `, foreign("span", gold))]),
        ...numbers(say.scores, record.scores),
        ...numbers(say.measures, record.measures ?? {}),
        make("p", { class: "facts" }, say.totals(record.calls.length, record.prompt_tokens)),
        ...(context === undefined ? [] : [folded(say.context(context.passages.length, context.n_tokens), async () => {
            const texts = await play.session.core.ask("theatre/slices", context.passages.map(
                ({ document, start, end }) => ({ document, start, end })));
            return longList(context.passages, ({ start, score }, index) => make("div", {},
                make("p", { class: "facts" }, say.place(Math.round((100 * start) / nBytes), score)),
                exactText(texts[index] ?? "")));
        })]),
        button(say.download, () => save(record)),
    );
}

function numbers(caption: string, values: Record<string, number>): Child[] {
    const rows = Object.entries(values).map(([name, value]) => [name, shown(Math.round(1e4 * value) / 1e4)]);
    return rows.length === 0 ? [] : [make("div", { class: "scroll" }, table(caption, [inLanguage(words).name, inLanguage(words).value], rows))];
}

function save(record: MethodRecord): void {
    const url = URL.createObjectURL(new Blob([`${JSON.stringify(record)}\n`], { type: "application/jsonl" }));
    make("a", { href: url, download: `${record.item}-${record.method}.jsonl` }).click();
    URL.revokeObjectURL(url);
}

// Two runs, or two cells of one, on the same items.

import type { CompareOptions, ComparedItem, ShownComparison } from "../closeread_wasm.js";
import { button, labelled, make, option, table } from "../dom.js";
import type { HeldRun } from "../messages/runs.js";
import type { Session } from "../session.js";
import { inLanguage, shown } from "../words/index.js";
import * as words from "../words/runs.js";
import { shownTable } from "./report.js";
import { percent, shownText, visible } from "./text.js";

/** Items that a list shows at once. */
const MAX_ITEMS = 100;

export function showCompare(place: HTMLElement, session: Session, runs: HeldRun[], first: HeldRun): void {
    const say = inLanguage(words);
    const named = (id: string, chosen: HeldRun) => {
        const select = make("select", { id }, ...runs.map((run) => option(String(run.id), visible(run.facts.name))));
        select.value = String(chosen.id);
        return select;
    };
    const [a, b] = [named("compare-a", first), named("compare-b", runs.find(({ id }) => id !== first.id) ?? first)];
    const method = make("input", { id: "compare-method", type: "text", autocomplete: "off", placeholder: "vanilla-rag,dos-rag" });
    const budget = make("input", { id: "compare-budget", type: "text", autocomplete: "off", placeholder: "500,5000", inputmode: "numeric" });
    const metric = make("input", { id: "compare-metric", type: "text", autocomplete: "off", placeholder: "accuracy" });
    const result = make("div", { id: "compared", "aria-live": "polite" });
    const list = (input: HTMLInputElement) => input.value.split(",").map((part) => part.trim()).filter((part) => part !== "");
    const compare = () => session.attempt(async () => {
        result.replaceChildren();
        const options: CompareOptions = { method: list(method), budget: list(budget).map(Number), metric: list(metric) };
        const compared = await session.core.ask("runs/compare", { a: Number(a.value), b: Number(b.value), options });
        result.replaceChildren(...compared.flatMap(comparison));
    });
    place.replaceChildren(
        make("p", { class: "note" }, say.compareNote),
        make("div", { class: "filters" }, labelled("A", a), labelled("B", b), labelled(say.method, method),
            labelled(say.budget, budget), labelled(say.metric, metric)),
        button(say.compare, compare, { id: "compare-go", class: "primary" }), result);
}

function comparison({ conclusion, table: whole, gained, lost, notes, unpaired }: ShownComparison): Node[] {
    const say = inLanguage(words);
    const left = Object.entries(unpaired).filter(([, ids]) => ids.length > 0);
    return [
        shownText("p", conclusion, { class: "conclusion" }),
        ...(whole ? shownTable(whole) : []),
        ...items(say.better("B"), gained), ...items(say.better("A"), lost),
        ...left.map(([why, ids]) => shownText("p", `${say.unpaired(why, shown(ids.length))}: ${ids.slice(0, MAX_ITEMS).join(", ")}`, { class: "note" })),
        ...notes.map((note) => shownText("p", note, { class: "note" })),
    ];
}

function items(title: string, compared: ComparedItem[]): Node[] {
    if (compared.length === 0) return [];
    const say = inLanguage(words);
    const name = `${title} (${shown(compared.length)})`;
    const rows = compared.slice(0, MAX_ITEMS).map(({ id, a, b }) => [shownText("span", id), percent(a), percent(b)]);
    const more = compared.length > MAX_ITEMS ? [make("p", { class: "note" }, say.more(shown(compared.length - MAX_ITEMS)))] : [];
    return [make("details", {}, make("summary", {}, name), make("div", { class: "scroll" }, table(name, [say.item, "A", "B"], rows)), ...more)];
}

// The trials of a run: what to list, the list, and the trial that was opened.

import type { TrialFilter } from "../closeread_wasm.js";
import { labelled, make, option } from "../dom.js";
import type { HeldRun } from "../messages/runs.js";
import type { Session } from "../session.js";
import { inLanguage, shown } from "../words/index.js";
import * as words from "../words/runs.js";
import { TrialsInSight } from "./list.js";
import { visible } from "./text.js";
import { trialTrace } from "./trace.js";

export async function showTrials(place: HTMLElement, session: Session, { id, facts }: HeldRun): Promise<void> {
    const say = inLanguage(words);
    const outcome = make("select", { id: "trial-outcome" }, option("", say.all), ...facts.outcomes.map((name) => option(name, say.outcome(name))));
    const cell = make("select", { id: "trial-cell" }, option("", say.all), ...facts.cells.map((name, n) => option(String(n), visible(name))));
    const text = make("input", { id: "trial-text", type: "search", autocomplete: "off" });
    const count = make("p", { class: "note", role: "status", id: "trial-count" });
    const trace = make("section", { class: "trace", "aria-label": say.trial });
    const list = new TrialsInSight(
        facts.cells,
        (numbers) => session.core.ask("runs/lines", { id, numbers }),
        (number, byKey) => session.attempt(async () => {
            const { trace: found, passages } = await session.core.ask("runs/trace", { id, number });
            trace.replaceChildren(...trialTrace(found, passages, () => session.core.ask("runs/sent", { id, number })));
            const heading = trace.querySelector("h3");
            if (byKey) heading?.focus();
            else if (trace.getBoundingClientRect().top > innerHeight) heading?.scrollIntoView({ block: "start" });
        }),
    );
    let asked = 0;
    const select = () => session.attempt(async () => {
        const mine = ++asked;
        const filter: TrialFilter = {
            ...(outcome.value === "" ? {} : { outcome: outcome.value }),
            ...(cell.value === "" ? {} : { cell: Number(cell.value) }),
            ...(text.value.trim() === "" ? {} : { text: text.value.trim() }),
        };
        const numbers = await session.core.ask("runs/select", { id, filter });
        if (mine !== asked) return;
        list.show(numbers);
        count.textContent = say.listed(shown(numbers.length), shown(facts.trials));
    });
    outcome.addEventListener("change", select);
    cell.addEventListener("change", select);
    text.addEventListener("input", select);
    place.replaceChildren(
        make("div", { class: "filters" }, labelled(say.endedAs, outcome), labelled(say.cell, cell), labelled(say.words, text)),
        count, make("div", { class: "list-and-trace" }, list.element, trace));
    trace.append(make("p", { class: "note" }, say.chooseTrial));
    await select();
}

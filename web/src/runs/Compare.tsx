// Two cells, of one run or of two, on the same items: chosen from what there is.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Flip, ShownComparison } from "../closeread_wasm.js";
import { make, table } from "../dom.js";
import type { HeldRun } from "../messages/runs.js";
import { useApp, useSession, useWords } from "../context.js";
import { percent } from "../percent.js";
import { comparing, firstPair, type Side } from "../state/runs.js";
import { inLanguage, shown } from "../words/index.js";
import * as words from "../words/runs.js";
import { shownTable } from "./report.js";
import { shownText, visible } from "./text.js";

/** Items that a list shows at once. */
const MAX_ITEMS = 100;

export function Compare({ runs, first }: { runs: HeldRun[]; first: HeldRun }) {
    const session = useSession();
    const say = useWords(words);
    const language = useApp((state) => state.language);
    const second = runs.find(({ id }) => id !== first.id);
    const [pair] = useState(() => firstPair(first.facts.arms));
    const [a, setA] = useState<Side>(second ? { run: first.id, cell: -1 } : { run: first.id, cell: pair[0] });
    const [b, setB] = useState<Side>(second ? { run: second.id, cell: -1 } : { run: first.id, cell: pair[1] });
    const [compared, setCompared] = useState<ShownComparison[]>();
    const result = useRef<HTMLDivElement>(null);
    const heldBy = (side: Side) => runs.find(({ id }) => id === side.run)!;
    const same = a.run === b.run && a.cell === b.cell;
    const metrics = useMemo(() => heldBy(a).facts.metrics.filter(([name]) => heldBy(b).facts.metrics.some(([other]) => other === name)), [a, b]);
    const [metric, setMetric] = useState("");
    const compare = () =>
        session.attempt(async () => {
            setCompared(undefined);
            const arm = (side: Side) => (side.cell < 0 ? undefined : heldBy(side).facts.arms[side.cell]);
            const options = { ...comparing(arm(a), arm(b)), metric: metric === "" ? [] : [metric] };
            setCompared(await session.core.ask("runs/compare", { a: a.run, b: b.run, options }));
        });
    // The pair that is there at first says something without a click.
    useEffect(() => {
        if (!same) void compare();
    }, []);
    useEffect(() => result.current?.replaceChildren(...(compared ?? []).flatMap(comparison)), [compared, language]);
    const choice = (id: string, name: string, side: Side, set: (side: Side) => void) => (
        <p class="field">
            <label for={id}>{name}</label>
            <select
                id={id}
                value={`${side.run}/${side.cell}`}
                onChange={({ currentTarget: { value } }) => {
                    const [run, cell] = value.split("/").map(Number) as [number, number];
                    set({ run, cell });
                }}
            >
                {runs.map(({ id, facts }) => (
                    <optgroup key={id} label={visible(facts.name)}>
                        <option value={`${id}/-1`}>{say.allCells(visible(facts.name))}</option>
                        {facts.cells.map((cell, n) => (
                            <option key={cell} value={`${id}/${n}`}>
                                {visible(runs.length > 1 ? `${facts.name}: ${cell}` : cell)}
                            </option>
                        ))}
                    </optgroup>
                ))}
            </select>
        </p>
    );
    return (
        <div class="part compare">
            <p class="note">{say.compareNote}</p>
            <div class="filters">
                {choice("compare-a", "A", a, setA)}
                {choice("compare-b", "B", b, setB)}
                <p class="field">
                    <label for="compare-metric">{say.metric}</label>
                    <select id="compare-metric" value={metric} onChange={({ currentTarget: { value } }) => setMetric(value)}>
                        <option value="">{say.all}</option>
                        {metrics.map(([name, label]) => (
                            <option key={name} value={name}>
                                {visible(label)}
                            </option>
                        ))}
                    </select>
                </p>
                <button type="button" id="compare-go" class="primary" disabled={same} onClick={compare}>
                    {say.compare}
                </button>
            </div>
            {same && (
                <p class="note" id="same">
                    {say.sameCells}
                </p>
            )}
            <div id="compared" aria-live="polite" ref={result} />
        </div>
    );
}

function comparison({ conclusion, table: whole, gained, lost, notes, unpaired }: ShownComparison): Node[] {
    const say = inLanguage(words);
    const left = Object.entries(unpaired).filter(([, ids]) => ids.length > 0);
    return [
        shownText("p", conclusion, { class: "conclusion" }),
        ...(whole ? shownTable(whole) : []),
        ...items(say.better("B"), gained),
        ...items(say.better("A"), lost),
        ...left.map(([why, ids]) => shownText("p", `${say.unpaired(why, shown(ids.length))}: ${ids.slice(0, MAX_ITEMS).join(", ")}`, { class: "note" })),
        ...notes.map((note) => shownText("p", note, { class: "note" })),
    ];
}

function items(title: string, compared: Flip[]): Node[] {
    if (compared.length === 0) return [];
    const say = inLanguage(words);
    const name = `${title} (${shown(compared.length)})`;
    const rows = compared.slice(0, MAX_ITEMS).map(({ id, a, b }) => [shownText("span", id), percent(a), percent(b)]);
    const more = compared.length > MAX_ITEMS ? [make("p", { class: "note" }, say.more(shown(compared.length - MAX_ITEMS)))] : [];
    return [make("details", {}, make("summary", {}, name), make("div", { class: "scroll" }, table(name, [say.item, "A", "B"], rows)), ...more)];
}

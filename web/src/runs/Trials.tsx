// The trials of a run: which to list, the list, and the trial that is open, with the one before and the one behind it.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TracedPassage, TrialFilter, TrialTrace } from "../closeread_wasm.js";
import type { HeldRun } from "../messages/runs.js";
import { Term } from "../parts/Term.js";
import { useApp, useSession, useWords } from "../context.js";
import { filterOf, runsTo, type RunsAddress } from "../state/runs.js";
import { shown } from "../words/index.js";
import * as words from "../words/runs.js";
import { TrialsInSight } from "./list.js";
import { Places } from "./Places.js";
import { visible } from "./text.js";
import { trialTrace } from "./trace.js";

export function Trials({ run: { id, facts }, at }: { run: HeldRun; at: RunsAddress }) {
    const session = useSession();
    const say = useWords(words);
    const language = useApp((state) => state.language);
    const place = useRef<HTMLDivElement>(null);
    const trace = useRef<HTMLElement>(null);
    const list = useRef<TrialsInSight | undefined>(undefined);
    const [numbers, setNumbers] = useState<Uint32Array>();
    const [open, setOpen] = useState<number>();
    const [read, setRead] = useState<{ trace: TrialTrace; passages: TracedPassage[] }>();
    const byKey = useRef(false);
    const { trial } = at;
    const filter = filterOf(at.filter, facts);
    const [typed, setTyped] = useState(filter.text ?? "");
    // The address has no space at its end; the field keeps the one that was typed.
    useLayoutEffect(() => setTyped((text) => (text.trim() === (filter.text ?? "") ? text : (filter.text ?? ""))), [filter.text]);
    const wanted = JSON.stringify(filter);
    const put = (change: TrialFilter, how: "push" | "replace" = "push") => {
        const next = { ...filter, ...change };
        session.go(runsTo({ ...at, filter: next }), how);
    };
    const show = (number: number, keyed: boolean) =>
        session.attempt(async () => {
            byKey.current = keyed;
            const [line] = await session.core.ask("runs/lines", { id, numbers: new Uint32Array([number]) });
            if (line) session.go(runsTo({ ...at, filter, trial: { item: line.item, cell: facts.cells[line.cell] ?? "", repeat: line.repeat } }));
        });
    const latest = useRef(show);
    latest.current = show;
    useEffect(() => {
        list.current = new TrialsInSight(
            facts.cells,
            (numbers) => session.core.ask("runs/lines", { id, numbers }),
            (number, keyed) => void latest.current(number, keyed),
        );
        place.current!.replaceChildren(list.current.element);
        if (numbers) list.current.show(numbers);
    }, [id, language]);
    useEffect(() => {
        let current = true;
        void session.attempt(async () => {
            const found = await session.core.ask("runs/select", { id, filter });
            if (!current) return;
            setNumbers(found);
            list.current!.show(found);
        });
        return () => void (current = false);
    }, [id, wanted]);
    // The trial of the address.
    useEffect(() => {
        if (!trial) return setOpen(undefined);
        let current = true;
        void session.attempt(async () => {
            const cell = facts.cells.indexOf(trial.cell);
            const of = cell < 0 ? new Uint32Array() : await session.core.ask("runs/select", { id, filter: { item: trial.item, cell } });
            const lines = await session.core.ask("runs/lines", { id, numbers: of });
            const number = of[lines.findIndex(({ repeat }) => repeat === trial.repeat)];
            if (!current) return;
            if (number === undefined) throw new Error(say.noTrial(visible(trial.item), visible(trial.cell)));
            const { trace: found, passages } = await session.core.ask("runs/trace", { id, number });
            if (!current) return;
            setOpen(number);
            setRead({ trace: found, passages });
            trace.current!.replaceChildren(...trialTrace(found, passages, () => session.core.ask("runs/sent", { id, number })));
            const heading = trace.current!.querySelector<HTMLElement>("#trace-heading");
            if (byKey.current) heading?.focus();
            else if (trace.current!.getBoundingClientRect().top > innerHeight) heading?.scrollIntoView({ block: "start" });
            byKey.current = false;
        });
        return () => void (current = false);
    }, [id, trial?.item, trial?.cell, trial?.repeat, language]);
    const n = numbers && open !== undefined ? numbers.indexOf(open) : -1;
    useEffect(() => {
        if (n >= 0) list.current?.mark(n);
    }, [n, numbers]);
    const step = (by: number) => {
        const next = numbers?.[n + by];
        if (next !== undefined) void show(next, false);
    };
    const verdict = (value: TrialFilter["verdict"] | "", text: string) => (
        <label key={value}>
            <input
                type="radio"
                name="verdict"
                id={`verdict-${value || "all"}`}
                checked={(filter.verdict ?? "") === value}
                onChange={() => put({ verdict: (value || undefined) as NonNullable<TrialFilter["verdict"]> })}
            />
            {text}
        </label>
    );
    return (
        <div class="part trials">
            <div class="filters">
                <fieldset class="segments">
                    <legend class="vh">{say.verdicts}</legend>
                    {verdict("", say.all)}
                    {verdict("right", say.right)}
                    {verdict("wrong", say.wrong)}
                    {verdict("differ", say.differ)}
                </fieldset>
                <p class="field">
                    <label for="trial-text">{say.words}</label>
                    <input
                        id="trial-text"
                        type="search"
                        autocomplete="off"
                        value={typed}
                        onInput={({ currentTarget: { value } }) => {
                            setTyped(value);
                            put({ text: value.trim() }, "replace");
                        }}
                    />
                </p>
                <p class="field">
                    <label for="trial-cell">{say.cell}</label> <Term name="cell">?</Term>
                    <select
                        id="trial-cell"
                        value={filter.cell === undefined ? "" : String(filter.cell)}
                        onChange={({ currentTarget: { value } }) => put({ cell: (value === "" ? undefined : Number(value)) as number })}
                    >
                        <option value="">{say.all}</option>
                        {facts.cells.map((name, n) => (
                            <option key={name} value={n}>
                                {visible(name)}
                            </option>
                        ))}
                    </select>
                </p>
                <p class="field">
                    <label for="trial-outcome">{say.endedAs}</label> <Term name="outcome">?</Term>
                    <select
                        id="trial-outcome"
                        value={filter.outcome ?? ""}
                        onChange={({ currentTarget: { value } }) => put({ outcome: (value || undefined) as string })}
                    >
                        <option value="">{say.all}</option>
                        {facts.outcomes.map((name) => (
                            <option key={name} value={name}>
                                {say.outcome(name)}
                            </option>
                        ))}
                    </select>
                </p>
                <p class="field">
                    <label for="trial-sort">{say.sort}</label>
                    <select
                        id="trial-sort"
                        value={filter.sort ?? "item"}
                        onChange={({ currentTarget: { value } }) => put({ sort: (value === "item" ? undefined : value) as "cell" })}
                    >
                        {Object.entries(say.sorts).map(([name, text]) => (
                            <option key={name} value={name}>
                                {text}
                            </option>
                        ))}
                    </select>
                </p>
            </div>
            <p class="note num" role="status" id="trial-count">
                {numbers && say.listed(shown(numbers.length), shown(facts.trials))}
            </p>
            <div class="list-and-trace">
                <div ref={place} />
                <div class="trace-side">
                    {open !== undefined && (
                        <p class="buttons" role="group" aria-label={say.trial}>
                            <span class="mute num">{n >= 0 ? say.place(shown(n + 1), shown(numbers!.length)) : say.notListed}</span>
                            <button type="button" id="previous-trial" aria-disabled={n <= 0} onClick={() => step(-1)}>
                                {say.previous}
                            </button>
                            <button type="button" id="next-trial" aria-disabled={n < 0 || n >= numbers!.length - 1} onClick={() => step(1)}>
                                {say.next}
                            </button>
                        </p>
                    )}
                    {open !== undefined && read && <Places {...read} />}
                    <section class="trace" aria-label={say.trial} ref={trace} key={`${trial === undefined}`}>
                        {!trial && <p class="note">{say.chooseTrial}</p>}
                    </section>
                </div>
            </div>
        </div>
    );
}

// How a run ended: the record.

import { useEffect, useState } from "preact/hooks";
import type { TrialRecord } from "../../closeread_wasm.js";
import type { Player } from "../../play/player.js";
import { useApp, useSession, useWords } from "../../context.js";
import { shown } from "../../words/index.js";
import * as words from "../../words/watch.js";
import { Notes } from "../model/Notes.js";
import { HowEnded } from "./Call.js";
import { ExactText, Folded, LongList } from "./Text.js";

export function Ending({ player, record }: { player: Player; record: TrialRecord }) {
    const say = useWords(words);
    const { item } = player.plan;
    const gold = item.options !== undefined && item.correct !== undefined ? item.options[item.correct] : item.answers?.[0];
    const readers = new Set(player.state.steps.flatMap((step) => (step.kind === "call" && step.by !== undefined ? [step.by] : [])));
    const { context } = record;
    return (
        <section class="ending" aria-labelledby="ending-heading">
            <h2 id="ending-heading">{say.ending}</h2>
            <p class="outcome serif">
                <HowEnded ended={record} />
            </p>
            {gold !== undefined && (
                <p>
                    {say.gold}:{" "}
                    <span class="foreign" dir="auto">
                        {gold}
                    </span>
                </p>
            )}
            <Notes readers={[...readers]} />
            <Numbers caption={say.scores} values={record.scores} />
            <Numbers caption={say.measures} values={record.measures ?? {}} />
            <p class="facts num">{say.totals(record.calls.length, record.prompt_tokens)}</p>
            {context && <Folded summary={say.context(context.passages.length, context.n_tokens)}>{() => <Given player={player} context={context} />}</Folded>}
            <button type="button" id="save-record" onClick={() => save(record)}>
                {say.download}
            </button>
        </section>
    );
}

function Given({ player, context }: { player: Player; context: NonNullable<TrialRecord["context"]> }) {
    const session = useSession();
    const say = useWords(words);
    const nBytes = useApp(({ book }) => book?.facts.nBytes ?? 1);
    const [texts, setTexts] = useState<string[]>();
    useEffect(() => void session.attempt(async () => setTexts(await player.slices(context.passages))), [context]);
    return (
        <LongList items={context.passages}>
            {({ start, score }, index) => (
                <>
                    <p class="facts">{say.place(Math.round((100 * start) / nBytes), score)}</p>
                    <ExactText text={texts?.[index] ?? ""} />
                </>
            )}
        </LongList>
    );
}

function Numbers({ caption, values }: { caption: string; values: Record<string, number> }) {
    const say = useWords(words);
    const rows = Object.entries(values);
    if (rows.length === 0) return null;
    return (
        <div class="scroll">
            <table>
                <caption>{caption}</caption>
                <thead>
                    <tr>
                        <th scope="col">{say.name}</th>
                        <th scope="col" class="number">
                            {say.value}
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {rows.map(([name, value]) => (
                        <tr key={name}>
                            <th scope="row">{name}</th>
                            <td class="number">{shown(Math.round(1e4 * value) / 1e4)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </div>
    );
}

function save(record: TrialRecord): void {
    const url = URL.createObjectURL(new Blob([`${JSON.stringify(record)}\n`], { type: "application/jsonl" }));
    Object.assign(document.createElement("a"), { href: url, download: `${record.item}-${record.method}.jsonl` }).click();
    URL.revokeObjectURL(url);
}

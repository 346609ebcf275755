// All questions with both answers and the gold answer.

import { useState } from "preact/hooks";
import type { OrderEffect } from "../../closeread_wasm.js";
import { ORDERS, answered, isChanged, type Answer, type Asked } from "../../play/asked.js";
import { useWords } from "../../context.js";
import * as words from "../../words/ask.js";
import * as watchWords from "../../words/watch.js";
import { Mark, goldOf } from "./Answers.js";

export function All({
    questions,
    effect,
    selected,
    select,
}: {
    questions: readonly Asked[];
    effect: OrderEffect | undefined;
    selected: number;
    select: (n: number) => void;
}) {
    const say = useWords(words);
    const [only, setOnly] = useState(false);
    const changed = questions.filter(isChanged).length;
    return (
        <section class="all" aria-labelledby="all-heading">
            <header>
                <h2 id="all-heading">{say.all(questions.length)}</h2>
                <label class="tick">
                    <input id="only-changed" type="checkbox" checked={only} onChange={(event) => setOnly(event.currentTarget.checked)} />{" "}
                    {say.onlyChanged(changed)}
                </label>
            </header>
            <div class="scroll">
                <table>
                    <thead>
                        <tr>
                            <th scope="col">{say.columns.question}</th>
                            {ORDERS.map((order) => (
                                <th key={order} scope="col">
                                    {say.orders[order]}
                                </th>
                            ))}
                            <th scope="col">{say.columns.gold}</th>
                        </tr>
                    </thead>
                    <tbody>
                        {questions.map((asked, n) =>
                            only && !isChanged(asked) ? null : (
                                <tr key={n} class={isChanged(asked) ? "changed" : undefined} aria-current={n === selected}>
                                    <th scope="row">
                                        <button type="button" class="quiet foreign" dir="auto" onClick={() => select(n)}>
                                            {asked.item.question}
                                        </button>
                                    </th>
                                    {ORDERS.map((order, side) => (
                                        <td key={order}>
                                            <Mark score={effect?.scored[n]?.[side + 1] as number | undefined} /> <Said answer={asked.answers[order]} />
                                        </td>
                                    ))}
                                    <td class="foreign" dir="auto">
                                        {goldOf(asked) ?? ""}
                                    </td>
                                </tr>
                            ),
                        )}
                    </tbody>
                </table>
            </div>
        </section>
    );
}

function Said({ answer }: { answer: Answer }) {
    const say = useWords(watchWords);
    const { record } = answer;
    if (record && record.outcome !== "answered") return <span class="mute">{say.outcomes[record.outcome]}</span>;
    return (
        <span class="foreign" dir="auto">
            {answered(answer) ?? "…"}
        </span>
    );
}

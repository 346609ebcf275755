// The paper's own numbers, beside what was just measured.

import { useWords } from "../../context.js";
import { shown } from "../../words/index.js";
import * as words from "../../words/ask.js";

/** Stronger Baselines, tables 1 (GPT-4o-mini) and 2 (GPT-4o): budget, vanilla RAG, DOS RAG. */
const TABLES: [string, [number, number, number][]][] = [
    [
        "GPT-4o-mini",
        [
            [1500, 69.9, 68.9],
            [5000, 73.9, 78.9],
            [10000, 76.0, 84.1],
            [20000, 77.0, 83.6],
            [30000, 77.8, 82.5],
            [40000, 77.2, 81.6],
        ],
    ],
    [
        "GPT-4o",
        [
            [1500, 76.2, 75.6],
            [5000, 82.6, 85.9],
            [10000, 86.0, 90.0],
            [20000, 86.9, 91.4],
            [30000, 87.8, 93.1],
            [40000, 86.6, 91.9],
        ],
    ],
];

export function Paper({ budget }: { budget: number }) {
    const say = useWords(words);
    const nearest = TABLES[0]![1].reduce((best, [at]) => (Math.abs(at - budget) < Math.abs(best - budget) ? at : best), Infinity);
    return (
        <section class="paper" aria-labelledby="paper-heading">
            <h2 id="paper-heading">{say.paper}</h2>
            <p>{say.paperLead}</p>
            <div class="columns">
                {TABLES.map(([model, rows]) => (
                    <div key={model} class="scroll">
                        <table>
                            <caption>{model}</caption>
                            <thead>
                                <tr>
                                    {say.paperColumns.map((name, n) => (
                                        <th key={name} scope="col" class={n > 0 ? "number" : undefined}>
                                            {name}
                                        </th>
                                    ))}
                                </tr>
                            </thead>
                            <tbody>
                                {rows.map(([at, score, book]) => (
                                    <tr key={at} class={at === nearest ? "nearest" : undefined}>
                                        <th scope="row">{shown(at)}</th>
                                        <td class="number">{score.toFixed(1)}</td>
                                        <td class="number">{book.toFixed(1)}</td>
                                        <td class="number">{(book - score > 0 ? "+" : "−") + Math.abs(book - score).toFixed(1)}</td>
                                    </tr>
                                ))}
                            </tbody>
                        </table>
                    </div>
                ))}
            </div>
        </section>
    );
}

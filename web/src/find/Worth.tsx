// What the ranking is worth by the evidence of this question, as `closeread retrieve` has it over many.

import type { RankingScores } from "../closeread_books.js";
import { Term } from "../parts/Term.js";
import { percent } from "../percent.js";
import { useWords } from "../context.js";
import * as words from "../words/find.js";

export function Worth({ scores }: { scores: RankingScores }) {
    const say = useWords(words);
    return (
        <details id="worth">
            <summary>{say.worth}</summary>
            <p class="note">{say.worthNote}</p>
            <table>
                <caption class="vh">{say.worth}</caption>
                <thead>
                    <tr>
                        <th scope="col">{say.firstPassages}</th>
                        <th scope="col">{say.hit}</th>
                        <th scope="col">
                            <Term name="recall">{say.recallAt}</Term>
                        </th>
                        <th scope="col">{say.precisionAt}</th>
                        <th scope="col">
                            <Term name="ndcg">nDCG</Term>
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {scores.at.map(({ k, hit, recall, precision, ndcg }) => (
                        <tr key={k}>
                            <th scope="row">{k}</th>
                            <td>{percent(hit)}</td>
                            <td>{percent(recall)}</td>
                            <td>{percent(precision)}</td>
                            <td>{percent(ndcg)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            <p>
                <Term name="mrr">{say.mrr}</Term> <b id="mrr">{percent(scores.mrr)}</b>
                {say.and}
                {say.precision} <b id="precision">{percent(scores.precision)}</b>
            </p>
        </details>
    );
}

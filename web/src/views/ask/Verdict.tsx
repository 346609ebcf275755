// What the questions say about the order: a sentence, the paired difference with its interval, every question as a square.

import type { OrderEffect } from "../../closeread_wasm.js";
import { groupOf, isChanged, type AskState, type Group } from "../../play/asked.js";
import { useWords } from "../../context.js";
import * as words from "../../words/ask.js";

const GROUPS: readonly Group[] = ["both", "book", "score", "neither"];

export function Verdict({ state, available, select }: { state: AskState; available: number | undefined; select: (question: number) => void }) {
    const say = useWords(words);
    const { effect, questions } = state;
    const both = questions.map(isChanged).filter((changed) => changed !== undefined);
    // What the last answer means is being computed.
    if (both.length === 0 || effect === undefined) return null;
    const { comparison } = effect;
    const changed = <p>{say.changed(both.filter((one) => one).length, both.length)}</p>;
    if (!comparison)
        return (
            <section class="verdict" role="status">
                <div>
                    <h2>{say.verdict.unscored}</h2>
                    {changed}
                    <p>{say.unscored}</p>
                </div>
            </section>
        );
    const { n, mean_a, mean_b, difference, low, high, mcnemar, needed } = comparison;
    const ahead = effect.ahead === "a" ? "score" : effect.ahead === "b" ? "book" : undefined;
    return (
        <section class="verdict">
            <div role="status">
                <h2 id="verdict">{ahead === undefined ? say.verdict.none(n) : say.verdict[ahead]}</h2>
                <p>{mcnemar ? say.rightOf(Math.round(mean_b * n), Math.round(mean_a * n), n) : say.scores(mean_b, mean_a, n)}</p>
                <p>
                    {say.difference(difference, low, high)} {low <= 0 && high >= 0 && say.inside}
                </p>
                <p>
                    {needed ? say.needed(needed.items) : say.noneNeeded} {available !== undefined && say.has(available)}
                </p>
                {changed}
                <p class="mute small">{say.oneBook}</p>
            </div>
            <div>
                <Interval {...{ difference, low, high }} />
                <Squares effect={effect} binary={mcnemar !== null && mcnemar !== undefined} select={select} />
            </div>
        </section>
    );
}

const WIDTH = 440;

function Interval({ difference, low, high }: { difference: number; low: number; high: number }) {
    const say = useWords(words);
    // The next ten points beyond the interval, at both ends alike: nothing is drawn larger than it is.
    const most = Math.max(0.1, Math.ceil(10 * Math.max(Math.abs(low), Math.abs(high))) / 10);
    const x = (share: number) => WIDTH / 2 + (share / most) * (WIDTH / 2 - 14);
    const ticks = [-most, -most / 2, 0, most / 2, most];
    return (
        <figure class="interval">
            <svg viewBox={`0 0 ${WIDTH} 100`} role="img" aria-label={say.interval(difference, low, high)}>
                <rect class="range" x={x(low)} y="26" width={x(high) - x(low)} height="8" />
                <line class="axis" x1="0" x2={WIDTH} y1="54" y2="54" />
                <line class="zero" x1={x(0)} x2={x(0)} y1="20" y2="54" />
                {ticks.map((tick) => (
                    <g key={tick}>
                        <line class="axis" x1={x(tick)} x2={x(tick)} y1="54" y2="59" />
                        <text x={x(tick)} y="74" text-anchor="middle">
                            {String(Math.round(100 * tick)).replace("-", "−")}
                        </text>
                    </g>
                ))}
                <circle cx={x(difference)} cy="30" r="7" />
                <text class="at" x={x(difference)} y="14" text-anchor="middle">
                    {say.pointsShort(difference)}
                </text>
                <text x="0" y="94">
                    {say.axis.score}
                </text>
                <text x={WIDTH} y="94" text-anchor="end">
                    {say.axis.book}
                </text>
            </svg>
        </figure>
    );
}

function Squares({ effect, binary, select }: { effect: OrderEffect; binary: boolean; select: (question: number) => void }) {
    const say = useWords(words);
    const names = binary ? say.groups : say.groupsPartly;
    const inGroup = (group: Group) => effect.scored.flatMap((scored, n) => (groupOf(scored) === group ? [n] : []));
    return (
        <dl class="squares">
            {GROUPS.map((group) => {
                const all = inGroup(group);
                return (
                    <div key={group}>
                        <dt>
                            <b class="serif num">{all.length}</b>
                            {names[group]}
                        </dt>
                        <dd>
                            {all.map((n) => (
                                <button
                                    key={n}
                                    type="button"
                                    class={`square ${group}`}
                                    aria-label={say.question(n + 1, effect.scored.length)}
                                    onClick={() => select(n)}
                                />
                            ))}
                        </dd>
                    </div>
                );
            })}
        </dl>
    );
}

// Words against meaning: two rankings of one question as lanes of passages, their evidence joined.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { embeddingOf, useRetrieval } from "../find/retrieval.js";
import { Hatch, type Stand } from "../parts/Ribbon.js";
import { Save } from "../parts/Save.js";
import { useWidth } from "../parts/width.js";
import { useSession, useWords } from "../context.js";
import { shown } from "../words/index.js";
import * as words from "../words/essay.js";
import type { Subject } from "./Hero.js";
import { Idea } from "./Idea.js";

/** Tokens of a lane. */
const LENGTH = 2400;
const NONE: number[] = [];

interface Box extends Stand {
    index: number;
    tokens: number;
}

export function Meaning({ subject }: { subject: Subject }) {
    const session = useSession();
    const say = useWords(words);
    const { mine, file, evidence, settings } = subject;
    const [wanted, setWanted] = useState(false);
    const embedding = embeddingOf(session);
    const [, draw] = useState(0);
    useEffect(() => {
        const changed = () => draw((n) => n + 1);
        embedding.addEventListener("change", changed);
        return () => embedding.removeEventListener("change", changed);
    }, [embedding]);
    const own = (retriever: "bm25" | "dense") => ({ ...settings, budget: LENGTH, neighbours: 0, retriever });
    const words_ = useRetrieval(session, mine?.book, mine?.question ?? { text: "", item: undefined }, own("bm25"), NONE, 0);
    const meaning = useRetrieval(session, wanted ? mine?.book : undefined, mine?.question ?? { text: "", item: undefined }, own("dense"), NONE, 0);
    const byWords: readonly Box[] = mine ? (words_.shown?.byScore ?? []) : file.rows.map(([index, start, end, , tokens]) => ({ index, start, end, tokens }));
    const byMeaning: readonly Box[] = mine
        ? embedding.hasSome
            ? (meaning.shown?.byScore ?? [])
            : []
        : file.meaning.map(([index, start, end, tokens]) => ({ index, start, end, tokens }));
    const { state } = embedding;
    const [sides, why] = say.meaning as [string, string];
    const texts = mine && !wanted ? [sides, why, say.meaningMine] : !mine && byMeaning.length === 0 ? [why, say.meaningNone] : [sides, why];
    return (
        <Idea id="meaning" heading={say.meaningHeading} texts={texts} paper={say.computed}>
            <Lanes
                lanes={[[say.byWords, byWords], ...(byMeaning.length > 0 ? [[say.byMeaning, byMeaning] as const] : [])]}
                evidence={evidence}
                budget={settings.budget}
                title={say.meaningChart}
            />
            {mine && !wanted && mine.question.text !== "" && (
                <button type="button" id="by-meaning" onClick={() => setWanted(true)}>
                    {say.meaningGo}
                </button>
            )}
            {wanted && "total" in state && state.kind !== "complete" && state.total > 0 && (
                <progress max={state.total} value={state.done} aria-label={say.byMeaning} />
            )}
        </Idea>
    );
}

function Lanes({
    lanes,
    evidence,
    budget,
    title,
}: {
    lanes: readonly (readonly [string, readonly Box[]])[];
    evidence: readonly Stand[];
    budget: number;
    title: string;
}) {
    const id = useId();
    const figure = useRef<HTMLElement>(null);
    const width = useWidth(figure);
    const [above, tall, gap] = [28, 40, 96];
    const x = (tokens: number) => (width * tokens) / LENGTH;
    const placed = lanes.map(([, boxes]) => {
        let from = 0;
        return boxes.flatMap((box) => {
            const at = from;
            from += box.tokens;
            return from <= LENGTH ? [{ ...box, from: at, proves: evidence.findIndex((span) => span.start < box.end && box.start < span.end) }] : [];
        });
    });
    const y = (lane: number) => above + lane * (tall + gap);
    const height = y(lanes.length - 1) + tall + 56;
    const middle = (lane: number, piece: number) => {
        const box = placed[lane]?.find(({ proves }) => proves === piece);
        return box && x(box.from + box.tokens / 2);
    };
    const told = lanes
        .map(([name], lane) => `${name}: ${(placed[lane] ?? []).flatMap(({ proves }, n) => (proves < 0 ? [] : [`${proves + 1} → ${n + 1}`])).join(", ")}`)
        .join("; ");
    return (
        <figure class="chart lanes" ref={figure}>
            <svg class="drawing" width={width} height={height} role="img" aria-label={`${title}. ${told}`}>
                <defs>
                    <Hatch id={`lanes${id}`} />
                </defs>
                {lanes.map(([name], lane) => (
                    <g key={name}>
                        {placed[lane]!.map(({ index, from, tokens, proves }) => (
                            <rect
                                key={index}
                                x={x(from)}
                                y={y(lane)}
                                width={Math.max(1, x(tokens) - 2)}
                                height={tall}
                                class={proves >= 0 ? "evidence hatched" : from + tokens <= budget ? "retrieved" : "not-read"}
                                fill={proves >= 0 ? `url(#lanes${id})` : undefined}
                            />
                        ))}
                        {placed[lane]!.map(
                            ({ index, from, tokens, proves }) =>
                                proves >= 0 && (
                                    <text key={index} class="middle piece" x={x(from + tokens / 2)} y={lane === 0 ? y(0) - 8 : y(lane) + tall + 16}>
                                        {proves + 1}
                                    </text>
                                ),
                        )}
                        <text class="name" x={width} y={lane === 0 ? y(0) + tall + 18 : y(lane) - 8}>
                            {name}
                        </text>
                    </g>
                ))}
                {lanes.length > 1 &&
                    evidence.map((_, piece) => {
                        const [from, to] = [middle(0, piece), middle(1, piece)];
                        return (
                            from !== undefined &&
                            to !== undefined && (
                                <path key={piece} class="joins" d={`M${from} ${y(0) + tall}C${from} ${y(0) + tall + 48} ${to} ${y(1) - 48} ${to} ${y(1)}`} />
                            )
                        );
                    })}
                {budget <= LENGTH && <path class="mark" d={`M${x(budget)} ${above - 6}V${height - 40}`} />}
                {[0, 600, 1200, 1800, 2400].map((tick) => (
                    <text key={tick} class={tick === 0 ? "" : tick === LENGTH ? "end" : "middle"} x={x(tick)} y={height - 8}>
                        {shown(tick)}
                    </text>
                ))}
            </svg>
            <Save
                name="words-and-meaning"
                title={title}
                figure={figure}
                rows={() => [
                    ["ranking", "rank", "passage", "tokens", "evidence"],
                    ...lanes.flatMap(([name], lane) =>
                        placed[lane]!.map(({ index, tokens, proves }, n) => [name, n + 1, index + 1, tokens, proves < 0 ? "" : proves + 1]),
                    ),
                ]}
            />
        </figure>
    );
}

// The same passages in two orders: the search's ranks at the left, what the model reads in the middle, the path through the
// book at the right. Choosing the other order moves the rows.

import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useWords } from "../context.js";
import * as words from "../words/parts.js";
import { Hatch, type Chapter, type Stand } from "./Ribbon.js";
import { useTween } from "./tween.js";

export interface Row extends Stand {
    index: number;
    score: number;
    tokens: number;
    text: string;
}

export type Order = "score" | "book";

interface Props {
    byScore: readonly Row[];
    byBook: readonly Row[];
    order: Order;
    nBytes: number;
    chapters: readonly Chapter[];
    evidence: readonly Stand[];
    open: (row: Row) => void;
    /** Passages that are not listed yet, and what lists more. */
    left?: number;
    more?: () => void;
}

/** Ranks are joined to what is read where both can be seen. */
const JOINED = 40;

export function isEvidence(row: Stand, evidence: readonly Stand[]): boolean {
    return evidence.some((span) => span.start < row.end && row.start < span.end);
}

export function Stage({ byScore, byBook, order, nBytes, chapters, evidence, open, left = 0, more }: Props) {
    const say = useWords(words);
    const rows = order === "score" ? byScore : byBook;
    const ranks = useMemo(() => new Map(byScore.map(({ index }, rank) => [index, rank])), [byScore]);
    const places = useMemo(() => new Map(rows.map(({ index }, place) => [index, place])), [rows]);
    const at = useTween(places, order);
    const stage = useRef<HTMLDivElement>(null);
    const { height, width } = useSizes(stage);
    const joined = rows.length <= JOINED;
    const y = (place: number) => (place + 0.5) * height;
    const chapterOf = (row: Row) => chapters.findLastIndex(({ start }) => start <= row.start) + 1;
    return (
        <div class="stage" ref={stage}>
            <p class="stage-head" aria-hidden="true">
                {joined && <span class="ranks">{say.ranks}</span>}
                <span class="reads">
                    <b>{say.reads}</b>
                    {say.topToBottom}
                </span>
                <span class="ends">
                    <span>{say.shortStart}</span>
                    <span>{say.shortEnd}</span>
                </span>
            </p>
            <div class={joined ? "stage-body joined" : "stage-body"} style={{ height: `${rows.length * height}px` }}>
                {joined && <Ranks rows={byScore} evidence={evidence} height={height} at={at} />}
                <ol class="rows" id="passages">
                    {rows.map((row) => {
                        const evident = isEvidence(row, evidence);
                        const rank = ranks.get(row.index);
                        return (
                            <li
                                key={row.index}
                                data-passage={row.index}
                                class={evident ? "evident" : undefined}
                                style={{ transform: `translateY(${(at.get(row.index) ?? 0) * height}px)` }}
                            >
                                <button type="button" class="row" onClick={() => open(row)}>
                                    <span class="place num">{chapters.length > 1 ? say.chapter(chapterOf(row)) : say.percent(row.start / nBytes)}</span>
                                    <span class="text book-text foreign" dir="auto">
                                        {evident ? <mark>{row.text}</mark> : row.text}
                                    </span>
                                    <span class="vh">
                                        {[
                                            say.passageOf(row.index + 1),
                                            rank === undefined ? "" : say.rank(rank + 1),
                                            say.into(row.start / nBytes),
                                            evident ? say.isEvidence : "",
                                        ]
                                            .filter((part) => part !== "")
                                            .join(", ")}
                                    </span>
                                </button>
                            </li>
                        );
                    })}
                </ol>
                <Path rows={rows} evidence={evidence} at={at} y={y} width={width} nBytes={nBytes} />
            </div>
            {left > 0 && more && (
                <button type="button" id="more" onClick={more}>
                    {say.more(Math.min(left, JOINED))}
                </button>
            )}
        </div>
    );
}

/** The height of a row and the width of the path, as the style sheet has them for this window. */
function useSizes(stage: { current: HTMLDivElement | null }) {
    const [sizes, setSizes] = useState({ height: 32, width: 190 });
    useLayoutEffect(() => {
        const measure = () => {
            const style = getComputedStyle(stage.current!);
            const [height, width] = ["--row", "--path"].map((name) => Number.parseFloat(style.getPropertyValue(name))) as [number, number];
            setSizes((before) => (before.height === height && before.width === width ? before : { height, width }));
        };
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(stage.current!);
        return () => observer.disconnect();
    }, []);
    return sizes;
}

/** The ranks with a bar as long as the score, each joined to where its passage is read. */
function Ranks({ rows, evidence, height, at }: { rows: readonly Row[]; evidence: readonly Stand[]; height: number; at: ReadonlyMap<number, number> }) {
    const id = useId();
    const best = Math.max(...rows.map(({ score }) => score), Number.MIN_VALUE);
    const middle = (place: number) => (place + 0.5) * height;
    return (
        <svg class="ranks" width="200" height={rows.length * height} aria-hidden="true">
            <defs>
                <Hatch id={`ranks${id}`} />
            </defs>
            {rows.map((row, rank) => {
                const evident = isEvidence(row, evidence);
                const [from, to] = [middle(rank), middle(at.get(row.index) ?? rank)];
                return (
                    <g key={row.index} class={evident ? "evident" : undefined}>
                        <text x="0" y={from + 4}>
                            {rank + 1}
                        </text>
                        <rect
                            class={evident ? "evidence hatched" : "retrieved"}
                            x="28"
                            y={from - 7}
                            width={Math.max(2, (92 * row.score) / best)}
                            height="14"
                            fill={evident ? `url(#ranks${id})` : undefined}
                        />
                        <path d={`M126 ${from}C160 ${from} 160 ${to} 194 ${to}`} />
                    </g>
                );
            })}
        </svg>
    );
}

/** From top to bottom as it is read, from left to right as it stands in the book. */
function Path({
    rows,
    evidence,
    at,
    y,
    width,
    nBytes,
}: {
    rows: readonly Row[];
    evidence: readonly Stand[];
    at: ReadonlyMap<number, number>;
    y: (place: number) => number;
    width: number;
    nBytes: number;
}) {
    const id = useId();
    const x = ({ start }: Row) => 4 + ((width - 8) * start) / Math.max(1, nBytes);
    const place = (row: Row) => at.get(row.index) ?? 0;
    const inOrder = [...rows].sort((a, b) => place(a) - place(b));
    return (
        <svg class="path" width={width} height={y(rows.length - 0.5)} aria-hidden="true">
            <defs>
                <Hatch id={`path${id}`} />
            </defs>
            <path class="track" d={`M.5 0V${y(rows.length)}M${width - 0.5} 0V${y(rows.length)}`} />
            <polyline points={inOrder.map((row) => `${x(row).toFixed(1)},${y(place(row)).toFixed(1)}`).join(" ")} />
            {rows.map((row) => {
                const evident = isEvidence(row, evidence);
                const side = evident ? 11 : 7;
                return (
                    <rect
                        key={row.index}
                        class={evident ? "evidence hatched" : "retrieved"}
                        x={x(row) - side / 2}
                        y={y(place(row)) - side / 2}
                        width={side}
                        height={side}
                        fill={evident ? `url(#path${id})` : undefined}
                    />
                );
            })}
        </svg>
    );
}

/** Which order is read. */
export function OrderSwitch({ order, choose }: { order: Order; choose: (order: Order) => void }) {
    const say = useWords(words);
    const name = useId();
    const radio = (value: Order, text: string) => (
        <label>
            <input type="radio" name={name} id={`order-${value}`} value={value} checked={order === value} onChange={() => choose(value)} />
            {text}
        </label>
    );
    return (
        <fieldset class="segments">
            <legend class="vh">{say.order}</legend>
            {radio("score", say.byScore)}
            {radio("book", say.bookOrder)}
        </fieldset>
    );
}

// Curves over tokens: drawn as steps where they are steps, labelled at their ends, read by pointer and arrow keys.

import { useRef, useState } from "preact/hooks";
import { useWords } from "../context.js";
import { shown } from "../words/index.js";
import * as words from "../words/parts.js";
import { Save } from "./Save.js";
import { useWidth } from "./width.js";

export interface Curve {
    name: string;
    /** Book order is solid and filled, score order dashed and open. */
    line: "solid" | "dashed";
    step?: boolean;
    /** `spread` reaches as far above as below. */
    points: readonly { x: number; y: number; spread?: number }[];
}

interface Props {
    /** Of its file, and what it is called. */
    name: string;
    title: string;
    curves: readonly Curve[];
    /** Bounds of the values. */
    low: number;
    high: number;
    xLabel: string;
    value: (y: number) => string;
    /** Where the reader's budget is. */
    mark?: number | undefined;
    choose?: (x: number) => void;
}

const [LEFT, TOP, BOTTOM] = [48, 18, 48];
/** Of a label, in pixels: as wide as the style sheet sets a letter or a Chinese character, and what stands around it. */
const [LETTER, CHARACTER, AROUND] = [8, 15, 20];

export function StepChart({ name, title, curves, low, high, xLabel, value, mark, choose }: Props) {
    const say = useWords(words);
    const figure = useRef<HTMLDivElement>(null);
    const width = useWidth(figure);
    const [at, setAt] = useState<number>();
    const narrow = width < 480;
    const [right, height] = [Math.max(...curves.map((curve) => widthOf(curve.name))), narrow ? 240 : 300];
    const all = curves.flatMap(({ points }) => points.map(({ x }) => x));
    const stops = [...new Set(all)].sort((a, b) => a - b);
    const [first, last] = [stops[0] ?? 0, stops.at(-1) ?? 1];
    // Budgets grow by factors: from ten times on, so does the axis.
    const scale = last / Math.max(1, first) > 40 ? Math.log : (x: number) => x;
    const xOf = (x: number) =>
        LEFT + ((width - LEFT - right) * (scale(Math.max(x, 1)) - scale(Math.max(first, 1)))) / (scale(last) - scale(Math.max(first, 1)) || 1);
    const yOf = (y: number) => TOP + ((height - TOP - BOTTOM) * (high - y)) / (high - low || 1);
    const line = ({ points, step }: Curve) =>
        points
            .map(
                ({ x, y }, n) =>
                    `${n === 0 ? "M" : step ? `H${xOf(x).toFixed(1)}V` : "L"}${n === 0 || !step ? `${xOf(x).toFixed(1)} ` : ""}${yOf(y).toFixed(1)}`,
            )
            .join("");
    const nearest = (event: PointerEvent | MouseEvent) => {
        const x = event.clientX - figure.current!.querySelector("svg.drawing")!.getBoundingClientRect().left;
        return stops.reduce((best, stop) => (Math.abs(xOf(stop) - x) < Math.abs(xOf(best) - x) ? stop : best), first);
    };
    const valueAt = ({ points, step }: Curve, x: number) => (step ? points.findLast((point) => point.x <= x) : points.find((point) => point.x === x));
    const told = (x: number) =>
        [
            say.tokens(x),
            ...curves.flatMap((curve) => {
                const point = valueAt(curve, x);
                return point ? [`${curve.name} ${value(point.y)}${point.spread ? ` ± ${value(point.spread)}` : ""}`] : [];
            }),
        ].join(", ");
    const key = (event: KeyboardEvent) => {
        const n = at === undefined ? -1 : stops.indexOf(at);
        const to = { ArrowRight: stops[Math.min(stops.length - 1, n + 1)], ArrowLeft: stops[Math.max(0, n - 1)], Home: first, End: last }[event.key];
        if (event.key === "Enter" && at !== undefined) choose?.(at);
        if (to === undefined) return;
        event.preventDefault();
        setAt(to);
    };
    const levels = round(low, high, 5);
    const ticks = ticksOf(scale === Math.log ? factors(first, last) : round(first, last, 6), xOf, narrow ? 64 : 72);
    const ends = spaced(curves.map(({ points }) => yOf(points.at(-1)?.y ?? 0)));
    const marked = at ?? mark;
    return (
        <figure class="chart" ref={figure}>
            <svg
                class="drawing"
                width={width}
                height={height}
                role="slider"
                tabIndex={0}
                aria-label={`${title}. ${say.chartKeys}`}
                aria-valuemin={first}
                aria-valuemax={last}
                aria-valuenow={at ?? mark ?? first}
                aria-valuetext={told(at ?? mark ?? first)}
                onKeyDown={key}
                onBlur={() => setAt(undefined)}
                onPointerMove={(event) => setAt(nearest(event))}
                onPointerLeave={() => setAt(undefined)}
                onClick={(event) => choose?.(nearest(event))}
            >
                {levels.map((level) => (
                    <g key={level} class="axis">
                        <path d={`M${LEFT} ${yOf(level)}H${width - right}`} />
                        <text class="end" x={LEFT - 8} y={yOf(level) + 4}>
                            {value(level)}
                        </text>
                    </g>
                ))}
                {ticks.map((x) => (
                    <text key={x} class="axis middle" x={xOf(x)} y={height - BOTTOM + 20}>
                        {shown(x)}
                    </text>
                ))}
                <text class="axis end" x={width - right} y={height - 6}>
                    {xLabel}
                </text>
                {marked !== undefined && marked >= first && marked <= last && <path class="mark" d={`M${xOf(marked)} ${TOP - 8}V${height - BOTTOM}`} />}
                {curves.map((curve, n) => (
                    <g key={curve.name} class={`curve ${curve.line}`}>
                        <path class="line" d={line(curve)} />
                        {curve.points.length <= 16 &&
                            !curve.step &&
                            curve.points.map(({ x, y, spread }) => (
                                <g key={x}>
                                    {spread !== undefined && <path class="spread" d={`M${xOf(x)} ${yOf(y - spread)}V${yOf(y + spread)}`} />}
                                    <circle cx={xOf(x)} cy={yOf(y)} r="4.5" />
                                </g>
                            ))}
                        {at !== undefined && valueAt(curve, at) && <circle class="here" cx={xOf(at)} cy={yOf(valueAt(curve, at)!.y)} r="6" />}
                        <text class="name" x={width - right + 12} y={ends[n]! + 5}>
                            {curve.name}
                        </text>
                    </g>
                ))}
            </svg>
            <p class="chart-told num" aria-hidden="true">
                {told(at ?? mark ?? last)}
            </p>
            <Save
                name={name}
                title={title}
                figure={figure}
                rows={() => [[xLabel, ...curves.map((curve) => curve.name)], ...stops.map((x) => [x, ...curves.map((curve) => valueAt(curve, x)?.y ?? "")])]}
            />
        </figure>
    );
}

function widthOf(label: string): number {
    return AROUND + [...label].reduce((sum, letter) => sum + (letter > "\u2e80" ? CHARACTER : LETTER), 0);
}

/** Round numbers within bounds, about `n` of them. */
function round(low: number, high: number, n: number): number[] {
    const power = 10 ** Math.floor(Math.log10((high - low) / n || 1));
    const step = power * ([1, 2, 2.5, 5, 10].find((factor) => (high - low) / (factor * power) <= n) ?? 10);
    const first = Math.ceil(low / step - 1e-9);
    return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, k) => (first + k) * step);
}

/** 1, 2, 5, 10, 20 … within bounds. */
function factors(low: number, high: number): number[] {
    const all: number[] = [];
    for (let power = 1; power <= high; power *= 10) all.push(power, 2 * power, 5 * power);
    return all.filter((x) => x >= low && x <= high);
}

/** Stops whose labels have room. */
function ticksOf(stops: readonly number[], xOf: (x: number) => number, room: number): number[] {
    const ticks: number[] = [];
    for (const stop of stops) if (ticks.length === 0 || xOf(stop) - xOf(ticks.at(-1)!) >= room) ticks.push(stop);
    return ticks;
}

/** Labels that would cover each other are moved apart. */
function spaced(ys: number[]): number[] {
    const order = ys.map((y, n) => ({ y, n })).sort((a, b) => a.y - b.y);
    for (let k = 1; k < order.length; k++) order[k]!.y = Math.max(order[k]!.y, order[k - 1]!.y + 18);
    const placed = [...ys];
    for (const { y, n } of order) placed[n] = y;
    return placed;
}

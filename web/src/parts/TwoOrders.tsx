// The figure: a book as a ribbon, what a budget finds in it, and the two orders in which a model can read that.

import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { isNothing, metInOrder, stopAt, type Shown } from "../state/find.js";
import { useApp, useWords } from "../context.js";
import * as words from "../words/find.js";
import { Key, Ribbon, type Chapter, type Stand } from "./Ribbon.js";
import { OrderSwitch, Stage, type Order, type Row } from "./Stage.js";
import { Save } from "./Save.js";
import { Term } from "./Term.js";

interface Props {
    shown: Shown;
    nBytes: number;
    nPassages: number;
    chapters: readonly Chapter[];
    evidence: readonly Stand[];
    order: Order;
    choose: (order: Order) => void;
    budget: number;
    stops: readonly number[];
    move: (budget: number) => void;
    open: (row: Row) => void;
    /** Opens what stands at a byte. */
    openAt?: (byte: number) => void;
    reading?: Stand | undefined;
    more?: () => void;
    children?: ComponentChildren;
}

export function TwoOrders({ shown, nBytes, nPassages, chapters, evidence, order, choose, budget, stops, move, open, openAt, reading, more, children }: Props) {
    const say = useWords(words);
    const rows = order === "score" ? shown.byScore : shown.byBook;
    const met = useMemo(() => metInOrder(rows, evidence), [rows, evidence]);
    const place = stopAt(stops, budget);
    const nothing = isNothing(shown);
    const inPairs = useApp(({ book }) => book?.facts.language === "zh");
    const found = useMemo(() => metInOrder(shown.spans, evidence).length, [shown, evidence]);
    const label = say.ribbon(nothing ? 0 : shown.n, evidence.length, found);
    const figure = useRef<HTMLDivElement>(null);
    const table = () => [
        ["rank", "passage", "start", "end", "tokens", "score", "text"],
        ...shown.byScore.map((row, n) => [n + 1, row.index + 1, row.start, row.end, row.tokens, row.score, row.text]),
    ];
    return (
        <div class="two-orders" ref={figure}>
            <div class="pinned">
                <Ribbon
                    nBytes={nBytes}
                    chapters={chapters}
                    retrieved={nothing ? [] : shown.spans}
                    evidence={evidence}
                    reading={reading}
                    label={label}
                    {...(openAt ? { open: openAt } : {})}
                />
                <div class="controls">
                    <OrderSwitch order={order} choose={choose} />
                    <p class="budget">
                        <span id="budget-label">
                            <Term name="budget">{say.budget}</Term>
                        </span>
                        <input
                            id="budget"
                            type="range"
                            min={0}
                            max={stops.length - 1}
                            step={1}
                            value={place}
                            aria-labelledby="budget-label"
                            aria-valuetext={say.tokens(stops[place] ?? budget)}
                            onInput={(event) => move(stops[event.currentTarget.valueAsNumber] ?? budget)}
                        />
                        <output id="budget-shown" class="num">
                            {say.tokens(stops[place] ?? budget)}
                        </output>
                    </p>
                    <p id="summary" class="num" role="status">
                        {nothing ? (
                            inPairs ? (
                                say.nothingInPairs
                            ) : (
                                say.nothing
                            )
                        ) : (
                            <>
                                {say.summary(shown.n, nPassages, shown.nMatched)}
                                {evidence.length > 0 && (
                                    <>
                                        {say.and}
                                        <b>{say.pieces(found, evidence.length)}</b>
                                    </>
                                )}
                            </>
                        )}
                    </p>
                </div>
            </div>
            {!nothing && (
                <Stage
                    byScore={shown.byScore}
                    byBook={shown.byBook}
                    order={order}
                    nBytes={nBytes}
                    chapters={chapters}
                    evidence={evidence}
                    open={open}
                    left={shown.n - rows.length}
                    {...(more ? { more } : {})}
                />
            )}
            <p class="caption serif">{!nothing && say.order(order, met, evidence.length)}</p>
            <div class="figure-foot">
                {children}
                {!nothing && <Save name="passages" title={say.heading} figure={figure} rows={table} />}
            </div>
            <Key evidence={evidence.length > 0} />
        </div>
    );
}

// When the whole book fits: its length beside the windows of models.

import { useRef } from "preact/hooks";
import { Save } from "../parts/Save.js";
import { useWidth } from "../parts/width.js";
import { useWords } from "../context.js";
import { shown } from "../words/index.js";
import * as words from "../words/essay.js";
import type { Subject } from "./Hero.js";
import { Idea, Paper } from "./Idea.js";

/** Context windows of the models in SagaScale's table 3. */
const WINDOWS = [32_000, 128_000, 200_000, 1_000_000];
const [LEAST, MOST] = [4_000, 2_000_000];
/** Of a label beside its bar, in pixels. */
const LABEL = 130;

export function Whole({ subject: { title, nTokens } }: { subject: Subject }) {
    const say = useWords(words);
    const figure = useRef<HTMLElement>(null);
    const width = useWidth(figure);
    const x = (tokens: number) => (width * Math.log(Math.min(MOST, Math.max(LEAST, tokens)) / LEAST)) / Math.log(MOST / LEAST);
    const fitting = WINDOWS.find((window) => nTokens + 1000 <= window);
    const verdict = fitting ? say.fitsIn(title, shown(nTokens), shown(fitting)) : say.fitsNone(title, shown(nTokens));
    return (
        <Idea
            id="whole"
            heading={say.wholeHeading}
            texts={say.whole}
            paper={
                <>
                    <Paper of="stronger" />
                    {say.wholePaper.stronger}
                    <Paper of="saga" />
                    {say.wholePaper.saga}
                </>
            }
        >
            <figure class="chart" ref={figure}>
                <svg class="drawing" width={width} height={64 + 34 * WINDOWS.length} role="img" aria-label={`${say.wholeChart}. ${verdict}`}>
                    <rect class="book-bar" y="24" width={x(nTokens)} height="20" />
                    <text class="name" x="0" y="16">
                        {say.fits(title, shown(nTokens))}
                    </text>
                    <path class="mark" d={`M${x(nTokens)} 24V${60 + 34 * WINDOWS.length}`} />
                    {WINDOWS.map((window, n) => (
                        <g key={window}>
                            <rect class={nTokens <= window ? "bar" : "short bar"} y={62 + 34 * n} width={x(window)} height="14" />
                            <text
                                class={x(window) > width - LABEL ? "end" : ""}
                                x={x(window) > width - LABEL ? width : x(window) + 8}
                                y={74 + 34 * n - (x(window) > width - LABEL ? 16 : 0)}
                            >
                                {say.window(shown(window))}
                            </text>
                        </g>
                    ))}
                </svg>
                <p class="caption serif">{verdict}</p>
                <Save
                    name="windows"
                    title={say.wholeChart}
                    figure={figure}
                    rows={() => [["what", "tokens"], [title, nTokens], ...WINDOWS.map((window) => ["window", window])]}
                />
            </figure>
        </Idea>
    );
}

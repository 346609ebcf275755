// Seconds and tokens a second, once, or as they pass.

import { useEffect, useReducer } from "preact/hooks";
import { written, type Pace } from "../../model/timing.js";
import { useWords } from "../../context.js";
import * as words from "../../words/watch.js";

export function Pacing({ pace, counted }: { pace: Pace; counted?: number | null | undefined }) {
    const say = useWords(words);
    return <>{say.pace(pace.seconds, written(pace, counted))}</>;
}

/** How often what passes is shown anew, in milliseconds. */
const TICK = 250;

/** Follows a clock while it runs. */
export function Passing({ pace }: { pace: () => Pace | undefined }) {
    const [, draw] = useReducer((n: number) => n + 1, 0);
    useEffect(() => {
        const ticking = setInterval(() => draw(0), TICK);
        return () => clearInterval(ticking);
    }, []);
    const now = pace();
    return now === undefined ? null : <Pacing pace={now} />;
}

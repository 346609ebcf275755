// The four verbs.

import { VERBS, inView, type Verb } from "../state/address.js";
import * as words from "../words/app.js";
import { useApp, useWords } from "../context.js";

export function Rail() {
    const say = useWords(words);
    const address = useApp((state) => state.address);
    return (
        <nav id="views" class="rail" aria-label={say.views}>
            <ul>
                {VERBS.map((verb) => (
                    <li key={verb}>
                        <a id={`to-${verb}`} href={inView(address, verb)} aria-current={address.view === verb ? "page" : undefined}>
                            <Icon verb={verb} />
                            {say.verbs[verb]}
                        </a>
                    </li>
                ))}
            </ul>
        </nav>
    );
}

/** What each verb does, as three lines. */
function Icon({ verb }: { verb: Verb }) {
    const bar = (x: number, y: number, width: number, height = 3, faint = false) => (
        <rect x={x} y={y} width={width} height={height} class={faint ? "faint" : undefined} />
    );
    const dot = (cx: number, cy: number) => <circle cx={cx} cy={cy} r="3" />;
    return (
        <svg viewBox="0 0 26 20" aria-hidden="true">
            {
                {
                    find: (
                        <>
                            {bar(0, 4, 26, 5, true)}
                            {bar(4, 1, 3, 11)}
                            {bar(12, 1, 3, 11)}
                            {bar(20, 1, 3, 11)}
                            {bar(0, 15, 26, 3, true)}
                        </>
                    ),
                    ask: (
                        <>
                            {bar(0, 0, 11, 4)}
                            {bar(0, 8, 7, 4, true)}
                            {bar(0, 16, 9, 4, true)}
                            {bar(15, 0, 9, 4, true)}
                            {bar(15, 8, 7, 4, true)}
                            {bar(15, 16, 11, 4)}
                        </>
                    ),
                    watch: (
                        <>
                            {bar(2, 0, 2, 20, true)}
                            {dot(3, 3)}
                            {dot(3, 16)}
                            {bar(10, 1, 16, 4)}
                            {bar(10, 7, 10, 3, true)}
                            {bar(10, 14, 14, 4)}
                        </>
                    ),
                    runs: (
                        <>
                            {bar(0, 3, 26, 2, true)}
                            {bar(0, 9, 26, 2, true)}
                            {bar(0, 15, 26, 2, true)}
                            {dot(17, 4)}
                            {dot(9, 10)}
                            {dot(13, 16)}
                        </>
                    ),
                }[verb]
            }
        </svg>
    );
}

// The whole book as a ribbon: its gaps are chapters, retrieved passages above, evidence hatched below.

import { useId, useState } from "preact/hooks";
import { useWords } from "../context.js";
import * as words from "../words/parts.js";

export interface Stand {
    start: number;
    end: number;
}

export interface Chapter extends Stand {
    title: string;
}

interface Props {
    nBytes: number;
    chapters?: readonly Chapter[];
    retrieved: readonly Stand[];
    evidence?: readonly Stand[];
    /** The passage that is being read. */
    reading?: Stand | undefined;
    /** What a screen reader says of it. */
    label: string;
    /** Opens the book at a byte; without it the ribbon is a picture. */
    open?: (byte: number) => void;
    small?: boolean;
}

/** More chapters than this have no number below: there is no room. */
const NUMBERED = 30;

export function Ribbon({ nBytes, chapters = [], retrieved, evidence = [], reading, label, open, small = false }: Props) {
    const say = useWords(words);
    const id = useId();
    const [at, setAt] = useState<number>();
    const percent = (byte: number) => `${((100 * byte) / Math.max(1, nBytes)).toFixed(3)}%`;
    const bar = (kind: string, { start, end }: Stand, n: number) => (
        <rect key={`${kind}${n}`} class={kind} x={percent(start)} width={percent(end - start)} height="62%" />
    );
    const parts = chapters.length > 1 ? chapters : [{ start: 0, end: nBytes, title: "" }];
    const marks = [...retrieved].sort((a, b) => a.start - b.start);
    const chapterAt = (byte: number) => chapters.findLast(({ start }) => start <= byte)?.title ?? "";
    const told = (byte: number) => [chapterAt(byte), say.into(byte / Math.max(1, nBytes))].filter((part) => part !== "").join(", ");
    const byteOf = (event: { clientX: number; currentTarget: EventTarget | null }) => {
        const { left, width } = (event.currentTarget as Element).getBoundingClientRect();
        return Math.min(nBytes - 1, Math.max(0, Math.round(((event.clientX - left) / width) * nBytes)));
    };
    const key = (event: KeyboardEvent) => {
        const current = at ?? -1;
        const to = {
            ArrowRight: marks.find(({ start }) => start > current),
            ArrowLeft: marks.findLast(({ start }) => start < current),
            Home: marks[0],
            End: marks.at(-1),
        }[event.key];
        if (event.key === "Enter" && at !== undefined) open?.(at);
        if (to === undefined) return;
        event.preventDefault();
        setAt(to.start);
    };
    const live =
        open && marks.length > 0
            ? {
                  role: "slider" as const,
                  tabIndex: 0,
                  "aria-valuemin": 0,
                  "aria-valuemax": 100,
                  "aria-valuenow": Math.round((100 * (at ?? 0)) / nBytes),
                  "aria-valuetext": at === undefined ? label : told(at),
                  onKeyDown: key,
                  onBlur: () => setAt(undefined),
              }
            : { role: "img" as const };
    return (
        <div class={small ? "ribbon small" : "ribbon"}>
            <svg
                {...live}
                aria-label={label}
                class={open ? "opens" : undefined}
                onClick={(event) => open?.(byteOf(event))}
                onPointerMove={(event) => !small && setAt(byteOf(event))}
                onPointerLeave={() => setAt(undefined)}
            >
                <defs>
                    <Hatch id={`hatch${id}`} />
                </defs>
                {parts.map(({ start, end }, n) => (
                    <rect key={`c${n}`} class="not-read" x={percent(start)} width={percent(end - start)} height="100%" />
                ))}
                {retrieved.map((one, n) => bar("retrieved", one, n))}
                {evidence.map(({ start }, n) => (
                    <rect key={`e${n}`} class="evidence hatched" x={percent(start)} y="62%" width={small ? 5 : 9} height="38%" fill={`url(#hatch${id})`} />
                ))}
                {reading && <rect class="reading" x={percent(reading.start)} y="-3" width={percent(reading.end - reading.start)} height={small ? 20 : 46} />}
                {at !== undefined && <rect class="here" x={percent(at)} width="1" height="100%" />}
            </svg>
            {!small && (
                <p class="ribbon-foot" aria-hidden="true">
                    {at === undefined ? (
                        chapters.length > 1 && chapters.length <= NUMBERED ? (
                            chapters.map(({ start }, n) => (
                                <span key={n} style={{ left: percent(start) }}>
                                    {n === 0 && <span class="wide">{say.chapterOne}</span>}
                                    {n + 1}
                                </span>
                            ))
                        ) : (
                            <>
                                <span>{say.start}</span>
                                <span class="end">{say.end}</span>
                            </>
                        )
                    ) : (
                        <span class={at > nBytes / 2 ? "before" : undefined} style={at > nBytes / 2 ? { right: percent(nBytes - at) } : { left: percent(at) }}>
                            {told(at)}
                        </span>
                    )}
                </p>
            )}
        </div>
    );
}

/** Evidence is hatched wherever it is a mark: colour alone says nothing. */
export function Hatch({ id }: { id: string }) {
    return (
        <pattern id={id} width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
            <rect class="hatch-paper" width="4" height="4" />
            <rect class="evidence" width="4" height="2" />
        </pattern>
    );
}

/** What the colours mean. */
export function Key({ evidence = true }: { evidence?: boolean }) {
    const say = useWords(words);
    return (
        <p class="key" aria-hidden="true">
            <span class="retrieved">{say.retrieved}</span>
            {evidence && <span class="evidence">{say.evidence}</span>}
            <span class="not-read">{say.notRead}</span>
        </p>
    );
}

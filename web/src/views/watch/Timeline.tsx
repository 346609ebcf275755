// The calls of a run, one under the other; one of them is looked at.

import { useEffect, useState } from "preact/hooks";
import { Ribbon, type Chapter } from "../../parts/Ribbon.js";
import type { Player } from "../../play/player.js";
import { calls, type CallStep, type Step } from "../../play/run.js";
import { useSession, useWords } from "../../context.js";
import { shown } from "../../words/index.js";
import * as words from "../../words/watch.js";
import { Pacing } from "./Pacing.js";

/** Where a call's passages stand, and the gold evidence. */
export interface Places {
    passages: { start: number; end: number }[];
    evidence: { start: number; end: number }[];
}

interface Props {
    player: Player;
    steps: readonly Step[];
    selected: number;
    select: (place: number) => void;
    nBytes: number;
    chapters: readonly Chapter[];
}

export function Timeline({ player, steps, selected, select, nBytes, chapters }: Props) {
    const say = useWords(words);
    return (
        <ol class="timeline" aria-label={say.timeline}>
            {steps.map((step, place) => (
                <li
                    key={place}
                    class={`step-${step.kind}`}
                    data-state={step.kind === "call" ? step.state : "done"}
                    data-failed={step.kind === "call" && isBad(step) ? "" : undefined}
                >
                    <button type="button" aria-current={selected === place ? "step" : undefined} onClick={() => select(place)}>
                        <span class="dot num" aria-hidden="true">
                            {step.kind === "call" ? shown(step.call.id + 1) : "•"}
                        </span>
                        {step.kind === "call" ? (
                            <Line step={step} />
                        ) : (
                            <span class="line">
                                <b>{"Ok" in step.preparation.prepared && step.preparation.prepared.Ok.made === "read-agent" ? say.pagesMade : say.tree}</b>
                            </span>
                        )}
                    </button>
                    {step.kind === "call" && step.call.passages.length > 0 && <Found player={player} step={step} nBytes={nBytes} chapters={chapters} />}
                </li>
            ))}
        </ol>
    );
}

function isBad({ parsed, failure }: CallStep): boolean {
    return failure !== undefined || parsed?.said === "blocks" || (parsed?.said === "answer" && ["unparsed", "failed", "cut_short"].includes(parsed.outcome));
}

function Line({ step }: { step: CallStep }) {
    const say = useWords(words);
    const { call, response, pace, state, text } = step;
    const tokens = response?.usage?.completion_tokens;
    return (
        <span class="line">
            <b>{say.kinds[kindOf(step)]}</b>
            <span class="facts num">
                {shown(call.tokens)}
                {tokens != null && ` + ${shown(tokens)}`} {say.tokensShort}
                {pace && state === "done" && (
                    <>
                        {" "}
                        · <Pacing pace={pace} counted={tokens} />
                    </>
                )}
            </span>
            <span class="said serif foreign" dir="auto">
                {brief(step) ?? (state === "sent" ? (text === "" ? say.states.sent : text.slice(-60)) : state === "waiting" ? say.states.waiting : "")}
            </span>
        </span>
    );
}

/** What a call is for, or turned out to be. */
function kindOf({ call, parsed, failure }: CallStep): keyof typeof words.en.kinds {
    if (failure !== undefined) return "failed";
    if (parsed?.said === "query") return "search";
    if (parsed?.said === "blocks") return "noForm";
    if (parsed !== undefined && parsed.said !== "answer") return parsed.said;
    if (parsed?.said === "answer") return parsed.outcome === "unparsed" ? "noForm" : "answer";
    // What is written down for later calls is asked for as an answer is, and is none.
    const keeps = call.want.kind === "answer" && (call.stage === "preparation" || call.prompt === "memory-agent-update");
    if (keeps) return "text";
    return call.want.kind === "query" ? "search" : call.want.kind;
}

function brief({ parsed, failure }: CallStep): string | undefined {
    if (failure !== undefined) return failure;
    switch (parsed?.said) {
        case "query":
            return parsed.query;
        case "answer":
            return parsed.outcome === "answered" ? parsed.answer : "";
        case "memory":
        case "gist":
        case "summary":
            return parsed.text.slice(0, 120);
        case "pages":
            return parsed.pages.join(", ");
        case "break":
            return parsed.label === null ? "" : `<${parsed.label}>`;
        default:
            return undefined;
    }
}

/** What of the book a call's prompt holds. */
function Found({ player, step, nBytes, chapters }: { player: Player; step: CallStep; nBytes: number; chapters: readonly Chapter[] }) {
    const say = useWords(words);
    const places = usePlaces(player, step.call.id);
    if (places === undefined || places.passages.length === 0) return null;
    return (
        <Ribbon
            small
            nBytes={nBytes}
            chapters={chapters}
            retrieved={places.passages}
            evidence={places.evidence}
            label={say.ribbonOf(step.call.id + 1, places.passages.length)}
        />
    );
}

/** Places, looked up once a call. */
export function usePlaces(player: Player, call: number | undefined): Places | undefined {
    const session = useSession();
    const [places, setPlaces] = useState<Places>();
    useEffect(() => {
        setPlaces(undefined);
        if (call === undefined) return;
        let wanted = true;
        void player.places(call).then(
            (found) => wanted && setPlaces(found),
            () => {},
        );
        return () => void (wanted = false);
    }, [session, player, call]);
    return places;
}

export function callBefore(steps: readonly Step[], step: CallStep): CallStep | undefined {
    const all = calls(steps);
    return all[all.indexOf(step) - 1];
}

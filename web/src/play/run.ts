// A run as it is seen: what was asked, what came back, what waits. Changed by actions alone.

import type { Parsed, MethodCall, Preparation, Prepared, TrialRecord, ChatReply, Retrying, TextChange } from "../closeread_wasm.js";
import type { Pace } from "../model/timing.js";

export interface CallStep {
    kind: "call";
    call: MethodCall;
    /** Not sent, being answered, or answered. */
    state: "waiting" | "sent" | "done";
    /** Who answers or answered it, as records name them. */
    by: string | undefined;
    /** The response as far as it has come. */
    text: string;
    pace: Pace | undefined;
    response: ChatReply | undefined;
    parsed: Parsed | undefined;
    changes: TextChange[] | undefined;
    /** Why it could not be sent, or was broken off; it waits again. */
    failure: string | undefined;
    retrying: Retrying | undefined;
}

export interface PreparedStep {
    kind: "prepared";
    preparation: Preparation<Prepared>;
}

export type Step = CallStep | PreparedStep;

export interface RunState {
    steps: readonly Step[];
    phase: "running" | "ended" | "stopped" | "broken";
    /** Whether calls are sent as they come. */
    playing: boolean;
    /** Passages and searches that have their vectors. */
    embedded: number;
    record: TrialRecord | undefined;
}

export type RunAction =
    | { kind: "called"; call: MethodCall }
    | { kind: "prepared"; preparation: Preparation<Prepared> }
    | { kind: "sent"; call: number; by: string }
    | { kind: "came"; call: number; text: string; pace: Pace }
    | { kind: "retrying"; call: number; retrying: Retrying }
    | { kind: "answered"; call: number; response: ChatReply; parsed: Parsed | undefined; changes: TextChange[] | undefined; pace: Pace }
    | { kind: "overflowed"; call: number; message: string; pace: Pace }
    | { kind: "failed"; call: number; message: string | undefined }
    | { kind: "embedded"; n: number }
    | { kind: "playing"; playing: boolean }
    | { kind: "over"; phase: "ended" | "stopped" | "broken"; record?: TrialRecord };

export const FRESH: RunState = { steps: [], phase: "running", playing: false, embedded: 0, record: undefined };

export function reduceRun(state: RunState, action: RunAction): RunState {
    switch (action.kind) {
        case "called":
            return { ...state, steps: [...state.steps, waitingCall(action.call)] };
        case "prepared":
            return { ...state, steps: [...state.steps, { kind: "prepared", preparation: action.preparation }] };
        case "sent":
            return changed(state, action.call, { state: "sent", by: action.by, text: "", pace: undefined, failure: undefined });
        case "came":
            return changed(state, action.call, { text: action.text, pace: action.pace, retrying: undefined });
        case "retrying":
            return changed(state, action.call, { retrying: action.retrying, text: "" });
        case "answered": {
            const { response, parsed, changes, pace } = action;
            return changed(state, action.call, { state: "done", response, parsed, changes, pace, text: response.text, retrying: undefined });
        }
        case "overflowed":
            return changed(state, action.call, { state: "done", failure: action.message, pace: action.pace, retrying: undefined });
        case "failed":
            // It can be sent again, by the same model or another one.
            return { ...changed(state, action.call, { state: "waiting", failure: action.message, retrying: undefined }), playing: false };
        case "embedded":
            return { ...state, embedded: state.embedded + action.n };
        case "playing":
            return { ...state, playing: action.playing && state.phase === "running" };
        case "over":
            return { ...state, phase: action.phase, playing: false, record: action.record };
    }
}

/** The call that is answered next. */
export function nextCall({ steps }: RunState): CallStep | undefined {
    return calls(steps).find(({ state }) => state === "waiting");
}

/** The call that is being answered. */
export function sentCall({ steps }: RunState): CallStep | undefined {
    return calls(steps).find(({ state }) => state === "sent");
}

export function calls(steps: readonly Step[]): CallStep[] {
    return steps.filter((step): step is CallStep => step.kind === "call");
}

function waitingCall(call: MethodCall): CallStep {
    const nothing = { by: undefined, pace: undefined, response: undefined, parsed: undefined, changes: undefined, failure: undefined, retrying: undefined };
    return { kind: "call", call, state: "waiting", text: "", ...nothing };
}

function changed(state: RunState, id: number, change: Partial<CallStep>): RunState {
    const of = (step: Step) => step.kind === "call" && step.call.id === id;
    return { ...state, steps: state.steps.map((step) => (of(step) ? { ...step, ...change } : step)) as Step[] };
}

// What is known of the models that could read, and which one was chosen.

import type { Account } from "./account.js";
import type { Running } from "./in-page.js";
import type { LocalServer } from "./local.js";
import type { Progress, StoredWeights } from "./weights.js";

export type Choice =
    | { source: "words" }
    | { source: "person" }
    | { source: "key" }
    | { source: "chrome" }
    | { source: "local"; port: number; model: string; window: number | undefined }
    | { source: "page"; id: string };

/** Tokens a second, as they were measured last. */
export interface Speed {
    read: number | undefined;
    written: number | undefined;
}

export interface ModelState {
    choice: Choice;
    /** Servers on this machine, once they were looked for. */
    servers: readonly LocalServer[] | undefined;
    looking: boolean;
    /** Chrome's model for the language of the book; unknown until it was asked for. */
    chrome: { state: "unknown" | "unavailable" | "downloadable" | "downloading" | "available"; window: number | undefined; share: number | undefined };
    /** Weights in this browser. */
    stored: readonly StoredWeights[];
    /** Weights that are on their way. */
    fetching: Readonly<Record<string, Progress>>;
    /** How the model in the page runs, once it does. */
    running: Running | undefined;
    /** By the name of an engine. */
    speeds: Readonly<Record<string, Speed>>;
    account: Account;
    /** Tokens of prompt and response; empty: the model's own. */
    window: string;
    /** Most tokens of a response; empty: no limit. */
    maxOutputTokens: string;
    /** Whether responses are held to the form that is asked for, where an engine can. */
    constrain: boolean;
}

export type ModelAction =
    | { kind: "chose"; choice: Choice }
    | { kind: "looking" }
    | { kind: "looked"; servers: readonly LocalServer[] | undefined }
    | { kind: "chrome"; chrome: Partial<ModelState["chrome"]> }
    | { kind: "stored"; stored: readonly StoredWeights[] }
    | { kind: "progress"; id: string; progress: Progress | undefined }
    | { kind: "running"; running: Running | undefined }
    | { kind: "measured"; engine: string; speed: Speed }
    | { kind: "account"; account: Partial<Account> }
    | { kind: "limits"; window?: string; maxOutputTokens?: string; constrain?: boolean };

export const INITIAL: Omit<ModelState, "account"> = {
    choice: { source: "words" },
    servers: undefined,
    looking: false,
    chrome: { state: "unknown", window: undefined, share: undefined },
    stored: [],
    fetching: {},
    running: undefined,
    speeds: {},
    window: "",
    maxOutputTokens: "",
    constrain: true,
};

export function reduceModel(state: ModelState, action: ModelAction): ModelState {
    switch (action.kind) {
        case "chose":
            return { ...state, choice: action.choice, running: sameInPage(state.choice, action.choice) ? state.running : undefined };
        case "looking":
            return { ...state, looking: true };
        case "looked":
            return { ...state, looking: false, servers: action.servers };
        case "chrome":
            return { ...state, chrome: { ...state.chrome, ...action.chrome } };
        case "stored": {
            const { choice } = state;
            const gone = choice.source === "page" && !action.stored.some(({ id }) => id === choice.id);
            return { ...state, stored: action.stored, ...(gone ? { choice: { source: "words" } as const, running: undefined } : {}) };
        }
        case "progress": {
            const { [action.id]: _, ...others } = state.fetching;
            return { ...state, fetching: action.progress === undefined ? others : { ...others, [action.id]: action.progress } };
        }
        case "running":
            return { ...state, running: action.running };
        case "measured":
            return { ...state, speeds: { ...state.speeds, [action.engine]: action.speed } };
        case "account":
            return { ...state, account: { ...state.account, ...action.account } };
        case "limits": {
            const { kind: _, ...limits } = action;
            return { ...state, ...limits };
        }
    }
}

function sameInPage(a: Choice, b: Choice): boolean {
    return a.source === "page" && b.source === "page" && a.id === b.id;
}

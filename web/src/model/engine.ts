// The one interface behind which every model stands: a call in, its response as it is written, then the whole of it.

import type { MethodCall, ChatReply, Retrying } from "../closeread_wasm.js";

export interface Asking {
    signal: AbortSignal;
    /** Hears all of the response that has come so far. */
    onToken(text: string): void;
    /** Hears of a try that failed and is made again. */
    onRetry?(retrying: Retrying): void;
}

export interface Engine {
    /** As records name it, such as `ollama/qwen3:8b`. */
    readonly name: string;
    /** Tokens of prompt and response together, where that is known. */
    readonly window?: number | undefined;
    /** Most tokens of a response, where the engine sets one of its own. */
    readonly maxOutputTokens?: number | undefined;
    /**
     * One completion. Rejects with an `AbortError` once `signal` is aborted, with an `OverflowError` or a `BlockedError` where
     * that is how the call ends, and with another error where it could not be sent or was broken off.
     */
    chat(call: MethodCall, asking: Asking): Promise<ChatReply>;
    /** Gives back what it holds. */
    end?(): void;
}

/** An error with a name that the core knows. */
export function named(name: string, message: string, more: { needed?: number | null; window?: number | null } = {}): Error {
    return Object.assign(new Error(message), { name, ...more });
}

/** Whether an error is how the call ends, and not a reason to send it again. */
export function endsCall(error: Error): boolean {
    return error.name === "OverflowError" || error.name === "BlockedError";
}

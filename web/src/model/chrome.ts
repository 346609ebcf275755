// The model that is built into Chrome (the Prompt API). It takes no seed: what it says cannot be had again.

import type { MethodCall, ChatReply } from "../closeread_wasm.js";
import { named, type Asking, type Engine } from "./engine.js";

type Availability = "unavailable" | "downloadable" | "downloading" | "available";

interface Message {
    role: "system" | "user" | "assistant";
    content: string;
}

interface Created {
    readonly contextWindow: number;
    measureContextUsage(input: Message[], options?: { signal?: AbortSignal }): Promise<number>;
    promptStreaming(input: Message[], options?: { signal?: AbortSignal }): ReadableStream<string>;
    destroy(): void;
}

interface CreateOptions {
    signal?: AbortSignal;
    initialPrompts?: Message[];
    expectedInputs?: { type: "text"; languages: string[] }[];
    expectedOutputs?: { type: "text"; languages: string[] }[];
    monitor?: (monitor: EventTarget) => void;
}

export interface PromptApi {
    availability(options?: CreateOptions): Promise<Availability>;
    create(options?: CreateOptions): Promise<Created>;
}

/** What this browser offers. */
export function promptApi(): PromptApi | undefined {
    return (globalThis as { LanguageModel?: PromptApi }).LanguageModel;
}

/** ISO 639-1 codes that it takes. It says so only by refusing others, with an error on the page's console. */
const SPOKEN = ["en", "es", "ja"];

const speaking = (languages: string[]): CreateOptions => ({
    expectedInputs: [{ type: "text", languages }],
    expectedOutputs: [{ type: "text", languages }],
});

/** Whether it can be asked in a language (ISO 639-1); it is not asked about one that it does not take. */
export async function chromeAvailability(language: string): Promise<Availability> {
    if (!SPOKEN.includes(language)) return "unavailable";
    return (
        promptApi()
            ?.availability(speaking([language]))
            .catch(() => "unavailable" as const) ?? "unavailable"
    );
}

/** Has it fetched, where it is not there yet; `progress` hears shares from 0 to 1. Gives the window in tokens. */
export async function prepareChrome(language: string, progress: (share: number) => void, signal: AbortSignal): Promise<number> {
    const api = promptApi();
    if (api === undefined) throw new Error("this browser has no language model of its own");
    const monitor = (told: EventTarget) => told.addEventListener("downloadprogress", (event) => progress((event as ProgressEvent).loaded));
    const session = await api.create({ ...speaking([language]), monitor, signal });
    const { contextWindow } = session;
    session.destroy();
    return contextWindow;
}

export class ChromeEngine implements Engine {
    readonly name = "chrome/built-in";

    constructor(
        readonly language: string,
        readonly window: number,
    ) {}

    async chat({ messages }: MethodCall, { signal, onToken }: Asking): Promise<ChatReply> {
        const api = promptApi();
        if (api === undefined) throw new Error("this browser has no language model of its own");
        const all = messages.map(({ role, content }): Message => ({ role, content }));
        // A session remembers what it was asked; each call has one of its own.
        const before = all.slice(0, -1);
        const session = await api.create({ ...speaking([this.language]), signal, ...(before.length > 0 ? { initialPrompts: before } : {}) });
        try {
            const last = all.slice(-1);
            // The interface speaks of a double.
            const promptTokens = Math.ceil(await session.measureContextUsage(all, { signal }));
            if (promptTokens > session.contextWindow) throw overflow(promptTokens, session.contextWindow);
            let text = "";
            const reader = session.promptStreaming(last, { signal }).getReader();
            for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
                text += piece.value;
                onToken(text);
            }
            return { text, usage: { prompt_tokens: promptTokens, completion_tokens: null } };
        } catch (error) {
            if (error instanceof DOMException && error.name === "QuotaExceededError") throw overflow(null, session.contextWindow);
            throw error;
        } finally {
            session.destroy();
        }
    }
}

function overflow(needed: number | null, window: number): Error {
    return named("OverflowError", "the prompt does not fit the window of Chrome's model", { needed, window });
}

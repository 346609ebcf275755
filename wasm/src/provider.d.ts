/** A chat model on a server. The key stays in WebAssembly's memory; nothing prints it. */
export interface ChatModelOptions {
    /** What the server speaks; local servers and most others speak `openai`. */
    protocol: "openai" | "anthropic" | "gemini";
    /** Its name with the provider. */
    model: string;
    /** Default: the provider's own address; up to and including /v1 for `openai`. */
    baseUrl?: string;
    key?: string;
    /** Fields merged into each request, such as `{ "reasoning_effort": "low" }`. */
    extraBody?: Record<string, unknown>;
    seed?: number;
    /** What forwards requests to servers that do not let pages in: `closeread serve`. */
    relay?: { url: string; token: string };
}

/** What a ChatModel needs of a call. */
export interface ChatCall {
    messages: { role: "system" | "user" | "assistant"; content: string; sharedLength?: number }[];
    /** Absent or null: as many as the provider lets it have. */
    maxOutputTokens?: number | null;
    temperature?: number;
}

/** A try that failed and is made again. */
export interface Retrying {
    message: string;
    /** The tries so far, and how many there are. */
    tries: number;
    of: number;
    /** Seconds until the next. */
    wait: number;
}

// Servers of models on this machine. Nobody looks for them before the reader asks.

import type { Relay } from "./account.js";

/** Programs that serve models, their ports, and the line that lets this page in. */
export const KNOWN = [
    { name: "Ollama", port: 11434, prefix: "ollama", line: (origin: string) => `OLLAMA_ORIGINS=${origin} ollama serve` },
    { name: "LM Studio", port: 1234, prefix: "lm-studio", line: () => "lms server start --cors" },
    { name: "llama-server", port: 8080, prefix: "llama-server", line: (origin: string) => `llama-server -m model.gguf --cors-origins ${origin}` },
] as const;

export interface LocalModel {
    id: string;
    /** Tokens it can take, where the server says so. */
    window: number | undefined;
}

export interface LocalServer {
    /** The program that is known to use this port; else nothing. */
    name: string | undefined;
    port: number;
    /** Absent: nobody listens there. `refuses`: it lets no page of this origin in. `error`: it says something else. */
    state: "ready" | "absent" | "refuses" | "error";
    error: string | undefined;
    models: LocalModel[];
    /** The line that mends a refusal. */
    line: string | undefined;
}

/** Longest wait for one server, in milliseconds. */
const TIME = 4000;

/** Looks on the ports that are known: by the relay of `closeread serve` where there is one, else from the page itself. */
export async function lookForServers(relay: Relay | undefined, origin: string, signal: AbortSignal): Promise<LocalServer[]> {
    if (relay === undefined) return Promise.all(KNOWN.map(({ name, port, line }) => lookFromPage(name, port, line(origin), signal)));
    const response = await fetch(new URL("local-models", relay.url), { headers: { "x-closeread-token": relay.token }, signal });
    if (!response.ok) throw new Error(`closeread serve answered ${response.status}: reload the page`);
    const { servers } = (await response.json()) as { servers: { name: string | null; port: number; models: unknown; error: string | null }[] };
    return servers.map(({ name, port, models, error }) => ({
        name: name ?? undefined,
        port,
        error: error ?? undefined,
        line: undefined,
        models: modelsOf(models),
        state: error !== null ? "error" : models === null ? "absent" : "ready",
    }));
}

async function lookFromPage(name: string, port: number, line: string, given: AbortSignal): Promise<LocalServer> {
    const at = `http://127.0.0.1:${port}/v1/models`;
    const signal = AbortSignal.any([given, AbortSignal.timeout(TIME)]);
    const found = (state: LocalServer["state"], models: LocalModel[] = [], error?: string): LocalServer => ({
        name,
        port,
        state,
        models,
        error,
        line: state === "refuses" ? line : undefined,
    });
    try {
        const response = await fetch(at, { signal });
        if (!response.ok) return found("error", [], `it answers ${response.status}`);
        const list = (await response.json().catch(() => undefined)) as { data?: unknown } | undefined;
        if (list?.data === undefined) return found("error", [], "it does not list models as OpenAI's protocol has it");
        return found("ready", modelsOf(list.data));
    } catch {
        given.throwIfAborted();
        // A page is not told why; but an answer that it may not read shows that somebody listens.
        const listens = await fetch(at, { mode: "no-cors", signal }).then(
            () => true,
            () => false,
        );
        return found(listens ? "refuses" : "absent");
    }
}

function modelsOf(list: unknown): LocalModel[] {
    if (!Array.isArray(list)) return [];
    const all = list as { id?: unknown; meta?: { n_ctx?: unknown; n_ctx_train?: unknown } | null }[];
    const number = (value: unknown) => (typeof value === "number" && value > 0 ? value : undefined);
    return all.flatMap((model) =>
        typeof model?.id === "string" ? [{ id: model.id, window: number(model.meta?.n_ctx) ?? number(model.meta?.n_ctx_train) }] : [],
    );
}

/** What stands before the slash of a model's name in records. */
export function prefixOf(port: number): string {
    return KNOWN.find((server) => server.port === port)?.prefix ?? "openai-compatible";
}

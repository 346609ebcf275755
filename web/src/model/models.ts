// The models that the page knows, and the engine of the one that was chosen.

import type { Core } from "../core.js";
import { Store } from "../state/store.js";
import { PROVIDERS, isAddress, lastAccount, modelOf, relay, type Relay } from "./account.js";
import { OFFERED } from "./catalogue.js";
import { ChromeEngine, chromeAvailability, prepareChrome } from "./chrome.js";
import type { Engine } from "./engine.js";
import { InPageEngine, MAX_OUTPUT_TOKENS } from "./in-page.js";
import { lookForServers, prefixOf } from "./local.js";
import { PersonEngine } from "./person.js";
import { ServerEngine } from "./server.js";
import { INITIAL, reduceModel, type Choice, type ModelAction, type ModelState, type Speed } from "./state.js";
import { deleteWeights, fetchWeights, keepWeights, openWeights, storedWeights } from "./weights.js";
import { WordsEngine } from "./words.js";

/** Tokens of prompt and response for weights that the page knows nothing of. */
const WINDOW = 8192;

/** What is missing before the chosen model can be asked, as a name of `words/model.ts`. */
export class Missing extends Error {
    constructor(
        readonly what: "noModel" | "noUrl" | "badUrl" | "notJson",
        message: string,
    ) {
        super(message);
    }
}

export class Models {
    readonly store = new Store<ModelState, ModelAction>(reduceModel, { ...INITIAL, account: lastAccount() });
    readonly person = new PersonEngine();
    relay: Relay | undefined;
    readonly #fetching = new Map<string, AbortController>();
    #inPage: { key: string; engine: InPageEngine } | undefined;

    constructor(readonly core: Core) {}

    get state(): ModelState {
        return this.store.state;
    }

    choose(choice: Choice): void {
        if (choice.source !== "page") this.#endInPage();
        this.store.dispatch({ kind: "chose", choice });
    }

    /** Lists what this browser holds, and whether the page's server passes requests on. Nothing else is looked for unasked. */
    async look(language: string): Promise<void> {
        const [stored, state, found] = await Promise.all([storedWeights(), chromeAvailability(language), relay()]);
        this.relay = found;
        this.store.dispatch({ kind: "stored", stored });
        this.store.dispatch({ kind: "chrome", chrome: { state } });
    }

    /** Looks for servers on this machine; the first model found is chosen, if none was. */
    async lookForServers(signal: AbortSignal): Promise<void> {
        this.store.dispatch({ kind: "looking" });
        try {
            this.relay = await relay();
            const servers = await lookForServers(this.relay, location.origin, signal);
            this.store.dispatch({ kind: "looked", servers });
            const ready = servers.find(({ models }) => models.length > 0);
            const first = ready?.models[0];
            if (ready && first && this.state.choice.source === "words") {
                this.choose({ source: "local", port: ready.port, model: first.id, window: first.window });
            }
        } catch (error) {
            this.store.dispatch({ kind: "looked", servers: undefined });
            throw error;
        }
    }

    /** Has Chrome's model fetched where it is not there, and chooses it. */
    async useChrome(language: string, signal: AbortSignal): Promise<void> {
        try {
            const window = await prepareChrome(language, (share) => this.store.dispatch({ kind: "chrome", chrome: { state: "downloading", share } }), signal);
            this.store.dispatch({ kind: "chrome", chrome: { state: "available", window, share: undefined } });
            this.choose({ source: "chrome" });
        } finally {
            this.store.dispatch({ kind: "chrome", chrome: { state: await chromeAvailability(language), share: undefined } });
        }
    }

    /** Fetches weights that the page offers, and chooses them. */
    fetchWeights(id: string): Promise<void> {
        const offered = OFFERED.find((model) => model.id === id);
        if (offered === undefined) throw new Error(`no weights are offered as ${id}`);
        return this.#keeping(id, async (progress, signal) => {
            await fetchWeights(id, offered.url, progress, signal);
            return id;
        });
    }

    /** Keeps a GGUF file of the reader's, and chooses it. */
    keepFile(file: File): Promise<void> {
        return this.#keeping(file.name, (progress, signal) => keepWeights(file, progress, signal));
    }

    cancelFetch(id: string): void {
        this.#fetching.get(id)?.abort();
    }

    async deleteWeights(id: string): Promise<void> {
        const { choice } = this.state;
        if (choice.source === "page" && choice.id === id) this.#endInPage();
        await deleteWeights(id);
        this.store.dispatch({ kind: "stored", stored: await storedWeights() });
    }

    measured(engine: string, speed: Speed): void {
        const before = this.state.speeds[engine];
        this.store.dispatch({ kind: "measured", engine, speed: { read: speed.read ?? before?.read, written: speed.written ?? before?.written } });
    }

    /** The chosen model as records name it, with its limits; nothing while something is missing. */
    get facts(): { name: string; window: number | undefined; maxOutputTokens: number | undefined } | undefined {
        const { choice, account, chrome } = this.state;
        const window = Number(this.state.window) || undefined;
        const maxOutputTokens = Number(this.state.maxOutputTokens) || undefined;
        switch (choice.source) {
            case "words":
                return { name: "builtin/extractive", window: undefined, maxOutputTokens: undefined };
            case "person":
                return { name: this.person.name, window: undefined, maxOutputTokens: undefined };
            case "chrome":
                return { name: "chrome/built-in", window: chrome.window, maxOutputTokens: undefined };
            case "page":
                return { name: `wllama/${choice.id}`, window: this.#windowOf(choice.id), maxOutputTokens: maxOutputTokens ?? MAX_OUTPUT_TOKENS };
            case "local":
                return { name: `${prefixOf(choice.port)}/${choice.model}`, window: window ?? choice.window, maxOutputTokens };
            case "key": {
                const name = account.model.trim();
                return name === "" ? undefined : { name: `${account.provider}/${name}`, window, maxOutputTokens };
            }
        }
    }

    /** The engine of the chosen model; `run` is the number of the run whose calls it answers. */
    engine(run: () => number, language: string): Engine {
        const { choice, account, constrain } = this.state;
        const window = Number(this.state.window) || undefined;
        const maxOutputTokens = Number(this.state.maxOutputTokens) || undefined;
        switch (choice.source) {
            case "words":
                return new WordsEngine(this.core, run);
            case "person":
                return this.person;
            case "chrome":
                return new ChromeEngine(language, this.state.chrome.window ?? 0);
            case "page": {
                const engine = this.#inPageEngine(choice.id, this.#windowOf(choice.id));
                engine.maxOutputTokens = maxOutputTokens ?? MAX_OUTPUT_TOKENS;
                return engine;
            }
            case "local": {
                const { port, model } = choice;
                const options = { protocol: "openai", model, baseUrl: `http://127.0.0.1:${port}/v1`, ...this.#relayed() } as const;
                const prefix = prefixOf(port);
                return new ServerEngine(this.core, `${prefix}/${model}`, options, {
                    window: window ?? choice.window,
                    maxOutputTokens,
                    constrain: constrain && prefix === "llama-server",
                });
            }
            case "key": {
                if (account.model.trim() === "") throw new Missing("noModel", "no model is named");
                if (PROVIDERS[account.provider].needsUrl && account.baseUrl.trim() === "") throw new Missing("noUrl", "no address is given");
                if (!isAddress(account.baseUrl)) throw new Missing("badUrl", "the address is no server's");
                const options = modelOf(account, this.relay, () => new Missing("notJson", "the further fields are no JSON object"));
                return new ServerEngine(this.core, `${account.provider}/${account.model.trim()}`, options, { window, maxOutputTokens });
            }
        }
    }

    /** Through `closeread serve`, where the page comes from it: then no server needs to let pages in. */
    #relayed() {
        return this.relay === undefined ? {} : { relay: { url: this.relay.url, token: this.relay.token } };
    }

    #windowOf(id: string): number {
        return Number(this.state.window) || (OFFERED.find((offered) => offered.id === id)?.window ?? WINDOW);
    }

    #inPageEngine(id: string, window: number): InPageEngine {
        const { constrain } = this.state;
        const key = JSON.stringify([id, window, constrain]);
        if (this.#inPage?.key !== key) {
            this.#endInPage();
            const engine = new InPageEngine(
                id,
                () => openWeights(id),
                window,
                constrain,
                (running) => this.store.dispatch({ kind: "running", running }),
            );
            this.#inPage = { key, engine };
        }
        return this.#inPage.engine;
    }

    #endInPage(): void {
        this.#inPage?.engine.end();
        this.#inPage = undefined;
        this.store.dispatch({ kind: "running", running: undefined });
    }

    async #keeping(
        id: string,
        keep: (progress: (now: { bytes: number; of: number | undefined; bytesPerSecond: number }) => void, signal: AbortSignal) => Promise<string>,
    ): Promise<void> {
        if (this.#fetching.has(id)) return;
        const fetching = new AbortController();
        this.#fetching.set(id, fetching);
        const progress = (now: { bytes: number; of: number | undefined; bytesPerSecond: number } | undefined) =>
            this.store.dispatch({ kind: "progress", id, progress: now });
        progress({ bytes: 0, of: undefined, bytesPerSecond: 0 });
        // Each piece of a download is progress; the screen wants a few a second.
        let told = 0;
        try {
            const kept = await keep((now) => {
                if (performance.now() - told < 200) return;
                told = performance.now();
                progress(now);
            }, fetching.signal);
            this.store.dispatch({ kind: "stored", stored: await storedWeights() });
            this.choose({ source: "page", id: kept });
        } finally {
            this.#fetching.delete(id);
            progress(undefined);
        }
    }
}

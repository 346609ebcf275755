// A model behind a provider's protocol: on a server of this machine, or one that is asked with the reader's key. The requests
// are made in WebAssembly by the rules of the command line.

import type { ChatModelOptions, MethodCall, ChatReply } from "../closeread_wasm.js";
import type { Core } from "../core.js";
import { relay } from "./account.js";
import { named, type Asking, type Engine } from "./engine.js";

export class ServerEngine implements Engine {
    constructor(
        readonly core: Core,
        readonly name: string,
        readonly options: ChatModelOptions,
        readonly limits: { window?: number | undefined; maxOutputTokens?: number | undefined; constrain?: boolean } = {},
    ) {}

    get window(): number | undefined {
        return this.limits.window;
    }

    get maxOutputTokens(): number | undefined {
        return this.limits.maxOutputTokens;
    }

    async chat(call: MethodCall, { signal, onToken, onRetry }: Asking): Promise<ChatReply> {
        const { messages, maxOutputTokens, temperature } = call;
        const asked = { messages, temperature, ...(maxOutputTokens == null ? {} : { maxOutputTokens }) };
        // llama.cpp's servers hold a response to a grammar; others do not know the field.
        const form = this.limits.constrain && call.grammar != null ? { grammar: call.grammar } : {};
        const model = { ...this.options, ...(await this.#relayed()), extraBody: { ...form, ...this.options.extraBody } };
        const came = await this.core.ask(
            "model/chat",
            { model, call: asked },
            {
                signal,
                tell: (event) => ("text" in event ? onToken(event.text) : onRetry?.(event.retrying)),
            },
        );
        if ("response" in came) return came.response;
        const { name, message, ...more } = came.ended;
        throw named(name, message, more);
    }
    /** The way through `closeread serve` as it is now. */
    async #relayed(): Promise<Pick<ChatModelOptions, "relay">> {
        if (this.options.relay === undefined) return {};
        const { url, token } = (await relay()) ?? this.options.relay;
        return { relay: { url, token } };
    }
}

// No model at all: the sentence or option that shares most words with the question. Of a run, for its calls alone.

import type { MethodCall, ChatReply } from "../closeread_wasm.js";
import type { Core } from "../core.js";
import type { Engine } from "./engine.js";

export class WordsEngine implements Engine {
    readonly name = "builtin/extractive";

    constructor(
        readonly core: Core,
        readonly run: () => number,
    ) {}

    async chat(call: MethodCall): Promise<ChatReply> {
        return { text: await this.core.ask("watch/extractive", { run: this.run(), call: call.id }) };
    }
}

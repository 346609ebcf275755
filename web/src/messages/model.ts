// What asks models on servers.

import type { ChatCall, ChatModelOptions, Retrying } from "../closeread_wasm.js";
import type { Came } from "./watch.js";

export interface ModelMessages {
    /** One completion; told are the response as far as it has come, and tries that failed. */
    "model/chat": {
        request: { model: ChatModelOptions; call: ChatCall };
        reply: Came;
        event: { text: string } | { retrying: Retrying };
    };
}

// The worker's side of models on servers.

import { ChatModel, type ChatModelOptions, type ChatReply } from "../closeread_wasm.js";
import { endsCall } from "../model/engine.js";
import type { Handlers } from "./handlers.js";

/** The last model, which remembers what its server refuses. */
let last: { key: string; model: ChatModel } | undefined;

function modelOf(options: ChatModelOptions): ChatModel {
    const key = JSON.stringify(options);
    if (last?.key !== key) last = { key, model: new ChatModel(options) };
    return last.model;
}

export const model = {
    "model/chat": async ({ model, call }, { tell, signal }) => {
        const retrying = (retrying: { message: string; tries: number; of: number; wait: number }) => tell({ retrying });
        try {
            const response = (await modelOf(model).chat(call, signal, retrying, (text) => tell({ text }))) as ChatReply;
            return { response };
        } catch (thrown) {
            const error = thrown as Error & { needed?: number | null; window?: number | null };
            if (endsCall(error)) {
                const { name, message, needed = null, window = null } = error;
                return { ended: { name, message, needed, window } };
            }
            // It may be sent again, and then anew: a server that was down may be up.
            last = undefined;
            throw thrown;
        }
    },
} satisfies Handlers;

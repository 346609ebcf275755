// The reader answers in the model's place.

import type { MethodCall, ChatReply } from "../closeread_wasm.js";
import { named, type Asking, type Engine } from "./engine.js";

export class PersonEngine implements Engine {
    readonly name = "person/typed";
    #reply: ((text: string) => void) | undefined;

    chat(_call: MethodCall, { signal }: Asking): Promise<ChatReply> {
        return new Promise((resolve, reject) => {
            this.#reply = (text) => resolve({ text });
            signal.addEventListener("abort", () => reject(named("AbortError", "no longer wanted")));
        });
    }

    /** Hands a typed response to the call that waits for one. */
    reply(text: string): void {
        const reply = this.#reply;
        this.#reply = undefined;
        reply?.(text);
    }
}

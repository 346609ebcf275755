// The reader answers in the model's place.

import type { MethodCall, ChatReply } from "../closeread_wasm.js";
import { named, type Asking, type Engine } from "./engine.js";

export class PersonEngine implements Engine {
    readonly name = "person/typed";
    #reply: ((text: string) => void) | undefined;
    #draft = { of: "", text: "" };

    chat(_call: MethodCall, { signal }: Asking): Promise<ChatReply> {
        return new Promise((resolve, reject) => {
            this.#reply = (text) => resolve({ text });
            signal.addEventListener("abort", () => reject(named("AbortError", "no longer wanted")));
        });
    }

    /** What was typed so far in reply to a call. */
    draft(of: string): string {
        return this.#draft.of === of ? this.#draft.text : "";
    }

    /** Keeps what is typed in reply to a call, while another view is shown. */
    keep(of: string, text: string): void {
        this.#draft = { of, text };
    }

    /** Hands a typed response to the call that waits for one. */
    reply(text: string): void {
        const reply = this.#reply;
        this.#reply = undefined;
        this.#draft = { of: "", text: "" };
        reply?.(text);
    }
}

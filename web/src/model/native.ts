// Exceptions of llama.cpp, which wllama 3.8.1 (and 3.13.0) gives no result for: it reads its own request as one, and fails with
// `Invalid typed array length: 1163217991`, the request's first bytes ("GLUE"), or, where the model takes more memory than that, with
// `Invalid magic number`. What was thrown stands in the log alone.

import type { Wllama } from "@wllama/wllama/esm/index.js";

type Action = (name: string, body: unknown) => Promise<unknown>;

/** nlohmann::json's exception where a text is not UTF-8. */
const NOT_UTF8 = "json.exception.type_error.316";
/** Stands for bytes that are no text. */
const REPLACEMENT = "\ufffd";

/** A logger that keeps the last error that llama.cpp printed. */
export class NativeLog {
    #last: string | undefined;

    /** What was printed since this was asked for. */
    take(): string | undefined {
        const last = this.#last;
        this.#last = undefined;
        return last;
    }

    /** For wllama; a thrown object and its trace come after what llama.cpp printed, and tell less. */
    get logger() {
        const quiet = () => {};
        return {
            debug: quiet,
            log: quiet,
            warn: quiet,
            error: (said: unknown) => {
                if (typeof said === "string" && !said.startsWith("Stack trace")) this.#last = said.trim();
            },
        };
    }
}

/**
 * Has a loaded model fail with what llama.cpp threw, and resume where a piece of a response was no text. A model may write bytes
 * that are never UTF-8 (overlong forms, surrogates): llama.cpp's server replaces them, wllama loses the piece and ends the call.
 * The model has gone on to the next token by then, so the next request for a piece gets that.
 */
export function mend(model: Wllama, log: NativeLog): void {
    const { proxy } = model as unknown as { proxy: { wllamaAction: Action } };
    const act: Action = proxy.wllamaAction.bind(proxy);
    proxy.wllamaAction = async (name, body) => {
        log.take();
        try {
            return await act(name, body);
        } catch (error) {
            const said = log.take();
            if (said === undefined) throw error;
            if (name === "get_result" && said.includes(NOT_UTF8)) return piece(REPLACEMENT);
            throw new Error(said);
        }
    };
}

/** What llama.cpp answers to a request for a piece, as far as wllama reads it. */
function piece(content: string) {
    return { success: true, has_more: true, is_error: false, data_json: JSON.stringify({ choices: [{ index: 0, delta: { content } }] }) };
}

// The core in a worker: reading a long novel must not hold up the page.

import init, { OpenBook } from "./closeread_wasm.js";
import type { Opened, Reply, Request, Searched } from "./messages.js";

const ready = init();
let book: OpenBook | undefined;

addEventListener("message", async (event: MessageEvent<Request>) => {
    postMessage(await answer(event.data));
});

async function answer(request: Request): Promise<Reply<Opened | Searched>> {
    try {
        await ready;
        return { ok: true, value: request.kind === "open" ? open(request.file) : search(request) };
    } catch (error) {
        const { name, message } = error instanceof Error ? error : new Error(String(error));
        return { ok: false, name, message };
    }
}

function open(file: Uint8Array): Opened {
    const opened = new OpenBook(file);
    book?.free();
    book = opened;
    const { language, encoding, nBytes, nPassages, nTokens } = opened;
    return { language, encoding, nBytes, nPassages, nTokens };
}

function search({ question, budget }: { question: string; budget: number }): Searched {
    if (book === undefined) throw new Error("no book is open: choose a file first");
    return {
        byScore: book.search(question, { budget, order: "score" }),
        byDocument: book.search(question, { budget, order: "document" }),
    };
}

// The core in a worker: reading a long novel must not hold up the page. Each view registers its handlers by one line.

import init, * as whole from "./closeread_wasm.js";
import type { Kind, Reply, Request } from "./messages.js";
import { startedOnce } from "./module.js";
import { need } from "./worker/assets.js";
import { book, booksReady } from "./worker/book.js";
import type { Handler, Handlers } from "./worker/handlers.js";
import { lab } from "./worker/lab.js";
import { runs } from "./worker/runs.js";
import { theatre } from "./worker/theatre.js";

const handlers: Handlers = {
    ...book,
    ...lab,
    ...theatre,
    ...runs,
};

/** The whole core, for views other than the first; fetched when one of them asks for something. */
const wholeReady = startedOnce(init, new URL("closeread_wasm_bg.wasm", import.meta.url));

/** The first view has a smaller module of its own. */
async function ready(kind: Kind): Promise<void> {
    if (kind.startsWith("book/") || kind.startsWith("lab/")) {
        await booksReady();
        return;
    }
    await wholeReady();
    if (kind.startsWith("theatre/")) await need(whole, "cl100k", "punkt-en");
}

booksReady().catch(() => {});
const underWay = new Map<number, AbortController>();

addEventListener("message", async ({ data }: MessageEvent<Request>) => {
    if ("cancel" in data) return underWay.get(data.id)?.abort();
    const { id, kind, request } = data;
    const say = (reply: Reply, transfer: Transferable[] = []) => postMessage(reply, { transfer });
    const ending = new AbortController();
    underWay.set(id, ending);
    try {
        await ready(kind);
        const handler = handlers[kind] as Handler<never> | undefined;
        if (handler === undefined) throw new Error(`the worker does not know \`${kind}\`: reload the page`);
        const transfer: Transferable[] = [];
        const tell = (event: unknown) => say({ id, event });
        say({ id, ok: true, value: await handler(request as never, { tell, signal: ending.signal, transfer }) }, transfer);
    } catch (error) {
        const { name, message } = error instanceof Error ? error : new Error(String(error));
        say({ id, ok: false, name, message });
    } finally {
        underWay.delete(id);
    }
});

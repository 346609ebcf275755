// The core in a worker: reading a long novel must not hold up the page. Each view registers its handlers by one line.

import type { Kind, Reply, Request } from "./messages.js";
import { book, booksReady } from "./worker/book.js";
import type { Handler, Handlers } from "./worker/handlers.js";
import { lab } from "./worker/lab.js";

const handlers: Handlers = {
    ...book,
    ...lab,
};

/** What answers a request, with its module ready: books have a smaller one of their own. */
async function handlerOf(kind: Kind): Promise<Handler<never> | undefined> {
    if (kind in handlers) {
        await booksReady();
        return handlers[kind] as Handler<never>;
    }
    const { wholeHandlers, wholeReady } = await import("./worker/whole.js");
    await wholeReady(kind);
    return wholeHandlers[kind] as Handler<never> | undefined;
}

const underWay = new Map<number, AbortController>();

addEventListener("message", async ({ data }: MessageEvent<Request>) => {
    if ("cancel" in data) return underWay.get(data.id)?.abort();
    const { id, kind, request } = data;
    const say = (reply: Reply, transfer: Transferable[] = []) => postMessage(reply, { transfer });
    const ending = new AbortController();
    underWay.set(id, ending);
    try {
        const handler = await handlerOf(kind);
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

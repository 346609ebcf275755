// Models for the tests of the page's views: chosen by hand, and servers of their shapes.

import { createServer } from "node:http";

/** A key as a test plants it. */
export const KEY = "sk-test-1234567890abcdef";

/** Chooses a reader in the picker, by what `act` does there, and comes back to a view. */
export async function choose(page, view, act) {
    await page.click("#model-chip");
    await page.locator("#model-heading").waitFor();
    await act(page);
    await page.click(`#to-${view}`);
    await page.locator(`#${view}-heading`).waitFor();
}

/** A model that is asked with a key, through the form. */
export const withKey =
    ({ provider, url, model = "tiny", key = "", extra = "" }) =>
    async (page) => {
        await page.check("#choose-key");
        await page.selectOption("#provider", provider);
        await page.fill("#model-name", model);
        await page.fill("#base-url", url);
        await page.fill("#key", key);
        await page.fill("#extra-body", extra);
    };

/** A server that hears everything; `answer` writes what it answers to a request with its body read. */
export async function listening(after, answer, port = 0) {
    const asked = [];
    const server = createServer(async (request, response) => {
        let body = "";
        for await (const piece of request) body += piece;
        const parsed = { method: request.method, url: request.url, headers: request.headers, body: body === "" ? undefined : JSON.parse(body) };
        if (request.method !== "OPTIONS") asked.push(parsed);
        await answer(parsed, response, request);
    });
    await new Promise((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
    after(() => {
        server.closeAllConnections();
        server.close();
    });
    return { asked, port: server.address().port, url: `http://127.0.0.1:${server.address().port}` };
}

/** Waits until something has happened outside of the page. */
export async function until(happened) {
    const end = Date.now() + 60_000;
    while (!happened()) {
        if (Date.now() > end) throw new Error(`it did not happen within a minute: ${happened}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

export const OPEN = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };

/** A server of a provider's shape, which lets pages in. */
export function provider(after, reply) {
    let count = 0;
    return listening(after, ({ method }, response) => {
        if (method === "OPTIONS") return response.writeHead(204, OPEN).end();
        response.writeHead(200, { "content-type": "application/json", ...OPEN }).end(JSON.stringify(reply(++count)));
    });
}

/** A piece of a stream in OpenAI's protocol. */
export const piece = (content, finish_reason = null) => `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason }] })}\n\n`;
export const STREAM = { "content-type": "text/event-stream" };

/**
 * A server of models as programs on a reader's own machine are: lists `models`, streams what `say` gives for a call, word by
 * word. Without `cors` it lets no page in; `breaks` ends the stream in its middle so many times.
 */
export function localServer(after, { port, models = ["tiny"], meta, cors = true, say = () => "[[1]]", breaks = 0 } = {}) {
    const headers = cors ? OPEN : {};
    let calls = 0;
    return listening(
        after,
        async ({ method, url, body }, response) => {
            if (method === "OPTIONS") return response.writeHead(cors ? 204 : 403, headers).end();
            if (url === "/v1/models") {
                const data = models.map((id) => ({ id, object: "model", ...(meta ? { meta } : {}) }));
                return response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify({ object: "list", data }));
            }
            const words = say(body, ++calls).split(/(?<= )/);
            response.writeHead(200, { ...STREAM, ...headers });
            for (const word of words.slice(0, -1)) response.write(piece(word));
            if (calls <= breaks) return response.socket.destroySoon();
            response.write(piece(words.at(-1), "stop"));
            response.write(`data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 812, completion_tokens: words.length } })}\n\n`);
            response.end("data: [DONE]\n\n");
        },
        port,
    );
}

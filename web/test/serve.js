// Files over HTTP, for tests: a folder, or a few files by name.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const TYPES = {
    html: "text/html; charset=utf-8",
    css: "text/css",
    js: "text/javascript",
    mjs: "text/javascript",
    wasm: "application/wasm",
    txt: "text/plain",
    json: "application/json",
    jsonl: "application/jsonl",
    bin: "application/octet-stream",
};

export const FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-quic",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-domain-reliability",
    "--metrics-recording-only",
    "--no-pings",
];

/** What `find` throws so that nobody answers. */
export class NoServer extends Error {}

/** Serves what `find` gives for a path, on a port of its own. */
export async function serve(find, headers = {}) {
    const server = createServer(async (request, response) => {
        const path = request.url === "/" ? "index.html" : decodeURI(request.url.slice(1));
        try {
            const body = await find(path);
            response.writeHead(200, { "content-type": TYPES[path.split(".").pop()] ?? "application/octet-stream", ...headers }).end(body);
        } catch (error) {
            if (error instanceof NoServer) request.socket.destroy();
            else response.writeHead(404).end();
        }
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { origin: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

export const folder = (url) => (path) => readFile(new URL(path, url));

/** Files by name; others do not exist. */
export const files = (contents) => async (path) => {
    if (!(path in contents)) throw new Error("not found");
    return contents[path];
};

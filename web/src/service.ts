// Works offline after the first visit: what the server says comes first, what was kept where there is no server.
// A service worker is no module, so this file neither imports nor exports.

interface Extendable extends Event {
    waitUntil(promise: Promise<unknown>): void;
}

interface Fetching extends Extendable {
    readonly request: Request;
    respondWith(response: Promise<Response>): void;
}

interface ServiceWorkerScope {
    readonly registration: { readonly scope: string };
    addEventListener(type: "install" | "activate", listener: (event: Extendable) => void): void;
    addEventListener(type: "fetch", listener: (event: Fetching) => void): void;
    skipWaiting(): Promise<void>;
    readonly clients: { claim(): Promise<void> };
}

{
    const scope = self as unknown as ServiceWorkerScope;
    const CACHE = "closeread";
    /** What is the server's own: runs, their list, the relay. */
    const LIVE = /^(closeread\.json$|relay$|local-models$|runs\/(?![^/]+\.js$))/;
    const within = (url: string) => (url.startsWith(scope.registration.scope) ? url.slice(scope.registration.scope.length) : undefined);

    const keepAll = async () => {
        const { files } = (await (await fetch("files.json", { cache: "no-cache" })).json()) as { files: string[] };
        await (await caches.open(CACHE)).addAll(["./", ...files]);
    };

    /** Threads for a language model in the page take two headers, which static hosts do not send. */
    const isolated = (response: Response): Response => {
        if (response.headers.has("cross-origin-embedder-policy")) return response;
        const { status, statusText } = response;
        const headers = new Headers(response.headers);
        headers.set("cross-origin-opener-policy", "same-origin");
        headers.set("cross-origin-embedder-policy", "credentialless");
        return new Response([204, 304].includes(status) ? null : response.body, { status, statusText, headers });
    };

    const answer = async (request: Request): Promise<Response> => {
        const cache = await caches.open(CACHE);
        try {
            const response = await fetch(request);
            if (response.status === 200) await cache.put(request, response.clone()).catch(() => {});
            return response;
        } catch (error) {
            const kept = await cache.match(request, { ignoreSearch: true });
            if (kept) return kept;
            throw error;
        }
    };

    scope.addEventListener("install", (event) => event.waitUntil(keepAll().then(() => scope.skipWaiting())));
    scope.addEventListener("activate", (event) => event.waitUntil(scope.clients.claim()));
    scope.addEventListener("fetch", (event) => {
        const path = within(event.request.url.split(/[?#]/)[0]!);
        const ours = path !== undefined && !LIVE.test(path);
        if (event.request.method === "GET" && ours && !event.request.headers.has("range")) event.respondWith(answer(event.request).then(isolated));
    });
}

// WebAssembly modules, each fetched when it is first needed.

type Init = (from?: { module_or_path: Promise<Response> }) => Promise<unknown>;

/**
 * Starts a module once. Where the page and its service worker fetch one file at a time and the browser's cache has no room
 * for it, both loads break off: the second try goes past the cache. A module that fails again is tried when it is next needed.
 */
export function startedOnce(init: Init, file: URL): () => Promise<unknown> {
    let ready: Promise<unknown> | undefined;
    const again = () => init({ module_or_path: fetch(file, { cache: "no-store" }) });
    return () =>
        (ready ??= init()
            .catch(again)
            .catch((error: unknown) => {
                ready = undefined;
                throw error;
            }));
}

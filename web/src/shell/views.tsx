// The views, each fetched with its style sheet when it is first shown.

import type { ComponentType } from "preact";
import type { View } from "../state/address.js";
import { inLanguage } from "../words/index.js";
import * as words from "../words/app.js";

export interface ShownView {
    Component: ComponentType;
}

/** How each view is had. */
export const VIEWS: Record<View, () => Promise<ShownView>> = {
    essay: async () => ({ Component: (await both(import("../essay/Essay.js"), styled("essay"))).Essay }),
    find: async () => ({ Component: (await both(import("../find/Find.js"), styled("find"))).Find }),
    ask: async () => ({ Component: (await both(import("../views/Ask.js"), styled("watch", "ask"))).Ask }),
    watch: async () => ({ Component: (await both(import("../views/Watch.js"), styled("watch"))).Watch }),
    model: async () => ({ Component: (await both(import("../views/Model.js"), styled("model"))).Model }),
    runs: async () => ({ Component: (await both(import("../runs/Runs.js"), styled("runs"))).Runs }),
};

async function both<T>(module: Promise<T>, style: Promise<void>): Promise<T> {
    // A newer version of the page has other files.
    const gone = (): never => {
        throw new Error(inLanguage(words).partGone);
    };
    const [loaded] = await Promise.all([module.catch(gone), style]);
    return loaded;
}

/** A view's own style sheets, of which a later one has the last word. */
export async function styled(...names: string[]): Promise<void> {
    await Promise.all(names.map((name) => fetchedStyle(`${name}.css`)));
}

function fetchedStyle(href: string): Promise<void> {
    if (document.querySelector(`link[rel="stylesheet"][href="${href}"]`)) return Promise.resolve();
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
    return new Promise((resolve, reject) => {
        link.addEventListener("load", () => resolve());
        link.addEventListener("error", () => reject(new Error(inLanguage(words).fetchFailed(href, "404"))));
        document.head.append(link);
    });
}

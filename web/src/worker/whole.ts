// The whole core, for what the books' own module does not do; fetched when that is first asked for.

import init, * as whole from "../closeread_wasm.js";
import { startedOnce } from "../module.js";
import { need } from "./assets.js";
import type { Handlers } from "./handlers.js";
import { model } from "./model.js";
import { runs } from "./runs.js";
import { watch } from "./watch.js";

const started = startedOnce(init, new URL("./closeread_wasm_bg.wasm", import.meta.url));

export async function wholeReady(kind: string): Promise<void> {
    await started();
    if (kind.startsWith("watch/")) await need(whole, "cl100k", "punkt-en");
}

export const wholeHandlers: Handlers = { ...model, ...watch, ...runs };

import type { CompareOptions, OpenRun } from "./closeread_wasm.js";

export * from "./closeread_wasm.js";
export { default, MethodRun as Method } from "./closeread_wasm.js";

/** Two runs, item by item: what `closeread compare A B --json` prints, as an object. */
export function compare(a: OpenRun, b: OpenRun, options?: CompareOptions): unknown;

/** The papers' own tables, computed again: what `closeread audit --json` prints, as an object. */
export function audit(): unknown;

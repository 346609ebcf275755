// What the npm package exports: the module under the names of the documentation.

import { compareJson, type CompareOptions, type OpenRun } from "./closeread_wasm.js";

export * from "./closeread_wasm.js";
export { default, MethodRun as Method } from "./closeread_wasm.js";

/** Two runs, item by item: what `closeread compare A B --json` prints, as an object. */
export function compare(a: OpenRun, b: OpenRun, options?: CompareOptions): unknown {
    return JSON.parse(compareJson(a, b, options));
}

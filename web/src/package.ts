// What the npm package exports: the module under the names of the documentation.

import { auditJson, compareJson, type CompareOptions, type OpenRun } from "./closeread_wasm.js";

export * from "./closeread_wasm.js";
export { default, MethodRun as Method } from "./closeread_wasm.js";

/** The object of `compareJson`. */
export const compare = (a: OpenRun, b: OpenRun, options?: CompareOptions): unknown => JSON.parse(compareJson(a, b, options));

/** The object of `auditJson`. */
export const audit = (): unknown => JSON.parse(auditJson());

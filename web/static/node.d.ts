import type { AssetName } from "./closeread_wasm.js";

export { default } from "./closeread_wasm.js";
export * from "./package.js";

/** The bytes of an asset, for `provide` or for the assets of `score`. */
export function asset(name: AssetName): Uint8Array;

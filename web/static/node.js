// The package in Node: its files lie beside it, so that nothing has to be fetched, and what cuts and counts books is there.

import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { ASSET_FILES } from "./asset-files.js";
import { initSync, provide } from "./closeread_wasm.js";

const file = (name) => readFileSync(new URL(name, import.meta.url));

/** The bytes of an asset, for `provide` or for the assets of `score`. */
export const asset = (name) => gunzipSync(file(ASSET_FILES[name]));

initSync({ module: file("closeread_wasm_bg.wasm") });
for (const name of ["cl100k", "punkt-en"]) provide(name, asset(name));

export { default } from "./closeread_wasm.js";
export * from "./package.js";

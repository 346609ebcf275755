// The exports of a module of `src/` that touches no page, in Node.

import { build } from "esbuild";
import { fileURLToPath } from "node:url";

export async function unit(path) {
    const entry = fileURLToPath(new URL(`../src/${path}`, import.meta.url));
    const { outputFiles } = await build({
        entryPoints: [entry],
        bundle: true,
        write: false,
        format: "esm",
        platform: "node",
        jsx: "automatic",
        jsxImportSource: "preact",
    });
    return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

// Bundles src/ into dist/: the page in parts that are fetched by need, its workers, the package's modules, the elements.

import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const WEB = fileURLToPath(new URL("../", import.meta.url));

/** What bindgen wrote lies in dist/ beside what is bundled. */
const bindgen = {
    name: "bindgen",
    setup: ({ onResolve }) => onResolve({ filter: /\/closeread_\w+\.js$/ }, ({ path }) => ({ path: `./${path.split("/").pop()}`, external: true })),
};
/** An element is one script: its module's JavaScript goes in. */
const scorer = {
    name: "scorer",
    setup: ({ onResolve }) => onResolve({ filter: /\/closeread_scorer\.js$/ }, () => ({ path: `${WEB}dist/elements/closeread_scorer.js` })),
};
const common = { absWorkingDir: WEB, bundle: true, format: "esm", target: "es2023", minify: true, logLevel: "warning", legalComments: "none" };
const entries = (...names) =>
    Object.fromEntries(
        names.map((path) => [
            path
                .split("/")
                .pop()
                .replace(/\.tsx?$/, ""),
            `src/${path}`,
        ]),
    );

// What an earlier build has left.
for (const name of readdirSync(`${WEB}dist`)) if (/-[A-Z0-9]{8}\.js$/.test(name)) rmSync(`${WEB}dist/${name}`);
const [
    {
        metafile: { outputs },
    },
] = await Promise.all([
    build({
        ...common,
        plugins: [bindgen],
        entryPoints: entries("app.tsx"),
        outdir: "dist",
        splitting: true,
        chunkNames: "[name]-[hash]",
        jsx: "automatic",
        jsxImportSource: "preact",
        metafile: true,
    }),
    build({
        ...common,
        plugins: [bindgen],
        entryPoints: entries("worker.ts", "encoder-worker.ts"),
        outdir: "dist",
        splitting: true,
        chunkNames: "[name]-[hash]",
    }),
    build({ ...common, plugins: [bindgen], entryPoints: entries("service.ts", "package.ts", "asset-files.ts", "worker/assets.ts"), outdir: "dist" }),
    build({ ...common, entryPoints: { wllama: "node_modules/@wllama/wllama/esm/index.js" }, outdir: "dist/wllama" }),
    build({
        ...common,
        plugins: [scorer],
        outdir: "dist/elements",
        entryPoints: { "closeread-scorer": "src/elements/scorer.ts", "closeread-leaderboard": "src/elements/leaderboard.ts" },
    }),
    // A page from a disk runs no modules.
    build({
        ...common,
        plugins: [scorer],
        outdir: "dist/elements",
        format: "iife",
        entryPoints: { "closeread-site": "src/elements/site.ts" },
        define: { "import.meta.url": "closereadAt" },
        banner: { js: "var closereadAt = document.currentScript.src;" },
    }),
]);

/** What the first screen is made of: modules that import each other three deep. The page names them all, so that they are asked for at once. */
const firstScreen = new Set();
function add(path) {
    if (path in outputs && !firstScreen.has(path)) {
        firstScreen.add(path);
        for (const { path: next, kind } of outputs[path].imports) if (kind === "import-statement") add(next);
    }
}
add("dist/app.js");
add(Object.keys(outputs).find((path) => outputs[path].entryPoint === "src/essay/Essay.tsx"));
const hint = (rest) => `  <link rel=${rest}>\n`;
const modules = [...firstScreen]
    .map((path) => path.replace("dist/", ""))
    .filter((name) => name !== "app.js")
    .sort();
const hints = [hint('"preload" as="style" href="essay.css"'), ...modules.map((name) => hint(`"modulepreload" href="${name}"`))];
writeFileSync(`${WEB}dist/index.html`, readFileSync(`${WEB}static/index.html`, "utf8").replace(/^ *<script/m, `${hints.join("")}$&`));

/** Latin alone: Chinese is set in the system's own fonts. */
const FONTS = {
    "source-serif-4": ["400-normal", "400-italic", "600-normal"],
    "fira-sans": ["400-normal", "500-normal"],
};
mkdirSync(`${WEB}dist/fonts`, { recursive: true });
for (const [family, cuts] of Object.entries(FONTS)) {
    const folder = `${WEB}node_modules/@fontsource/${family}/`;
    for (const cut of cuts) cpSync(`${folder}files/${family}-latin-${cut}.woff2`, `${WEB}dist/fonts/${family}-${cut}.woff2`);
    cpSync(`${folder}LICENSE`, `${WEB}dist/fonts/${family}.LICENSE.txt`);
}

/** llama.cpp, for a language model in the page. */
cpSync(`${WEB}node_modules/@wllama/wllama/esm/wasm/wllama.wasm`, `${WEB}dist/wllama/wllama.wasm`);
cpSync(`${WEB}node_modules/@wllama/wllama/LICENCE`, `${WEB}dist/wllama/LICENCE.txt`);

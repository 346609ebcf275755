// How the tests of test/ run: `npm test`, after `cargo xtask web --dev`. No browser is fetched: those of the system are driven.

import { defineConfig } from "@playwright/test";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { chromiumPath, headlessPath } from "./tools/chromium.js";
import { FLAGS } from "./test/serve.js";

const { CLOSEREAD_TRACES, CLOSEREAD_RESULTS } = process.env;
const inFirefox = / in Firefox /;
/** What computes longest, much of it on every core: first, and one file at a time. */
const heavy = /(encoder|gpu|node|tract|wllama)\.test\.js/;
const chromium = { browserName: "chromium", launchOptions: { executablePath: headlessPath(), args: FLAGS } };
/** What the pictures were taken in: without windows, some edges are drawn otherwise. */
const withWindows = { browserName: "chromium", launchOptions: { executablePath: chromiumPath(), args: FLAGS } };
const firefox = {
    browserName: "firefox",
    launchOptions: { channel: "moz-firefox", executablePath: fileURLToPath(new URL("test/firefox.mjs", import.meta.url)) },
};

export default defineConfig({
    testDir: "test",
    testMatch: "*.test.js",
    outputDir: CLOSEREAD_TRACES ?? "../target/traces",
    // A test waits for half of its time.
    workers: Math.ceil(1.5 * availableParallelism()),
    timeout: 300_000,
    forbidOnly: true,
    // A machine that is shared may stand still for longer than a wait lasts; what needed a second try is named.
    retries: 1,
    reporter: [["list"], ...(CLOSEREAD_RESULTS ? [["json", { outputFile: CLOSEREAD_RESULTS }]] : [])],
    use: {
        viewport: { width: 1280, height: 800 },
        serviceWorkers: "block",
        actionTimeout: 30_000,
        navigationTimeout: 30_000,
        // A trace of every test would be an eighth of their time.
        trace: { mode: "on-first-retry", screenshots: false },
    },
    projects: [
        { name: "heavy", testMatch: heavy, workers: 1, use: chromium },
        { name: "chromium", testIgnore: [heavy, /(pictures|webkit)\.test\.js/], grepInvert: inFirefox, use: chromium },
        { name: "pictures", testMatch: "pictures.test.js", use: withWindows },
        { name: "firefox", testMatch: "journeys.test.js", grep: inFirefox, use: firefox },
        { name: "webkit", testMatch: "webkit.test.js" },
    ],
});

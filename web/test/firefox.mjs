#!/usr/bin/env node
// Debian's Firefox as Playwright can drive it: started here with what Playwright gives it, and spoken to by WebDriver BiDi through this
// program. What Firefox 140 does not know yet (downloads, emulation, bodies of responses: 142 and later) counts as done.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import utils from "playwright-core/lib/utilsBundle";

const LISTENS = /WebDriver BiDi listening on (ws:\/\/\S+)/;

const firefox = spawn(process.env.CLOSEREAD_FIREFOX, process.argv.slice(2), { stdio: ["ignore", "inherit", "pipe"] });
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => firefox.kill(signal));
firefox.on("exit", (code) => process.exit(code ?? 1));

createInterface({ input: firefox.stderr }).on("line", (line) => {
    const [, behind] = LISTENS.exec(line) ?? [];
    if (behind === undefined) return;
    const server = new utils.wsServer({ host: "127.0.0.1", port: 0 });
    server.on("listening", () => console.error(`WebDriver BiDi listening on ws://127.0.0.1:${server.address().port}`));
    server.on("connection", (here, { url }) => {
        const there = new utils.ws(behind + url, { perMessageDeflate: false, maxPayload: 2 ** 28 });
        const early = [];
        here.on("message", (data) => (there.readyState === there.OPEN ? there.send(String(data)) : early.push(String(data))));
        there.on("open", () => early.forEach((text) => there.send(text)));
        there.on("message", (data) => here.send(done(String(data))));
        there.on("close", () => here.close());
        here.on("close", () => there.close());
    });
});

/** A message of Firefox's; an unknown command has done what it would. */
function done(text) {
    if (!text.includes('"unknown command"')) return text;
    const { id, error } = JSON.parse(text);
    return error === "unknown command" ? JSON.stringify({ type: "success", id, result: { collector: "none" } }) : text;
}

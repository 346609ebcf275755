// Models that Watch asks: servers of this machine, providers by a key, and what they do when they fail.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { needs, test } from "./fixtures.js";
import { KEY, OPEN, choose as reader, listening, localServer, provider, until, withKey } from "./reader.js";
import { OPTIONS, atTheStory, choose, ended, look, outcome, unfold } from "./watching.js";

test.use(OPTIONS);

/** Starts llama-server over tiny random weights, for as long as the test goes on; its port. */
async function llamaServer(after, servers) {
    const port = 18460 + (process.pid % 400);
    // The weights were made for fewer positions than the window has; being random, they do not mind.
    const window = ["-c", "65536", "-np", "1", "--override-kv", "llama.context_length=int:65536"];
    const serving = ["--host", "127.0.0.1", "--port", String(port), "-a", "tiny", "--jinja", ...window, "-m", `${servers}/tiny.gguf`];
    const server = spawn(`${servers}/bin/llama-server`, serving, { stdio: "ignore" });
    after(() => server.kill());
    const failed = new Promise((_, reject) => server.once("error", reject));
    const healthy = async () => {
        while (
            !(await fetch(`http://127.0.0.1:${port}/health`).then(
                ({ ok }) => ok,
                () => false,
            ))
        ) {
            if (server.exitCode !== null) throw new Error(`llama-server ended with ${server.exitCode}`);
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
    };
    await Promise.race([healthy(), failed]);
    return port;
}

test("an agent is stepped to its end against llama-server", async ({ after, page }) => {
    needs("CLOSEREAD_SERVERS");
    const url = `http://127.0.0.1:${await llamaServer(after, process.env.CLOSEREAD_SERVERS)}`;
    await atTheStory(page);
    // Random weights keep to the form by a grammar alone.
    const extra = JSON.stringify({ grammar: 'root ::= "<answer>" [0-3] "</answer>" | "<query>" [a-z]{3,9} "</query>"', seed: 5 });
    await reader(page, "watch", withKey({ provider: "openai-compatible", url: `${url}/v1`, extra }));
    await choose(page, { method: "agentic-rag" });
    await unfold(page, "#parameter-max_searches");
    await page.fill("#parameter-max_searches", "3");
    for (let n = 0; n < 20 && (await page.locator(".ending").count()) === 0; n += 1) {
        await page.locator("#step:not([aria-disabled=true])").click({ timeout: 60_000 });
        await page.locator("#step:not([aria-disabled=true]), .ending").first().waitFor({ timeout: 120_000 });
    }
    await ended(page);
    assert.match(await outcome(page), /^(Answered: .|Unanswered)/);
    await look(page, 1);
    assert.match(await page.textContent(".call"), /[\d,]+ \+ [\d,]+ tokens by its own count/);
});

test("Anthropic is asked from the page, and the key is found nowhere", async ({ after, page }) => {
    const server = await provider(after, () => ({
        content: [{ type: "text", text: `So [[1]]; you sent ${KEY}.` }],
        stop_reason: "end_turn",
        usage: { input_tokens: 812, output_tokens: 5 },
    }));
    await atTheStory(page);
    const seen = [];
    page.on("console", (message) => seen.push(message.text()));
    page.on("request", (request) => seen.push(request.url()));
    await reader(page, "watch", withKey({ provider: "anthropic", url: server.url, model: "claude-x", key: KEY }));
    await choose(page, { method: "full-document" });
    await page.click("#play");
    await ended(page);
    const [{ url, headers, body }] = server.asked;
    assert.deepEqual([url, headers["x-api-key"], headers["anthropic-dangerous-direct-browser-access"]], ["/v1/messages", KEY, "true"]);
    assert.equal(body.messages[0].content.length, 2, "the book is marked for the provider's cache");
    assert.match(await page.textContent(".call"), /812 \+ 5 tokens by its own count/);
    assert.match(await page.textContent(".message .facts"), /Marked: the beginning that other calls share/);
    assert.ok((await page.textContent(".message mark")).length > 1000);

    const kept = await page.evaluate(async () => {
        const names = (await indexedDB.databases()).map(({ name }) => name);
        return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, names, location.href, document.cookie, document.documentElement.outerHTML]);
    });
    for (const text of [kept, ...seen]) assert.ok(!text.includes(KEY), text.slice(0, 300));
});

test("Gemini is asked from the page", async ({ after, page }) => {
    const server = await provider(after, () => ({
        candidates: [{ content: { parts: [{ text: "[[1]]" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 },
    }));
    await atTheStory(page);
    await reader(page, "watch", withKey({ provider: "gemini", url: server.url, model: "gemini-x", key: KEY }));
    await choose(page, { method: "dos-rag" });
    await page.click("#play");
    await ended(page);
    assert.equal(server.asked[0].headers["x-goog-api-key"], KEY);
    assert.match(await outcome(page), /^Answered: He comes to the house/);
});

test("a server that dies in mid-stream leaves the call where it is; it is sent again", async ({ after, page }) => {
    // As many breaks as there are tries.
    const server = await localServer(after, { say: () => "It comes to the house. [[1]]", breaks: 6 });
    await atTheStory(page);
    await reader(page, "watch", withKey({ provider: "openai-compatible", url: `${server.url}/v1` }));
    await choose(page, { method: "dos-rag" });
    await page.click("#play");
    // Between tries it says so, and a reader who does not want to wait cancels.
    await page.waitForFunction(() => /try 1 of \d+, again in/.test(document.querySelector(".call")?.textContent ?? ""), undefined, { timeout: 60_000 });
    await page.click("#cancel");
    await page.locator(".call[data-state=waiting]").waitFor();
    assert.equal(await page.locator(".ending").count(), 0, "the run is not over");
    await reader(page, "watch", (page) => page.check("#choose-words"));
    await page.locator(".call[data-state=waiting]").waitFor();
    await page.click("#step");
    await ended(page);
    assert.match(await outcome(page), /^Answered: ./, "another model answered it");
});

test("a call that is refused waits with its reason, and can be sent again or by another model", async ({ after, page }) => {
    const refuses = { "content-type": "application/json", ...OPEN };
    const server = await listening(after, ({ method }, response) =>
        method === "OPTIONS"
            ? response.writeHead(204, OPEN).end()
            : response.writeHead(404, refuses).end(JSON.stringify({ error: { message: "no such model" } })),
    );
    await atTheStory(page);
    await reader(page, "watch", withKey({ provider: "openai-compatible", url: `${server.url}/nowhere/v1`, model: "gone" }));
    await choose(page, { method: "dos-rag" });
    await page.click("#play");
    await page.locator(".call .failed").waitFor({ timeout: 60_000 });
    assert.match(await page.textContent(".call .failed"), /no such model/);
    const before = server.asked.length;
    await page.click(".again");
    await until(() => server.asked.length > before);
    await page.locator(".call[data-state=waiting] .failed").waitFor({ timeout: 60_000 });
    await reader(page, "watch", (page) => page.check("#choose-words"));
    await page.click("#step");
    await ended(page);
});

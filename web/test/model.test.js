// The choice of a model: what is looked for and found, kept and deleted, and what is never written down.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { needs, test } from "./fixtures.js";
import { BINARY, DIST, axe, openSample, scrollsSideways } from "./harness.js";
import { KEY, choose, localServer, until, withKey } from "./reader.js";

test.use({
    route: "#/model",
    allowed: ["http://127.0.0.1:", "https://huggingface.co/"],
    expected: /net::ERR_|Failed to load resource|CORS policy/,
});

/** A port that is taken by another program on this machine is passed over: the test cannot say anything then. */
async function at(after, port, options) {
    try {
        return await localServer(after, { port, ...options });
    } catch (error) {
        if (error.code !== "EADDRINUSE") throw error;
        return test.skip(true, `port ${port} is taken`);
    }
}

const looked = (page) => page.waitForFunction(() => document.querySelector("#found").textContent !== "" && !document.querySelector("#look").disabled);
const state = (page, port) => page.getAttribute(`.server[data-port="${port}"]`, "data-state");

test("nothing is looked for before it is asked for", async ({ page, origin }) => {
    const asked = [];
    page.on("request", (request) => request.url().startsWith(origin) || asked.push(request.url()));
    await page.locator("#look").waitFor();
    await page.locator("#choose-words:checked").waitFor();
    assert.deepEqual(asked, []);
    assert.equal(await page.textContent("#model-chip b"), "Counts words");
});

test("servers that are closeread's neighbours are found through serve, with and without CORS, and read in both ways", async ({ after, page }) => {
    needs("CLOSEREAD_BINARY");
    const ollama = await at(after, 11434, { models: ["qwen3:8b", "llama3.2:3b"], cors: false, say: () => "It comes to the house. [[1]]" });
    await at(after, 8080, { models: ["tiny"], meta: { n_ctx_train: 4096 } });
    const serving = spawn(BINARY, ["serve", "--port", "0", "--page", fileURLToPath(DIST)], { stdio: ["ignore", "pipe", "ignore"] });
    after(() => serving.kill());
    const [line] = await once(serving.stdout, "data");
    await page.goto(`${String(line).trim()}#/model`);
    assert.equal(await page.evaluate(() => globalThis.crossOriginIsolated), true, "threads for a model in the page");
    await page.click("#look");
    await looked(page);
    assert.deepEqual([await state(page, 11434), await state(page, 8080), await state(page, 1234)], ["ready", "ready", "absent"]);
    assert.match(await page.textContent("#found"), /3 models found, on 2 servers/);
    assert.match(await page.textContent('.server[data-port="8080"]'), /window 4,096 tokens/);
    assert.equal(await page.textContent("#model-chip b"), "qwen3:8b", "the first one is chosen");
    await openSample(page, "the-loan-of-the-bell");
    await page.click("#to-watch");
    await page.selectOption("#method", "dos-rag");
    await page.selectOption("#item", "en-002");
    await page.click("#play");
    await page.locator(".ending").waitFor({ timeout: 60_000 });
    assert.match(await page.textContent(".ending .outcome"), /^Answered: He comes to the house/);
    const call = ollama.asked.find(({ url }) => url === "/v1/chat/completions");
    assert.deepEqual([call.body.model, call.body.stream], ["qwen3:8b", true]);
    assert.equal(call.headers["x-closeread-token"], undefined);
});

test("a model's name does not turn the direction of the page", async ({ page }) => {
    const models = [{ id: "ti\u202eny" }];
    await page.route("**/closeread.json", (route) => route.fulfill({ json: { relay: { token: "t", any: false }, runs: [] } }));
    await page.route("**/local-models", (route) => route.fulfill({ json: { servers: [{ name: "Ollama", port: 11434, models, error: null }] } }));
    await page.click("#look");
    await page.click('.server[data-port="11434"] input');
    assert.equal(await page.textContent('.server[data-port="11434"] b'), "ti<U+202E>ny");
    assert.equal(await page.textContent("#model-chip b"), "ti<U+202E>ny");
});

test("a server that is started again is asked with its new token", async ({ page }) => {
    const given = [];
    let token = "first";
    const piece = JSON.stringify({ choices: [{ delta: { content: "Because." }, finish_reason: "stop" }] });
    await page.route("**/closeread.json", (route) => route.fulfill({ json: { relay: { token, any: false }, runs: [] } }));
    await page.route("**/local-models", (route) =>
        route.fulfill({ json: { servers: [{ name: "Ollama", port: 11434, models: [{ id: "tiny" }], error: null }] } }),
    );
    await page.route("**/relay", async (route) => {
        given.push(await route.request().headerValue("x-closeread-token"));
        await route.fulfill({ contentType: "text/event-stream", body: `data: ${piece}\n\ndata: [DONE]\n\n` });
    });
    await page.click("#look");
    await page.click("#try");
    await until(() => given.length === 1);
    token = "second";
    await page.click("#try");
    await until(() => given.length === 2);
    assert.deepEqual(given, ["first", "second"]);
});

test("from a static host the page looks for itself: who refuses it gets the line that mends that", async ({ after, page, origin }) => {
    const ollama = await at(after, 11434, { models: ["qwen3:8b"], cors: false });
    await at(after, 1234, { models: ["gemma"], say: () => "[[1]]" });
    await page.click("#look");
    await looked(page);
    assert.deepEqual([await state(page, 11434), await state(page, 1234), await state(page, 8080)], ["refuses", "ready", "absent"]);
    assert.equal(await page.textContent('.server[data-port="11434"] code'), `OLLAMA_ORIGINS=${origin.slice(0, -1)} ollama serve`);
    assert.equal(await page.textContent("#model-chip b"), "gemma");
    await page.click("#try");
    await page.waitForFunction(() => document.querySelector("#tried").textContent === "[[1]]");
    assert.ok(!ollama.asked.some(({ url }) => url.includes("chat")), "who refuses is asked nothing else");
});

test("a fake LanguageModel is offered, streams, and says when a prompt does not fit", async ({ page }) => {
    await page.addInitScript(() => {
        globalThis.asked = [];
        globalThis.LanguageModel = {
            availability: async ({ expectedInputs }) => (expectedInputs[0].languages.includes("en") ? "available" : "unavailable"),
            create: async ({ initialPrompts = [] }) => ({
                contextWindow: 1700,
                measureContextUsage: async (input) => input.reduce((sum, { content }) => sum + content.length / 4, 0),
                promptStreaming: (input) => {
                    globalThis.asked.push([...initialPrompts, ...input]);
                    const pieces = ["It comes ", "to the house. ", "[[1]]"];
                    return new ReadableStream({ pull: (into) => (pieces.length > 0 ? into.enqueue(pieces.shift()) : into.close()) });
                },
                destroy: () => {},
            }),
        };
    });
    // Chromium crashed once when a page was left while its modules were being compiled.
    await page.waitForLoadState("networkidle");
    await page.reload();
    await openSample(page, "the-loan-of-the-bell");
    await page.locator("input[value=chrome]").click();
    await page.waitForFunction(() => /1,700/.test(document.querySelector("#model").textContent));
    await page.click("#try");
    await page.waitForFunction(() => document.querySelector("#tried").textContent.includes("[[1]]"));
    await page.click("#to-watch");
    await page.selectOption("#method", "dos-rag");
    await page.selectOption("#item", "en-002");
    assert.match(await page.textContent("#watch"), /1,500 tokens does not fit this model's window of 1,700/);
    await page.fill("#budget", "300");
    assert.doesNotMatch(await page.textContent("#watch"), /does not fit/);
    await page.click("#play");
    await page.locator(".ending").waitFor();
    assert.match(await page.textContent(".ending .outcome"), /^Answered: He comes to the house/);
    assert.ok((await page.evaluate(() => globalThis.asked)).length > 1);
    await page.click("#again");
    await page.selectOption("#method", "full-document");
    await page.click("#play");
    await page.locator(".ending").waitFor();
    assert.match(await page.textContent(".ending .outcome"), /^Overflow/);
});

test("a GGUF file is kept with its size, chosen and deleted; what is none is refused", async ({ page }) => {
    const file = (name, text) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(text) });
    await page.setInputFiles("#gguf", file("notes.gguf", "just words"));
    await page.waitForFunction(() => /notes\.gguf is no GGUF file/.test(document.querySelector("#problem").textContent));
    await page.setInputFiles("#gguf", file("tiny model.gguf", `GGUF${"x".repeat(3_000_000)}`));
    await page.locator("input[value='page tiny-model']:checked").waitFor();
    assert.match(await page.textContent(".option:has(:checked)"), /3 MB stored/);
    await page.reload();
    await page.locator("input[value='page tiny-model']").waitFor();
    await page.check("input[value='page tiny-model']");
    await page.click("button[aria-label='Delete tiny-model from this browser']");
    await page.locator("input[value='page tiny-model']").waitFor({ state: "detached" });
    assert.equal(await page.locator("#choose-words").isChecked(), true, "what is gone is not chosen");
    const left = await page.evaluate(async () => {
        const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("language-models");
        return Array.fromAsync(folder.keys());
    });
    assert.deepEqual(left, []);
});

test("weights that another tab keeps or has deleted are said to be so", async ({ page, context, origin }) => {
    const said = (there, words) => there.waitForFunction((words) => document.querySelector("#problem").textContent.includes(words), words);
    await page.evaluate(() => navigator.locks.request("closeread weights tiny", () => new Promise((resolve) => (globalThis.letGo = resolve))) && undefined);
    const other = await context.newPage();
    await other.goto(`${origin}#/model`);
    const file = { name: "tiny.gguf", mimeType: "application/octet-stream", buffer: Buffer.from("GGUF and more") };
    await other.setInputFiles("#gguf", file);
    await said(other, "another tab is keeping tiny");
    await page.evaluate(() => globalThis.letGo());
    await other.setInputFiles("#gguf", file);
    await other.locator("input[value='page tiny']:checked").waitFor();
    await page.evaluate(async () => (await (await navigator.storage.getDirectory()).getDirectoryHandle("language-models")).removeEntry("tiny.gguf"));
    await other.click("#try");
    await said(other, "the weights of tiny are no longer in this browser");
});

test("weights are fetched with their size and speed; a download is cancelled without a trace", async ({ page, context }) => {
    let go;
    const gone = new Promise((resolve) => (go = resolve));
    await context.route("https://huggingface.co/**", async (route) => {
        await gone;
        await route.fulfill({ status: 200, headers: { "access-control-allow-origin": "*" }, body: Buffer.from(`GGUF${"x".repeat(500_000)}`) }).catch(() => {});
    });
    await page.locator("[data-weights='qwen3-0.6b'] button").click();
    await page.locator("[data-weights='qwen3-0.6b'] progress").waitFor();
    await page.click("button[aria-label='Stop fetching Qwen3 0.6B']");
    await page.locator("button[aria-label='Fetch Qwen3 0.6B']").waitFor();
    assert.equal(await page.textContent("#problem"), "");
    go();
    await page.click("button[aria-label='Fetch Qwen3 0.6B']");
    await page.locator("input[value='page qwen3-0.6b']:checked").waitFor();
    assert.match(await page.textContent(".option:has(:checked)"), /1 MB stored/);
});

test("a key is remembered only where the reader says so, and forgotten again", async ({ page }) => {
    await withKey({ provider: "openai", url: "", model: "gpt-x", key: KEY })(page);
    assert.equal(await page.evaluate(() => localStorage.getItem("closeread-accounts")), null);
    await page.check("#remember");
    assert.ok((await page.evaluate(() => localStorage.getItem("closeread-accounts"))).includes(KEY));
    await page.reload();
    await page.check("#choose-key");
    assert.equal(await page.inputValue("#key"), KEY);
    assert.ok(await page.isChecked("#remember"), "who does not see that a key is kept takes it away nowhere");
    await page.selectOption("#provider", "anthropic");
    assert.equal(await page.inputValue("#key"), "", "a key goes to its own provider alone");
    await page.fill("#key", "another");
    await page.check("#remember");
    await page.reload();
    await page.check("#choose-key");
    assert.equal(await page.inputValue("#provider"), "anthropic", "the last one");
    await page.uncheck("#remember");
    await page.selectOption("#provider", "openai");
    await page.uncheck("#remember");
    assert.equal(await page.evaluate(() => localStorage.getItem("closeread-accounts")), null);
});

test("a key is taken out when its address becomes another server's", async ({ page }) => {
    await withKey({ provider: "openai-compatible", url: "https://one.example/v1", key: KEY })(page);
    const address = async (url) => {
        await page.fill("#base-url", url);
        await page.press("#base-url", "Tab");
        return page.inputValue("#key");
    };
    assert.equal(await address("https://one.example/v2"), KEY);
    assert.equal(await address("https://other.example/v2"), "");
    await page.waitForFunction(() => /was for another address/.test(document.querySelector(".account").textContent));
    await page.fill("#key", KEY);
    await page.waitForFunction(() => !/was for another address/.test(document.querySelector(".account").textContent));
});

test("a key that the browser has no room for is said to be forgotten with the tab", async ({ page }) => {
    await withKey({ provider: "openai", url: "", model: "gpt-x", key: KEY })(page);
    await page.evaluate(() => {
        Storage.prototype.setItem = () => {
            throw new DOMException("full", "QuotaExceededError");
        };
    });
    await page.check("#remember");
    await page.waitForFunction(() => /no room or leave/.test(document.querySelector(".account").textContent));
    await page.uncheck("#remember");
    await page.waitForFunction(() => !/no room or leave/.test(document.querySelector(".account").textContent));
});

test("a key goes to no address that is not a whole one: it would come to the server of the page", async ({ page, origin }) => {
    const asked = [];
    page.on("request", (request) => request.method() === "POST" && asked.push(request.url()));
    for (const url of ["api.example.org/v1", `${new URL(origin).host}/v1`, "/v1", "ftp://127.0.0.1/v1", "http://ann:word@127.0.0.1:9/v1"])
        for (const provider of ["openai-compatible", "openai"]) {
            await withKey({ provider, url, key: KEY })(page);
            await page.click("#try");
            await page.waitForFunction(() => /begins with http/.test(document.querySelector("#problem").textContent), url);
            await page.click(".toast button");
        }
    assert.deepEqual(asked, []);
});

test("a try streams, tells its time, and stops", async ({ after, page }) => {
    const server = await localServer(after, { say: () => "People read to live twice." });
    await withKey({ provider: "openai-compatible", url: `${server.url}/v1` })(page);
    await page.click("#try");
    await page.waitForFunction(() => document.querySelector("#tried").textContent === "People read to live twice.");
    await page.waitForFunction(() => /\d\.\d s/.test(document.querySelector("#tried-facts").textContent));
});

test("a try says why it is made again, and its waits are not the model's speed", async ({ after, page }) => {
    const server = await localServer(after, { say: () => "People read to live twice.", breaks: 1 });
    await withKey({ provider: "openai-compatible", url: `${server.url}/v1` })(page);
    await page.click("#try");
    await page.waitForFunction(() => /; try 1 of 8, again in \d+ s/.test(document.querySelector("#tried-facts").textContent));
    await page.waitForFunction(() => document.querySelector("#tried").textContent === "People read to live twice.");
    await page.waitForFunction(() => /^0\.\d s/.test(document.querySelector("#tried-facts").textContent));
});

test("SmolLM2 on this machine answers a method's calls", async ({ page }) => {
    needs("CLOSEREAD_SMOLLM_PORT");
    await openSample(page, "the-loan-of-the-bell");
    const url = `http://127.0.0.1:${process.env.CLOSEREAD_SMOLLM_PORT}/v1`;
    await choose(page, "watch", withKey({ provider: "openai-compatible", url, model: "smollm2", extra: '{"max_tokens": 60}' }));
    await page.selectOption("#method", "dos-rag");
    await page.selectOption("#item", "en-002");
    await page.fill("#budget", "300");
    await page.click("#play");
    await page.locator(".ending").waitFor({ timeout: 300_000 });
    assert.match(await page.textContent(".ending .outcome"), /^(Answered|Unparsed|Not found|Cut short)/);
});

for (const [scheme, width] of [
    ["light", 1280],
    ["dark", 360],
]) {
    test(`axe finds nothing in the picker: ${scheme}, ${width} px`, async ({ page }) => {
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width, height: 800 });
        await page.check("#choose-key");
        assert.deepEqual(await axe(page), []);
        assert.equal(await scrollsSideways(page), false);
    });
}

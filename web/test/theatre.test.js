// The method theatre. Headless Chromium over web/dist, which `cargo xtask web` builds.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { test } from "node:test";
import { DIST, axe, needs, openBook, openSample, scrollsSideways, useBrowser } from "./harness.js";

const use = useBrowser({ route: "#/watch", allowed: ["http://127.0.0.1:", "http://localhost:"] });
const KEY = "sk-test-1234567890abcdef";
const STORY = new URL("sample/the-loan-of-the-bell.txt", DIST);

/** Opens the sample story and waits for the form. */
async function atTheStory() {
    const { page } = use;
    await openSample(page, "the-loan-of-the-bell");
    await page.locator("#method").waitFor();
    return page;
}

const choose = (page, { method, item = "en-002", budget = "500" }) => page.selectOption("#method", method)
    .then(() => page.selectOption("#item", item))
    .then(async () => (await page.locator("#budget").isVisible()) && page.fill("#budget", budget));

const ended = (page) => page.locator(".ending").waitFor({ timeout: 120_000 });
const prompts = (page) => page.$$eval(".call h4 small", (facts) => facts.map(({ textContent }) => textContent.trim().split(",")[0]));

/** Speaks with a model at an address, through the form. */
async function withModel(page, { provider, url, model = "tiny", key = "", extra = "" }) {
    await page.check("#reader-model");
    await page.selectOption("#provider", provider);
    await page.fill("#model", model);
    await page.fill("#base-url", url);
    await page.fill("#key", key);
    await page.fill("#extra-body", extra);
}

/** A server of a provider's shape, which lets pages in; it keeps what it was asked. */
async function provider(t, response) {
    const asked = [];
    const server = createServer(async (request, response) => {
        const open = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
        if (request.method === "OPTIONS") return response.writeHead(204, open).end();
        let body = "";
        for await (const piece of request) body += piece;
        asked.push({ url: request.url, headers: request.headers, body: JSON.parse(body) });
        response.writeHead(200, { "content-type": "application/json", ...open }).end(JSON.stringify(response(asked.length)));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => server.close());
    return { asked, url: `http://127.0.0.1:${server.address().port}` };
}

/** Starts llama-server over tiny random weights, for as long as the test goes on; its port. */
async function llamaServer(t, servers) {
    const port = 18460 + (process.pid % 400);
    // The weights were made for fewer positions than the window has; being random, they do not mind.
    const window = ["-c", "65536", "-np", "1", "--override-kv", "llama.context_length=int:65536"];
    const serving = ["--host", "127.0.0.1", "--port", String(port), "-a", "tiny", "--jinja", ...window, "-m", `${servers}/tiny.gguf`];
    const server = spawn(`${servers}/bin/llama-server`, serving, { stdio: "ignore" });
    t.after(() => server.kill());
    const failed = new Promise((_, reject) => server.once("error", reject));
    const healthy = async () => {
        while (!(await fetch(`http://127.0.0.1:${port}/health`).then(({ ok }) => ok, () => false))) {
            if (server.exitCode !== null) throw new Error(`llama-server ended with ${server.exitCode}`);
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
    };
    await Promise.race([healthy(), failed]);
    return port;
}

const METHODS = [
    "closed-book", "full-document", "vanilla-rag", "dos-rag", "naive-rag", "corpus-rag", "agentic-rag", "raptor",
    "read-agent", "memory-agent", "query-summary",
];

test("every method plays to its end with builtin/extractive", async (t) => {
    const page = await atTheStory();
    assert.deepEqual(await page.$$eval("#method option", (options) => options.map(({ value }) => value)), METHODS);
    for (const method of METHODS) {
        await t.test(method, async () => {
            await choose(page, { method });
            if (method === "query-summary") {
                await page.selectOption("#item", "");
                await page.fill("#own-question", "What becomes of the bell?");
                await page.selectOption("#task", "summary");
            }
            await page.click("#play");
            await ended(page);
            const said = await page.textContent(".ending .outcome");
            assert.match(said, method === "closed-book" ? /^(Answered|Not found)/ : /^Answered: ./, said);
            assert.ok((await page.locator(".call[data-state=done]").count()) > 0);
            await page.click("#again");
        });
    }
});

test("an agent is stepped: the prompt first, then the search, then what it found", async () => {
    const page = await atTheStory();
    await choose(page, { method: "agentic-rag" });
    await page.focus("#step");
    await page.keyboard.press("Enter");
    await page.locator(".call").waitFor();
    assert.equal(await page.getAttribute(".call", "data-state"), "waiting");
    await page.click(".call >> text=The exact prompt");
    assert.match(await page.textContent(".call .exact"), /Why is Mrs Rudge's goat called Bailiff\?/);
    assert.equal(await page.locator(".ending").count(), 0, "nothing was sent yet");
    await page.click("#step");
    await page.locator(".call:nth-child(2)").waitFor();
    assert.match(await page.textContent(".call:nth-child(1) .heard"), /a search for “Why is Mrs Rudge's goat called Bailiff\?”/);
    assert.match(await page.textContent(".call:nth-child(2)"), /Passages it holds: 3/);
    await page.click("#step");
    await ended(page);
    assert.deepEqual(await prompts(page), ["agentic-rag", "agentic-rag-results"]);
    await page.click(".ending summary");
    await page.locator(".ending .exact").first().waitFor();
    assert.match(await page.textContent("#status"), /^The end\. Answered/);
});

test("a method that searches by meaning is given vectors from the page's own encoder", { timeout: 600_000 }, async () => {
    const { page } = use;
    // A few chapters: all of the story would take a development build minutes.
    const story = (await readFile(STORY, "utf8")).slice(0, 12_000);
    const visit = async () => {
        await openBook(page, { name: "story.txt", bytes: story });
        await page.locator("#method").waitFor();
        await page.selectOption("#method", "naive-rag");
        await page.fill("#own-question", "Who rings the bell?");
    };
    await visit();
    const given = async (retriever) => {
        await page.selectOption("#searches-by", retriever);
        await page.click("#play");
        await page.locator(".ending").waitFor({ timeout: 580_000 });
        await page.click(".ending summary");
        await page.locator(".ending .exact").first().waitFor();
        const shown = await page.$$eval(".ending .facts", (facts) => facts.map(({ textContent }) => textContent));
        await page.click("#again");
        return shown.filter((fact) => / % into the book/.test(fact));
    };
    const byWords = await given("bm25");
    const byMeaning = await given("dense");
    assert.equal(byMeaning.length, byWords.length);
    assert.notDeepEqual(byMeaning, byWords);
    for (const fact of byMeaning) assert.match(fact, /score 0\.\d\d/, "a cosine");

    await page.reload();
    await page.evaluate(() => {
        globalThis.embedded = [];
        const post = Worker.prototype.postMessage;
        Worker.prototype.postMessage = function (message, ...rest) {
            if (message.kind === "embed") globalThis.embedded.push(message.role);
            return post.call(this, message, ...rest);
        };
    });
    await visit();
    assert.deepEqual(await given("dense"), byMeaning);
    assert.deepEqual([...new Set(await page.evaluate(() => globalThis.embedded))], ["query"], "a second visit embeds no passage");

    await openSample(page, "shedu-bu");
    await page.locator("#method").waitFor();
    await page.selectOption("#searches-by", "dense");
    await page.click("#play");
    await page.waitForFunction(() => /does not know the language “zh”: search by words/.test(document.querySelector("#problem").textContent));
});

test("a memory shows what it forgot and learnt, a tree its levels, a book its pages", async () => {
    const page = await atTheStory();
    await choose(page, { method: "memory-agent" });
    await page.click("text=Parameters");
    await page.fill("#parameter-section_tokens", "4000");
    await page.click("#play");
    await ended(page);
    assert.ok((await page.locator(".changes ins").count()) > 1 && (await page.locator(".changes del").count()) > 0);
    await page.click("#again");
    await choose(page, { method: "raptor" });
    await page.click("#play");
    await ended(page);
    assert.match(await page.textContent(".made"), /Level 1: [\d,]+ summaries.*Level 0: [\d,]+ passages/s);
    await page.click("#again");
    await choose(page, { method: "read-agent" });
    await page.click("#play");
    await ended(page);
    assert.match(await page.textContent(".made"), /The pages: \d+/);
});

test("a person types the responses", async () => {
    const page = await atTheStory();
    await choose(page, { method: "agentic-rag" });
    await page.check("#reader-person");
    await page.click("#step");
    await page.locator("#response-0").waitFor();
    await page.fill("#response-0", "Let me think.");
    await page.click("text=Response >> nth=-1");
    await page.locator("#response-1").waitFor();
    assert.match(await page.textContent(".call:nth-child(1) .heard"), /neither one answer nor one search/);
    await page.fill("#response-1", "<query>goat Bailiff</query>");
    await page.locator(".call:nth-child(2) button.primary").click();
    await page.locator("#response-2").waitFor();
    assert.match(await page.textContent(".call:nth-child(2) .heard"), /a search for “goat Bailiff”/);
    await page.fill("#response-2", "<answer>0</answer>");
    await page.locator(".call:nth-child(3) button.primary").click();
    await ended(page);
    assert.match(await page.textContent(".ending .outcome"), /^Answered: He comes to the house and takes everything/);
    assert.match(await page.textContent(".ending"), /accuracy\s*1/);
});

test("an agent is stepped to its end against llama-server", needs("CLOSEREAD_SERVERS"), async (t) => {
    const url = `http://127.0.0.1:${await llamaServer(t, process.env.CLOSEREAD_SERVERS)}`;
    const page = await atTheStory();
    await choose(page, { method: "agentic-rag" });
    await page.click("text=Parameters");
    await page.fill("#parameter-max_searches", "3");
    // Random weights keep to the form by a grammar alone.
    const extra = JSON.stringify({ grammar: 'root ::= "<answer>" [0-3] "</answer>" | "<query>" [a-z]{3,9} "</query>"', seed: 5 });
    await withModel(page, { provider: "openai-compatible", url: `${url}/v1`, extra });
    for (let step = 0; step < 20 && (await page.locator(".ending").count()) === 0; step += 1) {
        await page.locator("#step:not([aria-disabled=true])").click({ timeout: 60_000 });
        await page.locator("#step:not([aria-disabled=true])").waitFor({ timeout: 120_000 });
    }
    await ended(page);
    assert.match(await page.textContent(".ending .outcome"), /^(Answered: .|Unanswered)/);
    assert.match(await page.textContent(".call:nth-child(1)"), /The provider counted [\d,]+ \+ [\d,]+ tokens/);
});

test("Anthropic is asked from the page, and the key is found nowhere", async (t) => {
    const server = await provider(t, () => ({
        content: [{ type: "text", text: "So [[1]]." }], stop_reason: "end_turn", usage: { input_tokens: 812, output_tokens: 5 },
    }));
    const page = await atTheStory();
    const seen = [];
    page.on("console", (message) => seen.push(message.text()));
    page.on("request", (request) => seen.push(request.url()));
    await choose(page, { method: "full-document" });
    await withModel(page, { provider: "anthropic", url: server.url, model: "claude-x", key: KEY });
    await page.click("#play");
    await ended(page);
    const [{ url, headers, body }] = server.asked;
    assert.deepEqual([url, headers["x-api-key"], headers["anthropic-dangerous-direct-browser-access"]], ["/v1/messages", KEY, "true"]);
    assert.equal(body.messages[0].content.length, 2, "the book is marked for the provider's cache");
    assert.match(await page.textContent(".call"), /The provider counted 812 \+ 5 tokens/);
    await page.click(".call >> text=The exact prompt");
    assert.match(await page.textContent(".message .facts"), /Marked: the beginning that other calls share/);
    assert.ok((await page.textContent(".message mark")).length > 1000);

    const kept = await page.evaluate(async () => {
        const names = (await indexedDB.databases()).map(({ name }) => name);
        return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, names, location.href, document.cookie, document.documentElement.outerHTML]);
    });
    for (const text of [kept, ...seen]) assert.ok(!text.includes(KEY), text.slice(0, 300));
});

test("a key is remembered only where the user says so, and forgotten again", async () => {
    const page = await atTheStory();
    await withModel(page, { provider: "openai", url: "", model: "gpt-x", key: KEY });
    assert.equal(await page.evaluate(() => localStorage.getItem("closeread-accounts")), null);
    await page.check("#remember");
    assert.ok((await page.evaluate(() => localStorage.getItem("closeread-accounts"))).includes(KEY));
    await page.reload();
    await atTheStory();
    await page.check("#reader-model");
    await page.selectOption("#provider", "openai");
    assert.equal(await page.inputValue("#key"), KEY);
    await page.selectOption("#provider", "anthropic");
    assert.equal(await page.inputValue("#key"), "", "a key goes to its own provider alone");
    await page.selectOption("#provider", "openai");
    await page.uncheck("#remember");
    assert.equal(await page.evaluate(() => localStorage.getItem("closeread-accounts")), null);
});

test("Gemini is asked from the page", async (t) => {
    const server = await provider(t, () => ({
        candidates: [{ content: { parts: [{ text: "[[1]]" }] }, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 },
    }));
    const page = await atTheStory();
    await choose(page, { method: "dos-rag" });
    await withModel(page, { provider: "gemini", url: server.url, model: "gemini-x", key: KEY });
    await page.click("#play");
    await ended(page);
    assert.equal(server.asked[0].headers["x-goog-api-key"], KEY);
    assert.match(await page.textContent(".ending .outcome"), /^Answered: He comes to the house/);
});

test("what is missing is said, and a run can be stopped", async () => {
    const page = await atTheStory();
    await choose(page, { method: "read-agent" });
    await page.check("#reader-model");
    await page.click("#step");
    await page.waitForFunction(() => /No model is named/.test(document.querySelector("#problem").textContent));
    await page.check("#reader-extractive");
    await page.click("#step");
    await page.locator(".call").waitFor();
    await page.click("#stop");
    await page.waitForFunction(() => document.querySelector("#status").textContent === "Stopped.");
    assert.equal(await page.locator("#stop").isDisabled(), true);
    await page.click("text=Parameters");
    await page.fill("#parameter-max_pages", "many");
    await page.click("#play");
    await page.waitForFunction(() => /max_pages|invalid type/.test(document.querySelector("#problem").textContent));
});

test("a prompt of a whole novel does not hang the page, and a book full of HTML is text", async () => {
    const { page } = use;
    const line = "<script>document.title='owned'</script><img src=x onerror=alert(1)> \u202Ebackwards\u202C Ana lit lamp number ";
    const text = Array.from({ length: 12_000 }, (_, n) => `${line}${n}. `).join("\n");
    await openBook(page, { name: "long.txt", bytes: text });
    await page.locator("#method").waitFor({ timeout: 60_000 });
    await page.selectOption("#method", "full-document");
    await page.fill("#own-question", "Who lit the lamp?");
    await page.click("#step");
    await page.locator(".call").waitFor({ timeout: 120_000 });
    await page.click(".call >> text=The exact prompt");
    await page.locator(".call .exact").first().waitFor();
    const shown = await page.$eval(".call .exact", ({ textContent }) => textContent.length);
    assert.ok(shown < 10_000, `${shown} characters at first`);
    await page.click(".message button");
    assert.ok((await page.$eval(".call .exact", ({ textContent }) => textContent.length)) > 50_000);
    assert.notEqual(await page.title(), "owned");
    assert.equal(await page.locator("#theatre img, #theatre script").count(), 0);
});

for (const [scheme, width] of [["light", 1280], ["dark", 1280], ["light", 360]]) {
    test(`axe finds nothing: ${scheme}, ${width} px`, async () => {
        const { page } = use;
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width, height: 800 });
        await atTheStory();
        assert.deepEqual(await axe(page), []);
        await choose(page, { method: "memory-agent" });
        await page.check("#reader-model");
        assert.deepEqual(await axe(page), []);
        await page.check("#reader-extractive");
        await page.click("#play");
        await ended(page);
        for (const summary of await page.locator(".call:nth-child(2) summary, .ending summary").all()) await summary.click();
        await page.locator(".ending .exact").first().waitFor();
        assert.deepEqual(await axe(page), []);
        assert.equal(await scrollsSideways(page), false);
    });
}

test("in Chinese, with a Chinese story", async () => {
    const { page } = use;
    await page.click("#language");
    await openSample(page, "shedu-bu");
    await page.locator("#method").waitFor();
    await page.selectOption("#method", "agentic-rag");
    await page.selectOption("#item", "zh-007");
    await page.click("#play");
    await ended(page);
    assert.match(await page.textContent(".ending .outcome"), /^已回答: ./);
    assert.match(await page.textContent(".call:nth-child(1) .heard"), /被理解为: 检索“/);
    // Another language: the run is still there.
    await page.selectOption("#language", "en");
    await page.locator(".ending").waitFor();
    assert.match(await page.textContent(".ending .outcome"), /^Answered: ./);
    assert.equal(await page.locator(".call").count(), 2);
});

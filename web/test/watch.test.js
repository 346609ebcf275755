// Watch: methods call by call. Headless Chromium over web/dist, which `cargo xtask web` builds.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "./fixtures.js";
import { DIST, axe, openBook, openSample, scrollsSideways } from "./harness.js";
import { choose as reader } from "./reader.js";
import { OPTIONS, atTheStory, choose, ended, look, outcome, step, unfold } from "./watching.js";

test.use(OPTIONS);
const STORY = new URL("sample/the-loan-of-the-bell.txt", DIST);

const METHODS = [
    "closed-book",
    "full-document",
    "vanilla-rag",
    "dos-rag",
    "naive-rag",
    "corpus-rag",
    "agentic-rag",
    "raptor",
    "read-agent",
    "memory-agent",
    "query-summary",
];

test("every method plays to its end by counting words", async ({ page }) => {
    await atTheStory(page);
    assert.deepEqual(await page.$$eval("#method option", (options) => options.map(({ value }) => value)), METHODS);
    for (const method of METHODS) {
        await choose(page, { method });
        if (method === "query-summary") {
            await page.selectOption("#item", "");
            await page.fill("#own-question", "What becomes of the bell?");
            await page.selectOption("#task", "summary");
        }
        await page.click("#play");
        await ended(page);
        assert.match(await outcome(page), method === "closed-book" ? /^(Answered|Not found)/ : /^Answered: ./, method);
        assert.ok((await page.locator(".timeline [data-state=done]").count()) > 0, method);
        await page.click("#again");
        await page.locator("#method").waitFor();
    }
});

test("an agent is stepped: the prompt first, then the search, then what it found, and where in the book", async ({ page }) => {
    await atTheStory(page);
    await choose(page, { method: "agentic-rag" });
    await page.focus("#step");
    await page.keyboard.press("Enter");
    await page.locator(".call").waitFor();
    assert.equal(await page.getAttribute(".call", "data-state"), "waiting");
    assert.match(await page.textContent(".call .exact"), /Why is Mrs Rudge's goat called Bailiff\?/);
    assert.equal(await page.locator(".ending").count(), 0, "nothing was sent yet");
    assert.match(await page.textContent("#progress"), /^Call 1 of at most about \d+/);
    await page.click("#step");
    await step(page, 2).waitFor();
    await look(page, 1);
    assert.match(await page.textContent(".call .parsed"), /a search for “Why is Mrs Rudge's goat called Bailiff\?”/);
    await look(page, 2);
    assert.match(await page.textContent(".call"), /Passages it holds: 3/);
    assert.match(await page.textContent(".call"), /One message of the calls before/);
    await step(page, 2).locator(".ribbon .retrieved").first().waitFor({ state: "attached" });
    assert.equal(await step(page, 2).locator(".ribbon .retrieved").count(), 3);
    await page.click("#step");
    await ended(page);
    assert.equal(await page.locator(".timeline .step-call").count(), 2);
    await page.click(".ending summary");
    await page.locator(".ending .exact").first().waitFor();
    const colour = (id) => page.$eval(id, (button) => getComputedStyle(button).color);
    assert.equal(await colour("#step"), await colour("#next"), "what cannot be pressed any more can be read");
    assert.doesNotMatch(await page.textContent(".call"), /\? \+ \? tokens/);
    assert.match(await page.textContent("#status"), /^The end\. Answered/);
    await page.click("#previous");
    assert.match(await page.textContent("#call-heading"), /Call 1/);
});

test("a method that does not search is not asked how it searches", async ({ page }) => {
    await atTheStory(page);
    await page.selectOption("#method", "memory-agent");
    await page.click(".how > summary");
    await page.locator("#parameter-section_tokens").waitFor();
    assert.equal(await page.locator("#searches-by").count(), 0);
    await page.selectOption("#method", "agentic-rag");
    await page.locator("#searches-by").waitFor();
});

test("a method that searches by meaning is given vectors from the page's own encoder", async ({ page }) => {
    test.setTimeout(600_000);
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
        await unfold(page, "#searches-by").catch(() => {});
        await page.selectOption("#searches-by", retriever);
        await page.click("#play");
        await page.locator(".ending").waitFor({ timeout: 580_000 });
        await page.click(".ending summary");
        await page.locator(".ending .exact").first().waitFor();
        const shown = await page.$$eval(".ending .facts", (facts) => facts.map(({ textContent }) => textContent));
        await page.click("#again");
        await page.locator("#method").waitFor();
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
    await page.locator("#item").waitFor();
    await page.click("#play");
    await page.waitForFunction(() => /does not know the language “zh”: search by words/.test(document.querySelector("#problem").textContent));
});

test("vectors that the browser has no room for are said to be computed again", async ({ page }) => {
    await page.evaluate(() => {
        const put = IDBObjectStore.prototype.put;
        IDBObjectStore.prototype.put = function (...given) {
            if (this.name === "vectors") throw new DOMException("full", "QuotaExceededError");
            return put.apply(this, given);
        };
    });
    await openBook(page, { name: "lamps.txt", bytes: "Ana lit the lamp in the long hall." });
    await page.locator("#method").waitFor();
    await page.selectOption("#method", "naive-rag");
    await page.fill("#own-question", "Who lit the lamp?");
    await unfold(page, "#searches-by");
    await page.selectOption("#searches-by", "dense");
    await page.click("#play");
    await ended(page);
    await page.waitForFunction(() => /no room or leave to keep the vectors/.test(document.querySelector("#problem").textContent));
});

test("a memory shows what it forgot and learnt, a tree its levels, a book its pages", async ({ page }) => {
    await atTheStory(page);
    await choose(page, { method: "memory-agent" });
    await unfold(page, "#parameter-section_tokens");
    await page.fill("#parameter-section_tokens", "4000");
    await page.click("#play");
    await ended(page);
    await look(page, 3);
    assert.ok((await page.locator(".changes ins").count()) > 0 && (await page.locator(".changes del").count()) > 0);
    await page.click("#again");
    await choose(page, { method: "raptor" });
    await page.click("#play");
    await ended(page);
    await page.locator(".timeline .step-prepared button").click();
    assert.match(await page.textContent(".made"), /Level 1: [\d,]+ summaries.*Level 0: [\d,]+ passages/s);
    await page.click("#again");
    await choose(page, { method: "read-agent" });
    await page.click("#play");
    await ended(page);
    await page.locator(".timeline .step-prepared button").click();
    assert.match(await page.textContent(".made"), /The pages: \d+/);
});

test("a person types the responses", async ({ page }) => {
    await atTheStory(page);
    await choose(page, { method: "agentic-rag" });
    await reader(page, "watch", (page) => page.check("#choose-person"));
    await choose(page, { method: "agentic-rag" });
    await page.click("#step");
    const type = async (text) => {
        await page.fill("#response", text);
        await page.click("#send-response");
    };
    await page.fill("#response", "Let me");
    await reader(page, "watch", async () => {});
    assert.equal(await page.inputValue("#response"), "Let me", "what is half typed stays while another view is shown");
    await type("Let me think.");
    await step(page, 2).waitFor();
    await look(page, 1);
    assert.match(await page.textContent(".call .parsed"), /No <answer> and no <query> found\..*asked again/);
    await look(page, 2);
    assert.equal(await page.inputValue("#response"), "", "each response begins anew");
    await type("<query>goat Bailiff</query>");
    await step(page, 3).waitFor();
    await look(page, 2);
    assert.match(await page.textContent(".call .parsed"), /a search for “goat Bailiff”/);
    await look(page, 3);
    await type("<answer>0</answer>");
    await ended(page);
    assert.match(await outcome(page), /^Answered: He comes to the house and takes everything/);
    assert.match(await page.textContent(".ending"), /accuracy\s*1/);
});

test("who leaves between two calls is warned, and who leaves before the first or after the last is not", async ({ page }) => {
    const warnings = [];
    page.on("dialog", (dialog) => {
        warnings.push(dialog.type());
        return dialog.accept();
    });
    await atTheStory(page);
    await choose(page, { method: "agentic-rag" });
    await page.click("#step");
    await page.locator(".call").waitFor();
    await page.reload();
    assert.deepEqual(warnings, []);
    await page.locator("#step").click();
    await page.locator("#step[aria-disabled=false]").click();
    await step(page, 2).waitFor();
    await page.reload();
    assert.deepEqual(warnings, ["beforeunload"]);
    await page.locator("#play").click();
    await ended(page);
    await page.reload();
    assert.equal(warnings.length, 1);
});

test("what is missing is said, and a run can be stopped", async ({ page }) => {
    await atTheStory(page);
    await reader(page, "watch", (page) => page.check("#choose-key"));
    await choose(page, { method: "read-agent" });
    await page.click("#step");
    await page.waitForFunction(() => /No model is named/.test(document.querySelector("#problem").textContent));
    await page.selectOption("#item", "");
    await page.fill("#own-question", "");
    await page.click("#step");
    await page.locator("#own-question[aria-invalid=true]").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.id), "own-question");
    await reader(page, "watch", (page) => page.check("#choose-words"));
    await page.selectOption("#item", "en-002");
    await page.click("#step");
    await page.locator(".call").waitFor();
    await page.click("#stop");
    await page.waitForFunction(() => document.querySelector("#status").textContent === "Stopped.");
    await page.click("#again");
    await unfold(page, "#parameter-max_pages");
    await page.fill("#parameter-max_pages", "many");
    await page.click("#play");
    await page.waitForFunction(() => /max_pages|invalid type/.test(document.querySelector("#problem").textContent));
});

test("a prompt of a whole novel does not hang the page, and a book full of HTML is text", async ({ page }) => {
    const line = "<script>document.title='owned'</script><img src=x onerror=alert(1)> \u202Ebackwards\u202C Ana lit lamp number ";
    const text = Array.from({ length: 12_000 }, (_, n) => `${line}${n}. `).join("\n");
    await openBook(page, { name: "long.txt", bytes: text });
    await page.locator("#method").waitFor({ timeout: 60_000 });
    await page.selectOption("#method", "full-document");
    await page.fill("#own-question", "Who lit the lamp?");
    await page.click("#step");
    await page.locator(".call .exact").first().waitFor({ timeout: 120_000 });
    const shown = await page.$eval(".call .exact", ({ textContent }) => textContent.length);
    assert.ok(shown < 10_000, `${shown} characters at first`);
    await page.click(".message > button");
    await page.waitForFunction(() => document.querySelector(".call .exact").textContent.length > 50_000);
    assert.notEqual(await page.title(), "owned");
    assert.equal(await page.locator("#watch img, #watch script").count(), 0);
});

for (const [scheme, width] of [
    ["light", 1280],
    ["dark", 1280],
    ["light", 360],
]) {
    test(`axe finds nothing: ${scheme}, ${width} px`, async ({ page }) => {
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width, height: 800 });
        await atTheStory(page);
        assert.deepEqual(await axe(page), []);
        await choose(page, { method: "memory-agent" });
        await page.click("#play");
        await ended(page);
        await look(page, 2);
        for (const summary of await page.locator(".call summary, .ending summary").all()) await summary.click();
        assert.deepEqual(await axe(page), []);
        assert.equal(await scrollsSideways(page), false);
    });
}

test("in Chinese, with a Chinese story", async ({ page }) => {
    await page.click("#language");
    await openSample(page, "shedu-bu");
    await page.locator("#method").waitFor();
    await page.selectOption("#method", "agentic-rag");
    await page.selectOption("#item", "zh-007");
    await page.click("#play");
    await ended(page);
    assert.match(await outcome(page), /^已回答: ./);
    await look(page, 1);
    assert.match(await page.textContent(".call .parsed"), /检索“/);
    // Another language: the run is still there.
    await page.click("#language");
    await page.locator(".ending").waitFor();
    await page.waitForFunction(() => /^Answered: ./.test(document.querySelector(".ending .outcome").textContent));
    assert.equal(await page.locator(".timeline .step-call").count(), 2);
});

// A language model in the page itself: SmolLM2's real weights, which CLOSEREAD_SMOLLM names (a GGUF file).

import assert from "node:assert/strict";
import { test } from "node:test";
import { needs, openSample, useBrowser } from "./harness.js";

const ISOLATED = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "credentialless" };
const use = useBrowser({ route: "#/model", headers: ISOLATED });
const need = { ...needs("CLOSEREAD_SMOLLM"), timeout: 1_800_000 };
const LONG = { timeout: 900_000 };

/** Keeps the weights in the page and has them write a sentence. */
async function withWeights() {
    const { page } = use;
    await openSample(page, "the-loan-of-the-bell");
    await page.setInputFiles("#gguf", process.env.CLOSEREAD_SMOLLM);
    await page.locator(".option input[value^='page ']:checked").waitFor(LONG);
    await page.click("#try");
    await page.locator("#try").waitFor(LONG);
    assert.equal(await page.textContent("#problem"), "");
    assert.ok((await page.textContent("#tried")).length > 10);
    assert.match(await page.textContent(".chosen"), /tokens\/s/);
    return page;
}

test("it answers a question in both orders, held to its form", need, async () => {
    const page = await withWeights();
    await page.click("#to-ask");
    await page.selectOption("#count", "1");
    await page.fill("#budget", "300");
    await page.click("#ask-all");
    await page.waitForFunction(() => document.querySelector("#progress")?.textContent.startsWith("1 of 1 "), undefined, LONG);
    assert.equal(await page.locator(".answer[data-state=done]").count(), 2);
    assert.match(await page.textContent("#verdict"), /One question cannot tell/);
});

test("it steps agentic RAG to an end, cancelled once on the way", need, async () => {
    const page = await withWeights();
    await page.click("#to-watch");
    await page.selectOption("#method", "agentic-rag");
    await page.selectOption("#item", "en-002");
    await page.click(".how > summary");
    await page.fill("#parameter-max_searches", "2");
    await page.click("#step");
    await page.locator(".call").waitFor();
    await page.click("#step");
    await page.click("#cancel");
    await page.locator(".call[data-state=waiting]").waitFor(LONG);
    await page.click("#play");
    await page.locator(".ending").waitFor(LONG);
    assert.match(await page.textContent(".ending .outcome"), /^(Answered: .|Unanswered|Overflow)/, "no response was out of form");
    await page.locator(".timeline li:nth-child(1) button").first().click();
    assert.match(await page.textContent(".call .heard"), /a search for/);
});

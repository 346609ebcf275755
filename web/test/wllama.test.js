// A language model in the page itself: a tiny one of random weights, and SmolLM2's real ones, which CLOSEREAD_SMOLLM names (a GGUF file).

import assert from "node:assert/strict";
import { tinyModel } from "./gguf.js";
import { needs, test } from "./fixtures.js";
import { openSample } from "./harness.js";

const ISOLATED = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "credentialless" };
const LONG = { timeout: 300_000 };
const MODELS = [
    {
        what: "a tiny model",
        file: () => ({ name: "tiny.gguf", mimeType: "application/octet-stream", buffer: tinyModel() }),
        headers: {},
        most: 512,
        variables: [],
        timeout: 300_000,
    },
    { what: "SmolLM2", file: () => process.env.CLOSEREAD_SMOLLM, headers: ISOLATED, most: 100, variables: ["CLOSEREAD_SMOLLM"], timeout: 1_800_000 },
];

for (const { what, file, headers, most, variables, timeout } of MODELS) {
    test.describe(what, () => {
        needs(...variables);
        test.use({ route: "#/model", site: { headers } });

        /** Keeps the weights in the page and has them write a sentence. */
        async function withWeights(page) {
            await openSample(page, "the-loan-of-the-bell");
            await page.setInputFiles("#gguf", file());
            await page.locator(".option input[value^='page ']:checked").waitFor(LONG);
            await page.click("#try");
            await page.waitForFunction(
                () =>
                    document.querySelector("#problem").textContent !== "" ||
                    (document.querySelector("#try") && /\d s/.test(document.querySelector("#tried-facts").textContent)),
                undefined,
                LONG,
            );
            assert.equal(await page.textContent("#problem"), "");
            assert.ok((await page.textContent("#tried")).length > 10);
            assert.match(await page.textContent(".chosen"), /tokens\/s/);
        }

        test("answers a question in both orders, held to its form", async ({ page }) => {
            test.setTimeout(timeout);
            await withWeights(page);
            await page.click("#to-ask");
            await page.selectOption("#count", "1");
            await page.fill("#budget", "300");
            await page.click("#ask-all");
            await page.waitForFunction(() => document.querySelector("#progress")?.textContent.startsWith("1 of 1 "), undefined, LONG);
            assert.equal(await page.locator(".answer[data-state=done]").count(), 2);
            assert.match(await page.textContent("#verdict"), /One question cannot tell/);
        });

        test("steps agentic RAG to an end, cancelled once on the way", async ({ page }) => {
            test.setTimeout(timeout);
            await withWeights(page);
            // A processor reads a few dozen tokens a second: short passages, and short responses of a model that finds their end.
            await page.click("#model details > summary");
            await page.fill("#max-output-tokens", String(most));
            await page.click("#to-watch");
            await page.selectOption("#method", "agentic-rag");
            await page.selectOption("#item", "en-002");
            await page.click(".how > summary");
            for (const [name, value] of Object.entries({ max_tokens: 128, top_k: 2, max_searches: 2 })) await page.fill(`#parameter-${name}`, String(value));
            await page.click("#step");
            await page.locator(".call").waitFor();
            await page.click("#step");
            await page.click("#cancel");
            await page.locator(".call[data-state=waiting]").waitFor(LONG);
            await page.click("#play");
            await page.locator(".ending").waitFor({ timeout: 900_000 });
            for (const line of await page.$$eval(".timeline .facts", (steps) => steps.map(({ textContent }) => textContent))) console.log(line);
            assert.match(await page.textContent(".ending .outcome"), /^(Answered: .|Unanswered|Overflow)/, "no response was out of form");
            await page.locator(".timeline li:nth-child(1) button").first().click();
            assert.match(await page.textContent(".call .parsed"), /a search for/);
        });
    });
}

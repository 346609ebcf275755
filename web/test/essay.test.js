// The first screen and the essay: what stands before anything is computed, and what lives once a book is there.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "./fixtures.js";
import { DIST, axe, openBook, scrollsSideways, unreadable } from "./harness.js";
const BOOK = {
    name: "harbour.txt",
    bytes: Array.from(
        { length: 40 },
        (_, n) =>
            `Chapter ${n + 1}\n\nThe boats stayed in the harbour and the men mended nets until the evening bell rang over the market and the mill. ` +
            `Nobody spoke of the journey, and the gulls walked about as if they had bought the place.${n % 9 === 4 ? " Ana lit the lamp in the tower." : ""}`,
    ).join("\n\n"),
};

test("the first screen stands without WebAssembly, on a few kilobytes, and answers its own question", async ({ page }) => {
    const fetched = [];
    page.on("request", (request) => fetched.push(new URL(request.url()).pathname));
    await page.reload();
    await page.waitForSelector("#passages li");
    assert.equal(await page.title(), "Does order matter? · closeread");
    assert.ok(!fetched.some((path) => /wasm|worker\.js|cl100k/.test(path)), fetched.join(" "));
    assert.ok((await readFile(new URL("essay.en.json", DIST))).length <= 20_000);
    assert.match(await page.textContent("#summary"), /4 of 4 pieces of evidence/);
    assert.match(await page.textContent(".caption"), /By score, .* third, second, first and fourth\./);
    const byScore = await page.$$eval("#passages li", (items) => items.map((item) => item.dataset.passage));
    await page.check("#order-book", { force: true });
    assert.match(await page.textContent(".caption"), /as it happened: first, second, third and fourth/);
    const byBook = await page.$$eval("#passages li", (items) => items.map((item) => Number(item.dataset.passage)));
    assert.deepEqual(
        byBook,
        byScore.map(Number).sort((a, b) => a - b),
        "the order of reading is the order on the screen",
    );
    await page.focus("#budget");
    await page.keyboard.press("Home");
    assert.match(page.url(), /k=100/);
    assert.match(await page.textContent("#summary"), /of 4 pieces/);
});

test("the mark is painted before any script has come, and stays as it was", async ({ page }) => {
    let go;
    const gone = new Promise((resolve) => (go = resolve));
    await page.route("**/*.js", async (route) => {
        await gone;
        await route.continue();
    });
    await page.reload({ waitUntil: "commit" });
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length === 1);
    const brand = () =>
        page.$eval(".top .brand", (link) => [
            link.getAttribute("href"),
            link.querySelector("svg").outerHTML,
            link.querySelector("span").textContent,
            link.querySelector("svg").getBoundingClientRect().toJSON(),
        ]);
    const before = await brand();
    assert.equal(await page.locator("#language").count(), 0, "no script has run");
    go();
    await page.waitForSelector("#language");
    assert.deepEqual(await brand(), before);
});

test("what was computed before is what the core finds now", async ({ page }) => {
    await page.waitForSelector("#passages li");
    const before = await page.$$eval("#passages li", (items) => items.map((item) => item.textContent));
    await page.click("text=Open in Find");
    await page.waitForSelector("#find #passages li", { timeout: 60_000 });
    await page.waitForFunction((n) => document.querySelectorAll("#find #passages li").length === n, before.length);
    assert.deepEqual(await page.$$eval("#passages li", (items) => items.map((item) => item.textContent)), before);
});

test("every idea has its figure, its finding and the paper it is from", async ({ page }) => {
    await page.waitForSelector("#idea-whole");
    for (const id of ["order", "budget", "meaning", "agents", "whole"]) {
        const idea = page.locator(`#idea-${id}`);
        assert.ok((await idea.locator("svg").count()) > 0, id);
        assert.ok((await idea.locator(".paper").count()) === 1, id);
    }
    assert.deepEqual(
        [...new Set(await page.$$eval(".paper a", (links) => links.map(({ href }) => href)))],
        ["https://arxiv.org/abs/2506.03989", "https://arxiv.org/abs/2601.09723"],
    );
    assert.match(await page.textContent("#idea-agents .paper"), /table 2; .*, section 4\.2\.$/);
    assert.match(await page.textContent("#idea-agents .say"), /answers 90\.3%; the book’s order answers 90\.0% with 10,000/);
    const chart = page.locator("#idea-order svg.drawing");
    await chart.focus();
    await page.keyboard.press("End");
    assert.match(await chart.getAttribute("aria-valuetext"), /40,000 tokens, book order 91\.9% ± 0\.7%, by score 86\.6% ± 0\.4%/);
});

test("a book of one's own takes the place of the sample in every figure", async ({ page }) => {
    await openBook(page, BOOK);
    await page.fill("#own", "Who lit the lamp?");
    await page.press("#own", "Enter");
    await page.waitForFunction(() => /lamp/.test(document.querySelector("#passages li")?.textContent ?? ""));
    assert.equal(await page.locator(".pinned .ribbon rect.not-read").count(), 40);
    await page.waitForFunction(() => /places/.test(document.querySelector("#idea-budget svg.drawing")?.getAttribute("aria-valuetext") ?? ""));
    assert.match(await page.textContent("#idea-whole .caption"), /harbour has [\d,]+ tokens\. It fits windows from 32,000 on/);
    await page.locator("#idea-agents").scrollIntoViewIfNeeded();
    await page.waitForSelector("#idea-agents figure[aria-busy=false]", { timeout: 60_000 });
    const whole = await page.locator("#idea-agents tr", { hasText: "full-document" }).locator("td.number").last().textContent();
    assert.ok(Number(whole.replace(",", "")) < 5000, `the whole of this book is ${whole} tokens`);
    assert.ok(await page.locator("#by-meaning").isVisible());
    assert.match(page.url(), /#\/\?b=[0-9a-f]{16}&q=Who/);
});

for (const [colorScheme, language] of [
    ["light", "en"],
    ["dark", "zh"],
]) {
    test(`360 pixels wide nothing scrolls sideways and axe finds nothing, ${colorScheme}, ${language}`, async ({ page }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width: 360, height: 700 });
        if (language === "zh") await page.click("#language");
        await page.waitForSelector("#idea-whole");
        assert.equal(await page.getAttribute("html", "lang"), language);
        assert.ok(!(await scrollsSideways(page)));
        assert.deepEqual(await unreadable(page), []);
        assert.deepEqual(await axe(page), []);
    });
}

test("at 360 pixels what has the focus is never under the bars or the ribbon, forward and back", async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 800 });
    await page.waitForSelector("#idea-whole");
    const hidden = () =>
        page.evaluate(() => {
            const focused = document.activeElement;
            const { top, bottom } = focused.getBoundingClientRect();
            const [pinned, rail] = [".pinned", ".rail"].map((one) => document.querySelector(one).getBoundingClientRect());
            return bottom > rail.top || (focused.closest(".rows") && top < pinned.bottom) ? focused.textContent : "";
        });
    await page.focus("#budget");
    const rows = await page.locator("#passages li").count();
    for (const key of ["Tab", "Shift+Tab"]) {
        for (let n = 0; n < rows; n++) {
            await page.keyboard.press(key);
            assert.equal(await hidden(), "", key);
        }
    }
});

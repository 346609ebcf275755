// Ask: the same passages to the same model in both orders, and what can be said of it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "./fixtures.js";
import { axe, openBook, openSample, scrollsSideways } from "./harness.js";
import { OPEN, STREAM, choose, listening, localServer, piece, until, withKey } from "./reader.js";

test.use({ route: "#/ask", allowed: ["http://127.0.0.1:"], expected: /net::ERR_|Failed to load resource/ });

async function atTheStory(page, count) {
    await openSample(page, "the-loan-of-the-bell");
    await page.locator("#count").waitFor();
    if (count !== undefined) await page.selectOption("#count", String(count));
}

/** The passages of a prompt, as its long enough lines. */
const passagesOf = (body) =>
    body.messages
        .at(-1)
        .content.split("\n")
        .filter((line) => line.length > 60)
        .sort();
/** All are answered, and what that means is computed. */
const finished = (page, n) =>
    page.waitForFunction((n) => document.querySelector("#again") && document.querySelector("#progress").textContent.startsWith(`${n} of ${n} `), n, {
        timeout: 120_000,
    });

test("one question in both orders: the same passages, the same model, two answers, and no verdict", async ({ after, page }) => {
    const server = await localServer(after, { say: (_, n) => `So it is. [[${n}]]` });
    await atTheStory(page, 1);
    await choose(page, "ask", withKey({ provider: "openai-compatible", url: `${server.url}/v1` }));
    await page.selectOption("#count", "1");
    await page.click("#ask-all");
    await finished(page, 1);
    const [byScore, byBook] = server.asked.map(({ body }) => body);
    assert.equal(server.asked.length, 2);
    assert.notEqual(byScore.messages.at(-1).content, byBook.messages.at(-1).content);
    assert.deepEqual(passagesOf(byScore), passagesOf(byBook));
    assert.match(await page.textContent("#verdict"), /One question cannot tell/);
    assert.match(await page.textContent(".verdict"), /The order changed 1 of 1 answers/);
    const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#save-answers")]);
    assert.match(
        await readFile(await saved.path(), "utf8"),
        /^question,By score,In the book's order,.*\r\n.+,So it is. \[\[1\]\],So it is. \[\[2\]\],.+\r\n$/i,
    );
    assert.equal(await page.locator(".answer[data-state=done]").count(), 2);
    const prompt = page.locator('.answer[data-order="dos-rag"] details');
    await prompt.locator("summary").click();
    // Its first 6,000 characters are shown, and the rest on demand.
    await prompt.getByRole("button").click();
    await prompt.getByRole("button").waitFor({ state: "detached" });
    assert.equal(await prompt.locator(".exact").textContent(), byBook.messages.map(({ content }) => content).join("\n\n"));
    assert.match(await page.textContent(".paper"), /69\.9\s*68\.9/);
});

test("a difference is told with its interval, and a verdict only where there are questions enough", async ({ page }) => {
    await atTheStory(page, 5);
    await page.click("#ask-all");
    await finished(page, 5);
    assert.match(await page.textContent("#verdict"), /5 questions cannot tell/);
    assert.match(await page.textContent(".verdict"), /95% interval goes from/);
    assert.match(await page.textContent(".verdict"), /about [\d,]+ questions are needed|cannot be told from these/);
    assert.match(await page.textContent(".verdict"), /This book has 78/);
    assert.equal(await page.locator(".square").count(), 5);
    assert.equal(await page.locator(".all tbody tr").count(), 5);
    await page.click(".square >> nth=3");
    assert.match(await page.textContent(".answers .label"), /Question \d+ of 5/);
    await page.check("#only-changed");
    const changed = await page.locator(".all tbody tr").count();
    assert.ok(changed < 5);
    assert.match(await page.textContent("#ask-more"), /Ask 73 more/);
    assert.deepEqual(await axe(page), []);
});

test("questions of one's own, with and without a gold answer", async ({ after, page }) => {
    const server = await localServer(after, { say: () => "Ana" });
    await openBook(page, { name: "lamps.txt", bytes: Array.from({ length: 40 }, (_, n) => `Ana lit lamp ${n} in the long hall.`).join("\n") });
    await choose(page, "ask", withKey({ provider: "openai-compatible", url: `${server.url}/v1` }));
    // A budget that is being typed is none yet; one that is left unfinished is the one before.
    await page.fill("#budget", "");
    assert.equal(await page.inputValue("#budget"), "");
    await page.fill("#own-questions", "Who lit the lamps?\nWhere are they?");
    assert.equal(await page.inputValue("#budget"), "1500");
    await page.click("#ask-all");
    await finished(page, 2);
    assert.match(await page.textContent(".verdict"), /Nothing is scored.*changed 0 of 2/s);
    await page.click("#again");
    await page.fill("#own-questions", "If a = b, who lit the lamps? = Ana");
    await page.click("#ask-all");
    await finished(page, 1);
    assert.match(await page.textContent(".verdict"), /cannot tell/);
    assert.equal(await page.locator(".answer .ok").count(), 2);
});

test("own questions stay while a model is chosen", async ({ page }) => {
    await openBook(page, { name: "lamps.txt", bytes: "Ana lit the lamp in the long hall." });
    await page.fill("#own-questions", "Who lit the lamp? = Ana");
    await choose(page, "ask", (page) => page.check("#choose-person"));
    assert.equal(await page.inputValue("#own-questions"), "Who lit the lamp? = Ana");
});

test("an answer is typed once there is a call that takes it, and is not lost before", async ({ page }) => {
    let come = () => {};
    const late = new Promise((resolve) => (come = resolve));
    await page.route("**/closeread_wasm_bg.wasm", async (route) => {
        await late;
        await route.continue();
    });
    await openBook(page, { name: "lamps.txt", bytes: "Ana lit the lamp in the long hall." });
    await page.fill("#own-questions", "Who lit the lamp? = Ana");
    await choose(page, "ask", (page) => page.check("#choose-person"));
    await page.click("#ask-all");
    await page.locator(".answer[data-state=asked]").waitFor();
    assert.equal(await page.locator("#typed-answer").count(), 0);
    come();
    await page.fill("#typed-answer", "Ana, half");
    await choose(page, "ask", async () => {});
    assert.equal(await page.inputValue("#typed-answer"), "Ana, half", "what is half typed stays while another view is shown");
    for (const order of ["vanilla-rag", "dos-rag"]) {
        const card = `.answer[data-order="${order}"]`;
        await page.locator(`${card} #typed-answer`).waitFor();
        if (order === "dos-rag") assert.equal(await page.inputValue("#typed-answer"), "", "each answer begins anew");
        await page.fill(`${card} #typed-answer`, "Ana");
        await page.click(`${card} form button`);
        await page.locator(`${card}[data-state=done]`).waitFor();
    }
    await finished(page, 1);
    assert.equal(await page.locator(".answer .ok").count(), 2);
});

test("answers stand under the budget that they were asked with", async ({ page }) => {
    await atTheStory(page, 1);
    await page.fill("#budget", "400");
    await page.click("#ask-all");
    await finished(page, 1);
    await page.evaluate(() => (location.hash = location.hash.replace("k=400", "k=5000")));
    await page.waitForTimeout(200);
    assert.match(await page.textContent("#ask .head"), /budget 400 tokens/);
    await page.click("#again");
    await page.waitForFunction(() => /budget 5,000 tokens/.test(document.querySelector("#ask .head").textContent));
    assert.equal(await page.inputValue("#budget"), "5000");
});

test("an address asks whole numbers of questions and tokens, and both can be seen in the form", async ({ page }) => {
    await atTheStory(page);
    const address = page.url();
    const shown = async (more) => {
        await page.goto(`${address}&${more}`);
        await page.reload();
        await page.locator("#count").waitFor();
        return [await page.inputValue("#count"), await page.textContent("#ask-all"), await page.inputValue("#budget")];
    };
    for (const odd of ["qs=2.5", "qs=-3", "qs=x", "qs=5&k=0.5"]) {
        const [count, button, budget] = await shown(odd);
        assert.deepEqual([count, budget], ["5", "1500"], odd);
        assert.match(button, /\b5\b/, odd);
    }
    assert.deepEqual((await shown("qs=3&k=700")).toSpliced(1, 1), ["3", "700"]);
});

test("a model that is lost leaves the question open; another goes on, and both are named", async ({ after, page }) => {
    const server = await localServer(after, { say: () => "[[1]]" });
    await atTheStory(page, 5);
    await choose(page, "ask", withKey({ provider: "openai-compatible", url: `${server.url}/nowhere` }));
    await page.selectOption("#count", "5");
    // The first call is answered, and then the address is another one's.
    await page.click("#ask-all");
    await finished(page, 5);
    await page.click("#again");
    await choose(page, "ask", withKey({ provider: "openai-compatible", url: "http://127.0.0.1:9/v1" }));
    await page.selectOption("#count", "1");
    await page.click("#ask-all");
    await page.locator(".answer[data-state=failed]").waitFor({ timeout: 60_000 });
    assert.match(await page.textContent(".answer[data-state=failed]"), /no connection to the server/);
    await choose(page, "ask", (page) => page.check("#choose-words"));
    await page.click("#go-on");
    await finished(page, 1);
});

test("another book, opened from another view, ends the asking: nothing is asked with its passages", async ({ after, page }) => {
    let answer = () => {};
    const held = new Promise((resolve) => (answer = resolve));
    const server = await listening(after, async ({ method }, response) => {
        if (method === "OPTIONS") return response.writeHead(204, OPEN).end();
        await held;
        response.writeHead(200, { ...STREAM, ...OPEN }).end(`${piece("Ana", "stop")}data: [DONE]\n\n`);
    });
    const lines = (words) => Array.from({ length: 40 }, (_, n) => `${words} ${n} in the long hall.`).join("\n");
    await openBook(page, { name: "lamps.txt", bytes: lines("Ana lit lamp") });
    await choose(page, "ask", withKey({ provider: "openai-compatible", url: `${server.url}/v1` }));
    await page.fill("#own-questions", "Who lit the lamps? = Ana\nWhere are they?");
    await page.click("#ask-all");
    await until(() => server.asked.length === 1);
    await page.click("#to-find");
    await openBook(page, { name: "ships.txt", bytes: lines("Bo sank ship") });
    answer();
    await page.click("#to-ask");
    await page.locator("#own-questions").waitFor();
    await page.waitForTimeout(1000);
    assert.equal(server.asked.length, 1);
});

test("who leaves while questions are asked is warned", async ({ after, page }) => {
    const server = await localServer(after, { say: () => "So it is. [[1]]", breaks: 1 });
    await atTheStory(page, 1);
    await choose(page, "ask", withKey({ provider: "openai-compatible", url: `${server.url}/v1` }));
    await page.selectOption("#count", "1");
    const warnings = [];
    page.on("dialog", (dialog) => {
        warnings.push(dialog.type());
        return dialog.accept();
    });
    await page.click("#ask-all");
    await page.waitForFunction(() => /again in/.test(document.querySelector(".answer[data-state=asked]")?.textContent));
    // Another view does not end the asking.
    await page.click("#to-find");
    await page.locator("#find").waitFor();
    await page.reload();
    assert.deepEqual(warnings, ["beforeunload"]);
});

test("a call that is sent again says why, in its card", async ({ after, page }) => {
    const server = await localServer(after, { say: () => "So it is. [[1]]", breaks: 1 });
    await atTheStory(page, 1);
    await choose(page, "ask", withKey({ provider: "openai-compatible", url: `${server.url}/v1` }));
    await page.selectOption("#count", "1");
    await page.click("#ask-all");
    await page.waitForFunction(() => /; try 1 of 8, again in \d+ s/.test(document.querySelector(".answer[data-state=asked]")?.textContent));
    await finished(page, 1);
});

test("in Chinese, at 360 pixels, in the dark", async ({ page }) => {
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 360, height: 800 });
    await page.click("#language");
    await openSample(page, "shedu-bu");
    await page.locator("#count").waitFor();
    await page.click("#ask-all");
    await page.waitForFunction(
        () => document.querySelector("#again") && document.querySelector("#progress").textContent.startsWith("5 个问题中，5 个"),
        undefined,
        { timeout: 120_000 },
    );
    assert.match(await page.textContent("#verdict"), /说明不了什么/);
    assert.deepEqual(await axe(page), []);
    assert.equal(await scrollsSideways(page), false);
});

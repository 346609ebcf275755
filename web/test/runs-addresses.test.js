// Runs by their addresses: trials, runs that a server has, runs elsewhere, and the leaderboard of a report.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { needs, test } from "./fixtures.js";
import { BINARY, DIST, axe } from "./harness.js";
import { cleared, open, part, prepare, record, runFolder, work } from "./run-folders.js";

test.use({ route: "#/runs" });
test.beforeAll(prepare);
test.afterAll(cleared);

test("a trial has an address: it opens from it, steps to its neighbours, and Back leads through them", async ({ page, origin }) => {
    needs("CLOSEREAD_BINARY");
    await open(page, "first");
    await part(page, "trials");
    await page.check("#verdict-wrong", { force: true });
    await page.selectOption("#trial-cell", { label: "dos-rag at 300" });
    await page.waitForSelector(".trial .verdict.wrong");
    assert.equal(await page.locator(".trial .verdict.right").count(), 0);
    const n = Number((await page.textContent("#trial-count")).match(/^[\d,]+/)[0].replace(",", ""));
    await page.check("#verdict-all", { force: true });
    await page.waitForFunction(
        (n) =>
            Number(
                document
                    .querySelector("#trial-count")
                    .textContent.match(/^[\d,]+/)[0]
                    .replace(",", ""),
            ) > n,
        n,
    );
    await page.check("#verdict-differ", { force: true });
    await page.selectOption("#trial-cell", "");
    await page.selectOption("#trial-sort", "highest");
    await page.waitForFunction(() => /s=highest/.test(location.hash));
    await page.check("#verdict-all", { force: true });
    await page.selectOption("#trial-sort", "item");
    await page.waitForFunction(() => /en-001/.test(document.querySelector(".trial")?.textContent ?? ""));
    await page.locator(".trial").first().click();
    await page.waitForSelector("#trace-heading");
    const first = await page.textContent("#trace-heading");
    assert.match(page.url(), /#\/runs\/first\/trials\/en-001\//);
    assert.equal(await page.getAttribute("#previous-trial", "aria-disabled"), "true");
    await page.click("#next-trial");
    await page.waitForFunction((first) => document.querySelector("#trace-heading")?.textContent !== first, first);
    assert.equal(await page.evaluate(() => document.activeElement.id), "next-trial", "the focus stays");
    await page.goBack();
    await page.waitForFunction((first) => document.querySelector("#trace-heading")?.textContent === first, first);
    const address = page.url();
    await part(page, "report");
    await page.waitForSelector(".report table");
    await page.goto(address);
    await page.waitForFunction((first) => document.querySelector("#trace-heading")?.textContent === first, first);
    await page.goto(`${origin}#/runs/elsewhere/trials`);
    await page.waitForFunction(() => /run elsewhere is not open/.test(document.querySelector("#no-run").textContent));
});

test("a run of the reader's own does not stand for the served run of its name", async ({ page, origin }) => {
    const item = (question) => [{ id: "a", documents: ["b"], question, task: "generative", answers: ["yes"] }];
    await runFolder(join(work, "twice"), item("served?"), [record("a")]);
    const files = await readdir(join(work, "twice"));
    await page.route("**/runs/twice/**", (route) => {
        const path = new URL(route.request().url()).pathname.split("/runs/twice/")[1];
        return path === "" ? route.fulfill({ json: { files: files.map((path) => ({ path })) } }) : route.fulfill({ path: join(work, "twice", path) });
    });
    await page.route("**/closeread.json", (route) => route.fulfill({ json: { runs: ["twice"], relay: null } }));
    await page.goto("about:blank");
    await page.goto(`${origin}#/runs`);
    await page.locator(".served-run").waitFor();
    await runFolder(join(work, "own/twice"), item("own?"), [record("a")]);
    await page.setInputFiles("#run-folder", join(work, "own/twice"));
    await page.waitForFunction(() => document.querySelector("#runs-heading")?.textContent === "twice-2", undefined, { timeout: 20_000 });
    await page.click(".served-run");
    await page.waitForFunction(() => document.querySelector("#runs-heading")?.textContent === "twice", undefined, { timeout: 20_000 });
    await part(page, "trials");
    await page.waitForFunction(() => /served\?/.test(document.querySelector(".trial")?.textContent), undefined, { timeout: 20_000 });
});

test("of two served runs the one that was clicked last opens, though the first is slow", async ({ page, origin }) => {
    const folder = async (name) => {
        await runFolder(join(work, name), [{ id: "a", documents: ["b"], question: `of ${name}?`, task: "generative", answers: ["yes"] }], [record("a")]);
        const files = await readdir(join(work, name));
        await page.route(`**/runs/${name}/**`, async (route) => {
            const path = new URL(route.request().url()).pathname.split(`/runs/${name}/`)[1];
            if (path === "") return route.fulfill({ json: { files: files.map((path) => ({ path })) } });
            if (name === "slow") await late;
            return route.fulfill({ path: join(work, name, path) });
        });
    };
    let come;
    const late = new Promise((resolve) => (come = resolve));
    await folder("slow");
    await folder("quick");
    await page.route("**/closeread.json", (route) => route.fulfill({ json: { runs: ["slow", "quick"], relay: null } }));
    await page.goto("about:blank");
    await page.goto(`${origin}#/runs`);
    await page.click(".served-run >> nth=0");
    await page.click(".served-run >> nth=1");
    come();
    await page.waitForFunction(() => document.querySelector("#runs-heading")?.textContent === "quick", undefined, { timeout: 20_000 });
});

test("a run that its address names is said to be read until it is there", async ({ page, origin }) => {
    await runFolder(join(work, "late"), [{ id: "a", documents: ["b"], question: "late?", task: "generative", answers: ["yes"] }], [record("a")]);
    const files = await readdir(join(work, "late"));
    let come;
    const late = new Promise((resolve) => (come = resolve));
    await page.route("**/runs/late/**", async (route) => {
        await late;
        const path = new URL(route.request().url()).pathname.split("/runs/late/")[1];
        return path === "" ? route.fulfill({ json: { files: files.map((path) => ({ path })) } }) : route.fulfill({ path: join(work, "late", path) });
    });
    let tell;
    const list = new Promise((resolve) => (tell = resolve));
    await page.route("**/closeread.json", async (route) => {
        await list;
        return route.fulfill({ json: { runs: ["late"], relay: null } });
    });
    await page.goto("about:blank");
    await page.goto(`${origin}#/runs/late`);
    await page.locator("#run-coming").waitFor();
    assert.equal(await page.locator("#no-run").count(), 0, "nobody knows yet that it is not here");
    tell();
    await page.waitForFunction(() => document.querySelector("#status").textContent === "Reading the run …");
    assert.equal(await page.textContent("#run-coming"), "Reading the run …");
    come();
    await page.waitForFunction(() => document.querySelector("#runs-heading")?.textContent === "late", undefined, { timeout: 20_000 });
    assert.equal(await page.locator("#run-coming").count(), 0);
});

test.describe("runs of other servers", () => {
    test.use({ expected: /503|429|404/ });

    test("of the same name are two, keep their address, and lack no verdict in silence", async ({ page, origin }) => {
        for (const year of ["2025", "2026"]) {
            const path = join(work, year, "mine");
            await runFolder(path, [{ id: "a", documents: ["b"], question: `in ${year}?`, task: "generative", answers: ["yes"] }], [record("a")]);
            await page.route(`**/${year}/mine/*`, async (route) => {
                const name = new URL(route.request().url()).pathname.split("/").pop();
                return (await readdir(path)).includes(name) ? route.fulfill({ path: join(path, name) }) : route.fulfill({ status: 404 });
            });
        }
        const trials = (year) => `${origin}#/runs/mine/trials?at=${encodeURIComponent(`${origin}${year}/mine`)}`;
        for (const year of ["2025", "2026", "2025"]) {
            await page.goto(trials(year));
            await page.waitForFunction((year) => document.querySelector(".trial")?.textContent.includes(year), year, { timeout: 20_000 });
        }
        await page.click(".trial");
        await page.locator("#trace-heading").waitFor();
        const there = page.url();
        await page.goto("about:blank");
        await page.goto(there);
        await page.locator("#trace-heading").waitFor({ timeout: 20_000 });
        for (const status of [503, 429]) {
            await page.route("**/2026/mine/judgements.jsonl", (route) => route.fulfill({ status }));
            await page.goto("about:blank");
            await page.goto(trials("2026"));
            await page.waitForFunction((status) => document.querySelector("#problem").textContent.includes(status), String(status), { timeout: 20_000 });
        }
    });
});

test.describe("a server that does not answer", () => {
    test.use({ expected: /ERR_FAILED/ });

    test("is named, and its run comes when its link is followed again", async ({ page, origin }) => {
        const path = join(work, "later");
        await runFolder(path, [{ id: "a", documents: ["b"], question: "q?", task: "generative", answers: ["yes"] }], [record("a")]);
        let answers = false;
        await page.route("**/closeread.json", (route) => route.fulfill({ json: { relay: null, runs: ["later"] } }));
        await page.route("**/runs/later/*", async (route) => {
            const name = new URL(route.request().url()).pathname.split("/").pop();
            if (!answers) return route.abort();
            return name === ""
                ? route.fulfill({ json: { files: (await readdir(path)).map((path) => ({ path })) } })
                : route.fulfill({ path: join(path, name) });
        });
        await page.goto("about:blank");
        await page.goto(`${origin}#/runs`);
        await page.click(".served-run");
        await page.waitForFunction(() => /runs\/later\/ cannot be fetched/.test(document.querySelector("#problem").textContent));
        answers = true;
        await page.click(".served-run");
        await page.waitForFunction(() => document.querySelector("#runs-heading").textContent === "later");
        assert.equal(await page.textContent("#problem"), "");
    });
});

/** What is served by the binary, its address, and how it is ended. */
async function served(...args) {
    const server = spawn(BINARY, ["serve", ...args, "--port", "0", "--page", fileURLToPath(DIST)], { cwd: work, stdio: ["ignore", "pipe", "ignore"] });
    const line = await new Promise((resolve) => server.stdout.once("data", (data) => resolve(String(data).trim())));
    return { url: line, end: () => server.kill("SIGINT") };
}

test("a served run opens by a click, and the page's first load is as it should be", async ({ browser }) => {
    needs("CLOSEREAD_BINARY");
    const { url, end } = await served("first");
    const context = await browser.newContext({ serviceWorkers: "allow" });
    try {
        const page = await context.newPage();
        const [responses, complaints] = [[], []];
        page.on("response", (response) => responses.push(response));
        page.on("pageerror", (error) => complaints.push(error.message));
        page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
        await page.goto(url);
        await page.click(".served-run");
        await page.waitForSelector(".part.report table", { timeout: 120_000 });
        assert.deepEqual(complaints, []);
        for (const response of responses) {
            const headers = response.headers();
            const policy = headers["content-security-policy"];
            assert.ok(
                policy.includes("script-src 'self' 'wasm-unsafe-eval'") && !policy.includes("'unsafe-inline'") && !policy.includes("'unsafe-eval'"),
                response.url(),
            );
            assert.equal(headers["x-content-type-options"], "nosniff");
            assert.match(headers["cache-control"], /no-cache|no-store/);
            if (/\.(js|css|wasm|html)$/.test(new URL(response.url()).pathname)) assert.equal(headers["content-encoding"], "gzip", response.url());
        }
        // Nothing holds up the first paint but one style sheet; scripts are modules, which do not block.
        const blocking = await page.$$eval("head script:not([type=module]), head style, head link[rel=stylesheet]", (all) =>
            all.map((one) => one.getAttribute("href") ?? one.outerHTML),
        );
        assert.deepEqual(
            blocking.filter((href) => !/^(essay|find|ask|watch|runs)\.css$/.test(href)),
            ["style.css"],
        );
        // The header says what the page's own tag says; frame-ancestors can only stand in a header.
        const tag = await page.getAttribute("meta[http-equiv=Content-Security-Policy]", "content");
        const parts = (policy) =>
            new Set(
                policy
                    .split(";")
                    .map((part) => part.trim().replace(/\s+/g, " "))
                    .filter((part) => !part.startsWith("frame-ancestors")),
            );
        assert.deepEqual(parts(responses[0].headers()["content-security-policy"]), parts(tag));
        assert.match(page.url(), /#\/runs\/first$/);
        await page.reload();
        await page.waitForSelector(".part.report table", { timeout: 120_000 });
    } finally {
        await context.close();
        end();
    }
});

test("a report's leaderboard reads without JavaScript and checks its rows with it", async ({ browser }) => {
    needs("CLOSEREAD_BINARY");
    execFileSync(BINARY, ["report", "first", "--html", "site"], { cwd: work, stdio: "ignore", env: { ...process.env, CLOSEREAD_PAGE: fileURLToPath(DIST) } });
    assert.ok((await readdir(join(work, "site/elements"))).includes("closeread-site.js"));
    const { folder, serve } = await import("./serve.js");
    const { pathToFileURL } = await import("node:url");
    const server = await serve(folder(pathToFileURL(join(work, "site/"))));
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const context = await browser.newContext({ serviceWorkers: "allow" });
    try {
        const still = await plain.newPage();
        await still.goto(`${server.origin}leaderboard.html`);
        assert.ok(await still.locator("closeread-leaderboard table").isVisible());
        assert.equal(await still.locator("closeread-leaderboard tbody tr").count(), 5);
        const page = await context.newPage();
        const complaints = [];
        const isIcon = (message) => message.location().url.endsWith("/favicon.ico");
        page.on("console", (message) => message.type() === "error" && !isIcon(message) && complaints.push(message.text()));
        await page.goto(`${server.origin}leaderboard.html`);
        // The table for readers without JavaScript has no buttons.
        const row = page.locator("closeread-leaderboard tbody tr", { has: page.locator("button") }).first();
        await row.locator("button").click();
        await page.waitForFunction((verdict) => !/^( scoring …)?$/.test(verdict.textContent), await row.locator("[role=status]").elementHandle(), {
            timeout: 60_000,
        });
        assert.equal((await row.locator("[role=status]").textContent()).trim(), "the same numbers");
        assert.deepEqual(await axe(page), []);
        assert.deepEqual(complaints, []);
        // From a disk, too: nothing is fetched there.
        await page.goto(pathToFileURL(join(work, "site/leaderboard.html")).href);
        const onDisk = page.locator("closeread-leaderboard tbody tr", { has: page.locator("button") }).first();
        await onDisk.locator("button").click();
        await page.waitForFunction((verdict) => !/^( scoring …)?$/.test(verdict.textContent), await onDisk.locator("[role=status]").elementHandle(), {
            timeout: 60_000,
        });
        assert.equal((await onDisk.locator("[role=status]").textContent()).trim(), "the same numbers");
        assert.deepEqual(complaints, []);
    } finally {
        await plain.close();
        await context.close();
        server.close();
    }
});

// A journey in WebKit, by its own driver: a novel of one's own, asked in both orders, an agent watched, the book found again after a reload.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needs, test } from "./fixtures.js";
import { DIST } from "./harness.js";
import { folder, serve } from "./serve.js";
import { ENTER, launchWebKit } from "./webkit.js";

test.describe("in WebKit", () => {
    needs("CLOSEREAD_WEBKIT");
    let server, webkit, work;
    test.beforeAll(async () => {
        work = await mkdtemp(join(tmpdir(), "closeread-webkit-"));
        server = await serve(folder(DIST));
        webkit = await launchWebKit();
    });
    test.afterAll(async () => {
        await webkit?.end();
        server.close();
        await rm(work, { recursive: true, force: true });
    });

    test("a novel of one's own is asked in both orders, and its address finds it again", async () => {
        const { page } = webkit;
        console.log(`WebKitGTK ${webkit.version}`);
        const novel = join(work, "harbour.txt");
        const day = (n) =>
            `Chapter ${n + 1}\n\nThe boats stayed in the harbour and the men mended nets until the evening bell rang over the mill. Nobody spoke of the journey, and the gulls walked about as if they had bought the market.${n % 10 === 4 ? ` Ana lit the lamp in the tower${", and lit the lamp again".repeat((n - 4) / 10)}.` : ""}`;
        await writeFile(novel, Array.from({ length: 30 }, (_, n) => day(n)).join("\n\n"));
        const order = () => page.evaluate(() => [...document.querySelectorAll("#passages li")].map((item) => Number(item.dataset.passage)));
        await page.goto(server.origin);
        await page.until(() => document.querySelectorAll("#passages li").length > 0);
        await page.click("#try");
        await page.type("#file", novel);
        await page.type("#own", `Who lit the lamp?${ENTER}`);
        await page.until(() => /lamp/.test(document.querySelector("#passages li")?.textContent ?? ""));
        const byScore = await order();
        await page.click("label:has(#order-book)");
        await page.until(() => /o=book/.test(location.hash));
        const byBook = await order();
        assert.deepEqual(
            byBook,
            [...byScore].sort((a, b) => a - b),
        );
        assert.notDeepEqual(byBook, byScore);
        await page.click("#to-find");
        await page.until(() => document.querySelectorAll("#find #passages li").length > 0);
        const link = await page.url();
        await page.goto("about:blank");
        await page.goto(link);
        await page.until(() => document.querySelectorAll("#find #passages li").length > 0);
        assert.deepEqual(await order(), byBook);
        await page.click("#to-watch");
        await page.click("#play");
        await page.until(() => document.querySelector(".ending .outcome") !== null);
        assert.match(await page.evaluate(() => document.querySelector(".ending .outcome").textContent), /^Answered: ./);
        assert.equal(await page.evaluate(() => document.querySelector("#problem").textContent), "");
    });
});

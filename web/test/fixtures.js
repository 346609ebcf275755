// Tests of the page: a server over web/dist, a page that is open before a test begins, and what every page is held to after it.

import { test as base } from "@playwright/test";
import assert from "node:assert/strict";
import { DIST } from "./harness.js";
import { folder, serve } from "./serve.js";

/**
 * A test with these options, besides Playwright's own:
 * - `site`: what the server finds for a path (`find`), and `headers` that it sends;
 * - `route`: what is open when the test begins;
 * - `allowed`: starts of addresses that the page may ask, besides its own;
 * - `expected`: errors on the console that the test is about.
 */
export const test = base.extend({
    site: [{}, { option: true }],
    route: ["", { option: true }],
    allowed: [[], { option: true }],
    expected: [undefined, { option: true }],

    origin: async ({ site }, use) => {
        const server = await serve(site.find ?? folder(DIST), site.headers);
        await use(server.origin);
        server.close();
    },

    /** Errors of the page and requests to elsewhere: one of them fails the test, when its pages are closed. */
    complaints: async ({}, use) => {
        const complaints = [];
        await use(complaints);
        assert.deepEqual(complaints, [], "errors, or requests to elsewhere");
    },

    page: async ({ origin, complaints, page, route, allowed, expected }, use) => {
        page.on("pageerror", ({ message }) => !expected?.test(message) && complaints.push(message));
        page.on("console", (message) => message.type() === "error" && !expected?.test(message.text()) && complaints.push(message.text()));
        page.on("request", (request) => {
            const known = [origin, "data:", "blob:", ...allowed].some((start) => request.url().startsWith(start));
            if (!known) complaints.push(request.url());
        });
        await page.goto(origin + route);
        await use(page);
    },

    /** Takes what is to be done when the test is over, whether it passed or not. */
    after: async ({}, use) => {
        const todo = [];
        await use((act) => todo.push(act));
        for (const act of todo.reverse()) await act();
    },
});

/** Leaves a test out, or those of a file, and says so, where one of these variables is not set. */
export function needs(...variables) {
    const lacking = variables.filter((variable) => !process.env[variable]);
    test.skip(lacking.length > 0, `needs ${lacking.join(", ")}`);
}

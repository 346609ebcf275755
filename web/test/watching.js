// What tests do in Watch.

import { openSample } from "./harness.js";

/** Where Watch is open, and models of this machine may be asked. */
export const OPTIONS = {
    route: "#/watch",
    allowed: ["http://127.0.0.1:", "http://localhost:"],
    expected: /net::ERR_|Failed to load resource/,
};

/** Opens the sample story and waits for the form. */
export async function atTheStory(page) {
    await openSample(page, "the-loan-of-the-bell");
    await page.locator("#method").waitFor();
}

export async function choose(page, { method, item = "en-002", budget = "500" }) {
    await page.selectOption("#method", method);
    await page.selectOption("#item", item);
    if (await page.locator("#budget").isVisible()) await page.fill("#budget", budget);
}

export const ended = (page) => page.locator(".ending").waitFor({ timeout: 120_000 });
export const outcome = (page) => page.textContent(".ending .outcome");
export const unfold = (page, id) => page.click(`.how:not([open]) > summary`).then(() => page.locator(id).waitFor());
export const step = (page, n) => page.locator(`.timeline li:nth-child(${n})`);
/** Looks at the n-th step of the run, from 1. */
export async function look(page, n) {
    await step(page, n).locator("button").first().click();
    await page.locator(`.timeline li:nth-child(${n}) [aria-current]`).waitFor();
}

// How a reader does things: by mouse, by keyboard alone, on a phone. A journey is written once and done by each hand.

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DIST, scrollsSideways } from "./harness.js";
import { folder } from "./serve.js";

/** Presses of Tab after which what is looked for is not to be reached. */
const FAR = 300;

const dist = folder(DIST);
const CLIPBOARD = ["clipboard-read", "clipboard-write"];

/** Points and clicks. */
export const mouse = {
    options: { permissions: CLIPBOARD },
    over: (page) => ({
        press: (target) => page.locator(target).click(),
        choose: (target, value) => page.selectOption(target, value),
        tick: (target) =>
            page
                .locator(`label:has(${target}), label[for="${target.slice(1)}"]`)
                .first()
                .click(),
        type: async (target, text) => {
            await page.click(target);
            await page.keyboard.type(text);
        },
        take: async (target, files) => {
            const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.click(`label[for="${target.slice(1)}"]`)]);
            await chooser.setFiles(files);
        },
        takeFolder(target, _, path) {
            return this.take(target, path);
        },
        least: (target) => page.locator(target).click({ position: { x: 1, y: 8 } }),
        pasted: () => page.evaluate(() => navigator.clipboard.readText()),
        seen: async () => {},
    }),
};

/** Points and clicks in Firefox 140, whose driver opens no dialog for files, takes no folder, reads no clipboard, and evaluates what waits. */
export const firefox = {
    needs: ["CLOSEREAD_FIREFOX"],
    options: {
        site: { find: async (path) => (path === "index.html" ? String(await dist(path)).replace("'wasm-unsafe-eval'", "$& 'unsafe-eval'") : dist(path)) },
    },
    over: (page) => ({
        ...mouse.over(page),
        take: (target, files) => page.setInputFiles(target, files),
        takeFolder: async (_, others, path) =>
            page.setInputFiles(
                others,
                (await readdir(path)).filter((name) => name.includes(".")).map((name) => join(path, name)),
            ),
        pasted: async () => page.url(),
    }),
};

/** Taps on 360 pixels, in which nothing may scroll sideways. */
export const phone = {
    options: { permissions: CLIPBOARD, viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
    over: (page) => ({
        ...mouse.over(page),
        press: (target) => page.locator(target).tap(),
        tick: (target) =>
            page
                .locator(`label:has(${target}), label[for="${target.slice(1)}"]`)
                .first()
                .tap(),
        type: async (target, text) => {
            await page.locator(target).tap();
            await page.keyboard.type(text);
        },
        seen: async () => assert.ok(!(await scrollsSideways(page)), `${page.url()} scrolls sideways`),
    }),
};

/** Reaches everything by Tab and does it by the keys that its role has; the mouse is never moved. */
export const keyboard = {
    options: mouse.options,
    over: (page) => {
        // From now on the browser asks the page's driver for files: a key is faster than that would be said later.
        page.on("filechooser", () => {});
        const holds = (target) => page.locator(target).evaluate((element) => element === document.activeElement);
        const reach = async (target) => {
            await page.locator(target).waitFor({ state: "attached" });
            for (let n = 0; n < FAR; n++) {
                if (await holds(target)) return inSight(target);
                await page.keyboard.press("Tab");
            }
            throw new Error(`${target} is not reached by Tab at ${page.url()}`);
        };
        /** What has the focus is in the window, shows it, and is under nothing. */
        const inSight = async (target) => {
            const trouble = await page.locator(target).evaluate((element) => {
                const { left, right, top, bottom, width, height } = element.getBoundingClientRect();
                // A field for files is drawn by its label.
                if (width <= 1 || height <= 1 || Number(getComputedStyle(element).opacity) === 0) return "";
                if (bottom <= 0 || top >= innerHeight) return "out of the window";
                const at = document.elementFromPoint(
                    Math.min(innerWidth - 1, Math.max(0, (left + right) / 2)),
                    Math.min(innerHeight - 1, Math.max(0, (Math.max(0, top) + Math.min(innerHeight, bottom)) / 2)),
                );
                if (at !== null && !element.contains(at) && !at.contains(element)) return `under ${at.outerHTML.slice(0, 80)}`;
                const { outlineStyle, boxShadow } = getComputedStyle(element);
                return outlineStyle === "none" && boxShadow === "none" ? "without a mark of the focus" : "";
            });
            assert.equal(trouble, "", `${target} has the focus`);
        };
        const press = async (target) => {
            await reach(target);
            await page.keyboard.press("Enter");
        };
        return {
            press,
            choose: async (target, value) => {
                await reach(target);
                const [from, to] = await page.$eval(
                    target,
                    (select, value) => [select.selectedIndex, [...select.options].findIndex((option) => option.value === value)],
                    value,
                );
                assert.ok(to >= 0, `${target} has no ${value}`);
                for (let n = from; n !== to; n += Math.sign(to - from)) {
                    await page.keyboard.press(to > from ? "ArrowDown" : "ArrowUp");
                    // What the choice draws anew must leave the focus here.
                    await page.waitForFunction(
                        ([target, place]) => document.querySelector(target)?.selectedIndex === place,
                        [target, n + Math.sign(to - from)],
                    );
                    assert.ok(await holds(target), `${target} keeps the focus while it is changed`);
                }
            },
            tick: async (target) => {
                const name = await page.getAttribute(target, "name");
                await reach(name === null ? target : `[name="${name}"]:checked`);
                for (let n = 0; n < 20 && !(await page.isChecked(target)); n++) await page.keyboard.press(name === null ? "Space" : "ArrowDown");
                assert.ok(await page.isChecked(target), `${target} is chosen by arrows`);
            },
            type: async (target, text) => {
                await reach(target);
                await page.keyboard.press("Control+A");
                await page.keyboard.type(text);
            },
            take: async (target, files) => {
                await reach(target);
                const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.keyboard.press("Enter")]);
                await chooser.setFiles(files);
            },
            takeFolder(target, _, path) {
                return this.take(target, path);
            },
            least: async (target) => {
                await reach(target);
                await page.keyboard.press("Home");
            },
            pasted: mouse.over(page).pasted,
            seen: async () => {},
        };
    },
};

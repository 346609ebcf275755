// WebKit by WebDriver: Debian's WebKitWebDriver and its small browser (webkit2gtk-driver), on a screen that nobody sees (xvfb).

import { spawn } from "node:child_process";
import { createServer } from "node:net";

/** The key of an element in WebDriver's answers. */
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

/** The key, in what is typed. */
export const ENTER = "\ue007";

/** Starts the driver that CLOSEREAD_WEBKIT names, and a browser; `end` ends both. */
export async function launchWebKit() {
    const port = await freePort();
    // The sandbox needs rights that root and containers lack.
    const env = { ...process.env, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1" };
    const driver = spawn("xvfb-run", ["-a", process.env.CLOSEREAD_WEBKIT, `--port=${port}`], { stdio: "ignore", env, detached: true });
    const lost = new Promise((_, reject) => driver.once("error", reject));
    const ask = async (method, path, body) => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
        const { value } = await response.json();
        if (!response.ok) throw new Error(`${path}: ${value.error}: ${value.message}`);
        return value;
    };
    const ready = until(
        () =>
            ask("GET", "/status").then(
                () => true,
                () => false,
            ),
        "the driver listens",
    );
    await Promise.race([ready, lost]);
    const { sessionId, capabilities } = await ask("POST", "/session", { capabilities: {} });
    return {
        version: capabilities.browserVersion,
        page: new Page((method, path, body) => ask(method, `/session/${sessionId}${path}`, body)),
        end: async () => {
            await ask("DELETE", `/session/${sessionId}`).catch(() => {});
            process.kill(-driver.pid);
        },
    };
}

/** What a test does with the browser's page. */
class Page {
    constructor(ask) {
        this.ask = ask;
    }

    goto(url) {
        return this.ask("POST", "/url", { url });
    }

    url() {
        return this.ask("GET", "/url");
    }

    /** What a function of the page gives. */
    evaluate(what, ...args) {
        return this.ask("POST", "/execute/sync", { script: `return (${what})(...arguments)`, args });
    }

    /** Waits until a function of the page gives something true. */
    until(what, ...args) {
        return until(() => this.evaluate(what, ...args), String(what));
    }

    async click(selector) {
        await this.ask("POST", `/element/${await this.#element(selector)}/click`, {});
    }

    /** Types into a field, or gives a path to one for files. */
    async type(selector, text) {
        await this.ask("POST", `/element/${await this.#element(selector)}/value`, { text });
    }

    async #element(selector) {
        await this.until((selector) => document.querySelector(selector) !== null, selector);
        return (await this.ask("POST", "/element", { using: "css selector", value: selector }))[ELEMENT];
    }
}

async function until(happened, what) {
    for (const end = Date.now() + 60_000; !(await happened()); await new Promise((resolve) => setTimeout(resolve, 100))) {
        if (Date.now() > end) throw new Error(`it did not happen within a minute: ${what}`);
    }
}

/** A port that is free now. */
function freePort() {
    return new Promise((resolve, reject) => {
        const server = createServer().once("error", reject);
        server.listen(0, "127.0.0.1", () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
}

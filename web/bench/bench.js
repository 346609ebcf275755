// `cargo xtask bench web`: closeread's encoder against onnxruntime-web, and the page against the same page on transformers.js.
//
// node bench.js TEXT F32_FOLDER PUBLISHED_FOLDER [speed|redraw|page ...]

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { FLAGS, folder, serve } from "../test/serve.js";
import { chromiumPath } from "../tools/chromium.js";
import { QUESTION, asked, longNovel, median } from "./novel.js";

const [text, f32, published, ...parts] = process.argv.slice(2);
const wanted = (part) => parts.length === 0 || parts.includes(part);
const N_TURNS = 5;
const CASES = [
    { name: "passages, batch 8", tokens: 85, texts: 32, batch: 8 },
    { name: "passages, batch 1", tokens: 85, texts: 32, batch: 1 },
    { name: "512-token windows, batch 1", tokens: 490, texts: 4, batch: 1 },
];
/** Passages that fidelity is measured on, where the text has so many. */
const N_FIDELITY = 448;

const at = (path) => (name) => folder(pathToFileURL(`${path}/`))(name);
const [bench, dist] = [at(new URL(".", import.meta.url).pathname), at(new URL("../dist", import.meta.url).pathname)];
const places = [
    ["bench/", bench],
    ["dist/", dist],
    ["f32/", at(f32)],
    ["shipped/", (name) => dist(`models/all-MiniLM-L6-v2/${name}`)],
    ["models/minilm/onnx/", at(f32)],
    ["models/minilm/", at(published)],
];
const server = await serve((path) => {
    const place = places.find(([start]) => path.startsWith(start));
    return place === undefined ? dist(path) : place[1](path.slice(place[0].length));
});
const profile = await mkdtemp(join(tmpdir(), "closeread-bench-"));
const executablePath = chromiumPath();
const browser = await chromium.launchPersistentContext(profile, { executablePath, args: FLAGS, headless: true });
try {
    const content = (await readFile(text, "utf8")).replace(/\s+/g, " ");
    console.log(`${browser.browser()?.version() ?? "Chromium"}, ${text}`);
    if (wanted("speed")) await speed(content);
    if (wanted("redraw")) await redraws(content);
    if (wanted("page")) await answers(content);
} finally {
    await browser.close();
    server.close();
    await rm(profile, { recursive: true, force: true });
}

/** Tokens a second of each side in turns, ratios to onnxruntime-web as medians over pairs; then how close vectors are. */
async function speed(content) {
    const page = await browser.newPage();
    page.on("pageerror", (error) => console.error(error.message));
    await page.goto(`${server.origin}bench/peer.html`);
    await page.evaluate(() => {
        const workers = new Map();
        globalThis.ask = (name, message) =>
            new Promise((resolve, reject) => {
                const worker = workers.get(name) ?? new Worker(`/bench/${name === "peer" ? "peer" : "ours"}-worker.js`, { type: "module" });
                workers.set(name, worker);
                worker.onmessage = ({ data }) => (data.error === undefined ? resolve(data) : reject(new Error(`${name}: ${data.error}`)));
                worker.onerror = (event) => reject(new Error(`${name}: ${event.message}`));
                worker.postMessage(message);
            });
    });
    const ask = (name, message) => page.evaluate(([name, message]) => globalThis.ask(name, message), [name, message]);
    const sides = [
        ["peer", { model: "minilm", onnx: "/f32/model.onnx" }],
        ["int16", { folder: "/shipped/", precision: "int16" }],
        ["f32", { folder: "/f32/", precision: "f32" }],
        ["tract", { folder: "/f32/", tract: true }],
    ];
    // The shipped weights are 8-bit, another model than the peer's; what int16 itself changes is seen on the peer's.
    const onPeersWeights = ["int16, published weights", { folder: "/f32/", precision: "int16" }];
    for (const [name, load] of [...sides, onPeersWeights]) console.log(`${name}: ${await ask(name, { load })}`);

    const sentences = content.split(/(?<=[.!?]) /);
    const counts = await ask("peer", { count: sentences });
    const packed = (tokens, n, all = true) => {
        const texts = [];
        let [current, sum] = [[], 0];
        for (const [place, sentence] of sentences.entries()) {
            if (current.length > 0 && sum + counts[place] > tokens) {
                texts.push({ text: current.join(" "), tokens: sum });
                [current, sum] = [[], 0];
            }
            current.push(sentence);
            sum += counts[place] - 2;
            if (texts.length === n) break;
        }
        if (all && texts.length < n)
            throw new Error(`${text} gives ${texts.length} passages of ${tokens} tokens, ${n} are needed: name a longer one with --text`);
        return texts.sort((a, b) => b.tokens - a.tokens);
    };
    console.log(
        `tokens a second, one thread each, medians of ${N_TURNS} turns; ratio to onnxruntime-web f32, and of ours to the faster of it and tract: median over pairs (smallest to largest)`,
    );
    for (const { name, tokens, texts: n, batch } of CASES) {
        const passages = packed(tokens, n);
        const [texts, total] = [passages.map(({ text }) => text), passages.reduce((sum, { tokens }) => sum + tokens + 2, 0)];
        const seconds = sides.map(() => []);
        for (let turn = 0; turn <= N_TURNS; turn++) {
            for (const [side, [who]] of sides.entries()) {
                const taken = (await ask(who, { texts, batch })).seconds;
                // The first turn prepares shapes and is thrown away.
                if (turn > 0) seconds[side].push(taken);
            }
        }
        const tract = seconds[sides.findIndex(([who]) => who === "tract")];
        const fasterPeer = seconds[0].map((peer, turn) => Math.min(peer, tract[turn]));
        const shown = sides.map(([who], side) => {
            const ratio = (peers) => {
                const ratios = peers.map((peer, turn) => peer / seconds[side][turn]).sort((a, b) => a - b);
                return `${median(ratios).toFixed(2)} (${ratios[0].toFixed(2)} to ${ratios.at(-1).toFixed(2)})`;
            };
            const ratios = side === 0 ? [] : who === "tract" ? [ratio(seconds[0])] : [ratio(seconds[0]), ratio(fasterPeer)];
            return [`${who} ${Math.round(total / median(seconds[side]))}`, ...ratios].join(", ");
        });
        console.log(`${name}: ${shown.join("; ")}`);
    }
    const texts = packed(85, N_FIDELITY, false).map(({ text }) => text);
    const vectorsOf = async (who) => rows((await ask(who, { texts, batch: 8 })).vectors, texts.length);
    const nearest = (all) => all.map((one, n) => best(all.map((other, m) => (m === n ? -1 : dot(one, other)))));
    const theirs = await vectorsOf("peer");
    for (const [who] of [...sides.slice(1), onPeersWeights]) {
        const ours = await vectorsOf(who);
        const distances = texts.map((_, n) => 1 - dot(theirs[n], ours[n]));
        const places = nearest(ours);
        const kept = nearest(theirs).filter((place, n) => place === places[n]).length / texts.length;
        const mean = distances.reduce((a, b) => a + b) / texts.length;
        console.log(
            `${who} to onnxruntime-web f32, ${texts.length} passages: 1 - cosine mean ${mean.toExponential(1)}, largest ${Math.max(...distances).toExponential(1)}, nearest passage kept ${kept.toFixed(3)}`,
        );
    }
    await page.close();
}

/** Milliseconds from moving the budget until ribbon, passages and summary are laid out and painted, at every stop of the slider. */
async function redraws(content) {
    const { page } = await asked(browser, server.origin, await longNovel(content, profile));
    const times = await page.evaluate(async (turns) => {
        const slider = document.querySelector("#budget");
        const painted = () =>
            new Promise((resolve) =>
                requestAnimationFrame(() => {
                    const channel = new MessageChannel();
                    channel.port1.onmessage = resolve;
                    channel.port2.postMessage(0);
                }),
            );
        const drawn = () =>
            new Promise((resolve) => {
                const observer = new MutationObserver(() => {
                    observer.disconnect();
                    resolve();
                });
                observer.observe(document.querySelector("#found"), { attributeFilter: ["data-budget"] });
            });
        const all = [];
        for (let turn = 0; turn < turns; turn++) {
            // The first stop is another one than the last, which the slider stands at.
            for (let stop = 0; stop <= Number(slider.max); stop++) {
                slider.value = String(stop);
                const start = performance.now();
                const done = drawn();
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                await done;
                await painted();
                (all[stop] ??= []).push(performance.now() - start);
                await new Promise((resolve) => setTimeout(resolve, 50));
            }
        }
        return all;
    }, N_TURNS);
    const medians = times.map(median);
    console.log(
        `another budget is drawn in ${median(medians).toFixed(0)} ms; slowest stop of the slider ${Math.max(...medians).toFixed(0)} ms (medians of ${N_TURNS} turns over ${times.length} stops; the whole book ${medians.at(-1).toFixed(0)} ms)`,
    );
    await page.close();
}

/** Seconds from dropping a novel until passages for a question stand there. */
async function answers(content) {
    const file = await longNovel(content, profile);
    const { page: ours, seconds: own } = await asked(browser, server.origin, file);
    console.log(`closeread, by BM25 at once: ${own.toFixed(1)} s`);
    await ours.close();

    const theirs = await browser.newPage();
    await theirs.goto(`${server.origin}bench/peer.html`);
    await theirs.waitForFunction(() => document.body.dataset.ready !== undefined, null, { timeout: 120_000 });
    await theirs.fill("#question", QUESTION);
    const start = performance.now();
    await theirs.setInputFiles("#file", file);
    await theirs.waitForSelector("#found li", { timeout: 3_600_000 });
    const peer = (performance.now() - start) / 1000;
    console.log(`the same page on transformers.js: ${peer.toFixed(1)} s, ${(peer / own).toFixed(0)} times as long`);
    await theirs.close();
}

function rows(values, n) {
    const width = values.length / n;
    return Array.from({ length: n }, (_, row) => values.slice(row * width, (row + 1) * width));
}

function dot(a, b) {
    return a.reduce((sum, value, n) => sum + value * b[n], 0);
}

function best(values) {
    return values.indexOf(Math.max(...values));
}

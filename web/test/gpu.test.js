// WebGPU, on SwiftShader: tiny models and the shipped one against the encoder for processors, the lab's choice, a lost device.

import assert from "node:assert/strict";
import { headlessPath } from "../tools/chromium.js";
import { test } from "./fixtures.js";
import { openBook, rankBy, rankedByVectors } from "./harness.js";
import { FLAGS } from "./serve.js";
import { SHIPPED, TOKENIZER, find, tinyToml } from "./tiny.js";

test.use({ launchOptions: { executablePath: headlessPath(), args: [...FLAGS, "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"] } });

const QUESTION = "Who was not paid?";
const STORY =
    "Ana lit the lamp in the tower. The boats stayed in the harbour.\n\nNobody paid the ferryman, and he rowed home.\n\n" +
    "Rain fell for a week. The market stood empty, and gulls walked about in it.";

/** 1 - cosine of each text's vectors by WebGPU and by the processor's instructions, and what is left of it without a device. */
const distances = (page, files, texts) =>
    page.evaluate(
        async ({ files, texts }) => {
            const { apart, loaded, module } = await import(new URL("in-page.js", location.href));
            const [{ EmbeddingModel }, model] = await Promise.all([module("embed"), loaded(files)]);
            const facts = ({ arithmetic, trouble }) => ({ arithmetic, trouble: trouble && `${trouble.name}: ${trouble.message}` });
            const refused = facts(await EmbeddingModel.byWebGpu(...model, false));
            const ours = await EmbeddingModel.byWebGpu(...model, true);
            const theirs = new EmbeddingModel(...model);
            const vectors = await theirs.embed("passage", texts);
            const distances = apart(await ours.embed("passage", texts), vectors, texts.length);
            const wrong = await ours.embed("reader", texts).then(
                () => "",
                (error) => error.name,
            );
            const before = facts(ours);
            ours.release();
            const same = (await ours.embed("passage", texts)).every((value, n) => value === vectors[n]);
            return { n: ours.dimension, apart: distances, refused, wrong, before, after: facts(ours), same, processor: theirs.arithmetic };
        },
        { files, texts },
    );

test.describe("WebGPU", () => {
    test.use({ route: "#/find", site: { find } });

    for (const [model, dimension, pooling] of [
        ["tiny-bert", 8, "mean"],
        ["tiny-xlm-roberta", 64, "cls"],
    ]) {
        test(`${model} has the vectors that the processor computes`, async ({ page }) => {
            const toml = tinyToml(model, dimension, pooling);
            const long = Array.from({ length: 70 }, (_, n) => "abcdefghijk"[(7 * n) % 11]).join(" ");
            const files = [{ text: toml }, { text: TOKENIZER }, { path: `${model}.onnx` }];
            const { n, apart, refused, wrong, before, after, same, processor } = await distances(page, files, ["a b c", "k", long, "e d c b a"]);
            assert.equal(n, dimension);
            assert.ok(
                apart.every((distance) => distance < 1e-4),
                `1 - cos: ${apart}`,
            );
            assert.match(refused.trouble, /^NoAdapterError: .*computes on the processor/, "software is used only if asked for");
            assert.equal(refused.arithmetic, processor);
            assert.equal(wrong, "UsageError");
            assert.deepEqual(before, { arithmetic: "webgpu f32", trouble: undefined });
            assert.match(after.trouble, /^GpuError: .*was lost/);
            assert.ok(after.arithmetic === processor && same, "the encoder goes on");
        });
    }

    test("the shipped model has the vectors that the processor computes", async ({ page }) => {
        const { apart } = await distances(page, SHIPPED, ["Nobody paid the ferryman.", "Rain."]);
        assert.ok(
            apart.every((distance) => distance < 1e-4),
            `1 - cos: ${apart}`,
        );
    });
});

test.describe("the lab's encoder", () => {
    test.use({ route: "#/find" });

    const ask = async (page, compute) => {
        await openBook(page, { name: "story.txt", bytes: STORY });
        await rankBy(page, "dense", compute);
        await page.fill("#question", QUESTION);
        await page.press("#question", "Enter");
    };
    const ranking = (page) => rankedByVectors(page, 240_000);
    /** Forgets the vectors that this browser keeps. */
    const forget = async (page) => {
        await page.evaluate(async () => {
            for (const { name } of await indexedDB.databases()) indexedDB.deleteDatabase(name);
        });
        await page.reload();
    };

    test("runs on the processor where the adapter is software, by WebGPU if asked, and goes on when the device is lost", async ({ page }) => {
        test.setTimeout(600_000);
        const told = [];
        await page.exposeFunction("tell", (text) => told.push(text));
        const listen = () =>
            page.evaluate(() =>
                new MutationObserver(() => globalThis.tell(document.querySelector("#embedding")?.textContent ?? "")).observe(document.body, {
                    subtree: true,
                    childList: true,
                    characterData: true,
                }),
            );

        await listen();
        await ask(page);
        const expected = await ranking(page);
        assert.ok(expected.length >= 1, "passages are ranked");
        assert.ok(told.some((text) => /worker.*simd128/.test(text)) && !told.some((text) => /webgpu/i.test(text)), told.join("\n"));

        await forget(page);
        told.length = 0;
        await listen();
        await ask(page, "webgpu");
        assert.deepEqual(await ranking(page), expected);
        assert.ok(
            told.some((text) => /1 worker, webgpu f32/.test(text)),
            told.join("\n"),
        );

        await forget(page);
        told.length = 0;
        await listen();
        // A worker's devices can be reached if they are kept as they are opened.
        page.on("worker", (worker) =>
            worker
                .evaluate(() => {
                    if (!globalThis.GPUAdapter) return;
                    const open = GPUAdapter.prototype.requestDevice;
                    GPUAdapter.prototype.requestDevice = async function (...options) {
                        const device = await open.apply(this, options);
                        // It goes away with the first batch of passages, the question's vector being there.
                        const { submit } = device.queue;
                        let n = 0;
                        GPUQueue.prototype.submit = function (...buffers) {
                            if (buffers[0].length > 0 && ++n === 2) device.destroy();
                            return submit.apply(this, buffers);
                        };
                        return device;
                    };
                })
                .catch(() => {}),
        );
        await ask(page, "webgpu");
        assert.deepEqual(await ranking(page), expected);
        assert.ok(
            told.some((text) => /WebGPU is not used: .*lost/.test(text)),
            told.join("\n"),
        );
    });
});

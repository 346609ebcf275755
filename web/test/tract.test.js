// Tract in the page: the encoder's vectors, and models that the encoder cannot read.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "./fixtures.js";
import { openBook, rankBy, rankedByVectors as ranked } from "./harness.js";
import { SHIPPED, TOKENIZER, find, tinyToml } from "./tiny.js";

/** Several passages of words that the tiny models know. */
const STORY = ["a b c d e", "k j i", "b b b", "a c e g", "h h h h"].map((words) => `${words} `.repeat(12).trim()).join(".\n\n");

const tinyBert = () => readFile(new URL("data/tiny-bert.onnx", import.meta.url));

/** The same graph with a constant of another name, by which the encoder knows that closeread did not write it. */
const foreign = (onnx) => Buffer.from(onnx.toString("latin1").replaceAll("split_heads", "cut_in_head"), "latin1");

test.describe("tract", () => {
    test.use({ site: { find } });

    /** 1 - cosine of each text's vectors by tract and by the encoder in f32. */
    const distances = (page, files, texts) =>
        page.evaluate(
            async ({ files, texts }) => {
                const { apart, loaded, module } = await import(new URL("in-page.js", location.href));
                const [tract, encoder, model] = await Promise.all([module("tract"), module("embed"), loaded(files)]);
                const [theirs, ours] = [tract.EmbeddingModel.byTract(...model), new encoder.EmbeddingModel(...model, "f32")];
                return apart(await theirs.embed("passage", texts), await ours.embed("passage", texts), texts.length);
            },
            { files, texts },
        );

    for (const [model, dimension, pooling] of [
        ["tiny-bert", 8, "mean"],
        ["tiny-xlm-roberta", 64, "cls"],
    ]) {
        test(`${model} has the encoder's vectors`, async ({ page }) => {
            const files = [{ text: tinyToml(model, dimension, pooling) }, { text: TOKENIZER }, { path: `${model}.onnx` }];
            const apart = await distances(page, files, ["a b c", "k", "e d c b a", "a ".repeat(90)]);
            assert.ok(
                apart.every((distance) => distance < 1e-6),
                `1 - cos: ${apart}`,
            );
        });
    }

    test("the shipped model has the encoder's vectors", async ({ page }) => {
        const apart = await distances(page, SHIPPED, ["Nobody paid the ferryman.", "Rain."]);
        assert.ok(
            apart.every((distance) => distance < 1e-6),
            `1 - cos: ${apart}`,
        );
    });
});

test.describe("a model from files", () => {
    test.use({ route: "#/find", site: { find } });

    const choose = (page, contents) =>
        page.setInputFiles(
            "#model-files",
            Object.entries(contents).map(([name, content]) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(content) })),
        );

    test("is run by the encoder or by tract, and forgotten when the shipped one is wanted again", async ({ page }) => {
        test.setTimeout(120_000);
        const told = [];
        await page.exposeFunction("tell", (text) => told.push(text));
        await page.evaluate(() =>
            new MutationObserver(() => globalThis.tell(document.querySelector("#embedding")?.textContent ?? "")).observe(document.body, {
                subtree: true,
                childList: true,
                characterData: true,
            }),
        );
        await openBook(page, { name: "letters.txt", bytes: STORY });
        await page.click("#how > summary");
        await page.click("#embedding-model");
        const [toml, onnx] = [tinyToml("letters", 8, "mean"), await tinyBert()];
        await choose(page, { "model.toml": toml, "model.onnx": onnx });
        await page.waitForFunction(() => /not chosen: tokenizer\.json/.test(document.querySelector("#problem").textContent));
        await choose(page, { "model.toml": "name = 3", "model.onnx": onnx, "tokenizer.json": TOKENIZER });
        await page.waitForFunction(() => /model\.toml/.test(document.querySelector("#problem").textContent));
        assert.equal(await page.textContent("#embedding-model"), "Embedding model: all-MiniLM-L6-v2");

        await choose(page, { "model.toml": toml, "model.onnx": onnx, "tokenizer.json": TOKENIZER });
        await page.waitForFunction(() => document.querySelector("#embedding-model").textContent === "Embedding model: letters");
        await rankBy(page, "dense");
        await page.fill("#question", "b b");
        await page.press("#question", "Enter");
        const byEncoder = await ranked(page);
        assert.ok(told.some((text) => /simd128/.test(text)) && !told.some((text) => /tract/.test(text)), told.join("\n"));

        await choose(page, { "model.toml": toml, "model.onnx": foreign(onnx), "tokenizer.json": TOKENIZER });
        await page.waitForFunction(() => !/^All /.test(document.querySelector("#embedding")?.textContent ?? ""));
        const byTract = await ranked(page);
        assert.ok(
            told.some((text) => /tract f32/.test(text)),
            told.join("\n"),
        );
        assert.deepEqual(byTract, byEncoder);

        await page.click("#shipped-model");
        await page.waitForFunction(() => document.querySelector("#embedding-model").textContent === "Embedding model: all-MiniLM-L6-v2");
        assert.equal(await page.isVisible("#shipped-model"), false);
    });

    test("can be left to tract by hand", async ({ page }) => {
        test.setTimeout(120_000);
        await openBook(page, { name: "letters.txt", bytes: STORY });
        await rankBy(page, "bm25", "tract");
        await page.click("#embedding-model");
        await choose(page, { "model.toml": tinyToml("letters", 8, "mean"), "model.onnx": await tinyBert(), "tokenizer.json": TOKENIZER });
        await rankBy(page, "dense");
        await page.fill("#question", "b b");
        const tract = page.waitForRequest(/closeread_tract_bg\.wasm/);
        await page.press("#question", "Enter");
        await tract;
        await ranked(page);
    });

    test("that knows a language makes up for one that does not", async ({ page }) => {
        test.setTimeout(120_000);
        await openBook(page, { name: "boats.txt", bytes: "阿娜点亮了灯。船停在港里。谁也没有付钱给摆渡人，他自己划船回家去了。" });
        await rankBy(page, "dense");
        await page.fill("#question", "船");
        await page.press("#question", "Enter");
        await page.waitForFunction(() => /does not know the language/.test(document.querySelector("#embedding")?.textContent ?? ""));
        await page.click("#embedding-model");
        await choose(page, { "model.toml": tinyToml("letters", 8, "mean"), "model.onnx": await tinyBert(), "tokenizer.json": TOKENIZER });
        await ranked(page);
    });
});

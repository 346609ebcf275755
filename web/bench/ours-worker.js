// closeread's side: the modules that the page's workers use.

import initEncoder, { EmbeddingModel } from "/dist/closeread_embed.js";
import initTract, { EmbeddingModel as TractModel } from "/dist/closeread_tract.js";

let model;

addEventListener("message", ({ data }) => answer(data).catch((error) => postMessage({ error: String(error) })));

async function answer({ load, texts, batch }) {
    if (load !== undefined) {
        const [toml, tokenizer, onnx] = await Promise.all(["model.toml", "tokenizer.json", "model.onnx"].map((name) => fetch(load.folder + name)));
        const bytes = async (response) => new Uint8Array(await response.arrayBuffer());
        // The positions go further than the description for some models, and the 512-token case wants them.
        const spec = (await toml.text()).replace(/^max_tokens = \d+$/m, "max_tokens = 512");
        const files = [spec, await bytes(tokenizer), await bytes(onnx)];
        await (load.tract ? initTract() : initEncoder());
        model = load.tract ? TractModel.byTract(...files) : new EmbeddingModel(...files, load.precision);
        return postMessage(model.arithmetic);
    }
    const start = performance.now();
    const vectors = [];
    for (let at = 0; at < texts.length; at += batch) vectors.push(await model.embed("passage", texts.slice(at, at + batch)));
    const seconds = (performance.now() - start) / 1000;
    postMessage({ seconds, vectors: vectors.flatMap((values) => [...values]) });
}

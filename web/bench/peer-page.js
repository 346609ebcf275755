// What the retrieval lab does, built on transformers.js: a dropped book is cut, embedded and ranked for the question.

import { env, pipeline } from "./node_modules/@huggingface/transformers/dist/transformers.min.js";

[env.allowRemoteModels, env.allowLocalModels, env.localModelPath] = [false, true, "/models/"];
env.backends.onnx.wasm.numThreads = 1;
env.backends.onnx.wasm.wasmPaths = new URL("./node_modules/onnxruntime-web/dist/", location.href).href;
const BATCH = 8;
/** Words of a passage: about the 100 tokens that closeread cuts passages of. */
const WORDS = 75;

const embed = await pipeline("feature-extraction", "minilm", { dtype: "fp32", device: "wasm" });
const vectors = async (texts) => (await embed(texts, { pooling: "mean", normalize: true })).tolist();
document.body.dataset.ready = "";

document.querySelector("#file").addEventListener("change", async ({ target }) => {
    const words = (await target.files[0].text()).split(/\s+/);
    const passages = [];
    for (let at = 0; at < words.length; at += WORDS) passages.push(words.slice(at, at + WORDS).join(" "));
    const all = [];
    for (let at = 0; at < passages.length; at += BATCH) all.push(...(await vectors(passages.slice(at, at + BATCH))));
    const [question] = await vectors([document.querySelector("#question").value]);
    const score = (vector) => vector.reduce((sum, value, n) => sum + value * question[n], 0);
    const best = all
        .map((vector, n) => [score(vector), n])
        .sort((a, b) => b[0] - a[0])
        .slice(0, 20);
    document.querySelector("#found").replaceChildren(
        ...best.map(([, n]) => {
            const item = document.createElement("li");
            item.textContent = passages[n];
            return item;
        }),
    );
});

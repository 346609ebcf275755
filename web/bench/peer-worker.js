// onnxruntime-web's side: its WebAssembly backend with one thread, token ids in, means out. Texts are tokenised outside the time.

import { AutoTokenizer, env } from "/bench/node_modules/@huggingface/transformers/dist/transformers.min.js";
import * as ort from "/bench/node_modules/onnxruntime-web/dist/ort.wasm.min.mjs";

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = new URL("/bench/node_modules/onnxruntime-web/dist/", location.href).href;
[env.allowRemoteModels, env.allowLocalModels, env.localModelPath] = [false, true, "/models/"];

let session, tokenizer;

addEventListener("message", ({ data }) => answer(data).catch((error) => postMessage({ error: String(error) })));

async function answer({ load, texts, batch, count }) {
    if (load !== undefined) {
        tokenizer = await AutoTokenizer.from_pretrained(load.model);
        session = await ort.InferenceSession.create(load.onnx, { executionProviders: ["wasm"] });
        return postMessage(`wasm, ${ort.env.wasm.numThreads} thread, ${session.inputNames.join(" ")}`);
    }
    if (count !== undefined) return postMessage(count.map((text) => tokenizer.encode(text).length));
    const rows = texts.map((text) => tokenizer.encode(text).slice(0, 512));
    const batches = [];
    for (let at = 0; at < rows.length; at += batch) batches.push(filled(rows.slice(at, at + batch)));
    const start = performance.now();
    const states = [];
    for (const { feeds } of batches) states.push((await session.run(feeds))[session.outputNames[0]]);
    const seconds = (performance.now() - start) / 1000;
    const vectors = states.flatMap((state, n) => batches[n].lengths.flatMap((length, row) => mean(state, row, length)));
    postMessage({ seconds, vectors });
}

/** A batch, filled up to its longest text. */
function filled(rows) {
    const width = Math.max(...rows.map((row) => row.length));
    const [ids, mask] = [new BigInt64Array(rows.length * width), new BigInt64Array(rows.length * width)];
    rows.forEach((row, at) =>
        row.forEach((id, place) => {
            [ids[at * width + place], mask[at * width + place]] = [BigInt(id), 1n];
        }),
    );
    const tensor = (values) => new ort.Tensor("int64", values, [rows.length, width]);
    const all = { input_ids: tensor(ids), attention_mask: tensor(mask), token_type_ids: tensor(new BigInt64Array(ids.length)) };
    const feeds = Object.fromEntries(session.inputNames.map((name) => [name, all[name]]));
    return { feeds, lengths: rows.map((row) => row.length) };
}

/** The normalised mean of a text's token states. */
function mean({ data, dims: [, width, dimension] }, row, length) {
    const sum = new Array(dimension).fill(0);
    for (let token = 0; token < length; token++) {
        const at = (row * width + token) * dimension;
        for (let n = 0; n < dimension; n++) sum[n] += data[at + n];
    }
    const norm = Math.hypot(...sum);
    return sum.map((value) => value / norm);
}

// Models for tests of what embeds: the tiny ones of data/, of random weights, and the shipped one.

import { DIST } from "./harness.js";
import { folder } from "./serve.js";

const [dist, data] = [DIST, new URL("data/", import.meta.url)].map(folder);
/** The page, with the tiny models and `in-page.js` beside it. */
export const find = (path) => (/^(tiny-.*|in-page\.js)$/.test(path) ? data(path) : dist(path));

/** Words `a` to `k` are the ids 0 to 10. */
export const TOKENIZER = JSON.stringify({
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: "Whitespace" },
    post_processor: null,
    decoder: null,
    model: { type: "WordLevel", vocab: Object.fromEntries([..."abcdefghijk"].map((word, id) => [word, id])), unk_token: "a" },
});

/** The shipped model, for `loaded` of `in-page.js`. */
export const SHIPPED = ["model.toml", "tokenizer.json", "model.onnx"].map((name) => ({ path: `models/all-MiniLM-L6-v2/${name}` }));

export const tinyToml = (name, dimension, pooling) => `name = "${name}"\ndimension = ${dimension}\nmax_tokens = 130\npooling = "${pooling}"\n`;

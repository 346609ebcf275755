// The tiny models of data/, of random weights: what belongs to them besides their ONNX files.

/** Words `a` to `k` are the ids 0 to 10. */
export const TOKENIZER = JSON.stringify({
    version: "1.0", truncation: null, padding: null, added_tokens: [], normalizer: null, pre_tokenizer: { type: "Whitespace" },
    post_processor: null, decoder: null,
    model: { type: "WordLevel", vocab: Object.fromEntries([..."abcdefghijk"].map((word, id) => [word, id])), unk_token: "a" },
});

export const tinyToml = (name, dimension, pooling) =>
    `name = "${name}"\ndimension = ${dimension}\nmax_tokens = 130\npooling = "${pooling}"\n`;

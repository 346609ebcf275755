// For tests, in the page: its modules, and how far apart the vectors of two of them are.

/** The module `closeread_<name>.js`, ready. */
export async function module(name) {
    const found = await import(new URL(`closeread_${name}.js`, import.meta.url));
    await found.default();
    return found;
}

/** A model as constructors take it: the text of its description, the bytes of its tokenizer and its graph, each given or at a path. */
export async function loaded([toml, tokenizer, onnx]) {
    const bytes = async ({ text, path }) => (text === undefined ? new Uint8Array(await (await fetch(path)).arrayBuffer()) : new TextEncoder().encode(text));
    return [new TextDecoder().decode(await bytes(toml)), await bytes(tokenizer), await bytes(onnx)];
}

/** 1 - cosine of each of `n` vectors of length 1 to its counterpart. */
export function apart(found, expected, n) {
    const [width, distances] = [found.length / n, []];
    for (let row = 0; row < n; row++) {
        let dot = 0;
        for (let at = row * width; at < (row + 1) * width; at++) dot += found[at] * expected[at];
        distances.push(1 - dot);
    }
    return distances;
}

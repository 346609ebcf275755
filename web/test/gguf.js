// A language model for tests, as a GGUF file: llama's architecture with random weights, a token a byte. It says nothing of sense;
// held to a form it says that.

const [WIDTH, HEADS, INNER, WINDOW] = [64, 4, 128, 8192];
const SPECIAL = ["<|start|>", "<|end|>"];
const TEMPLATE =
    "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}" + "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}";

/** The bytes as GPT-2's vocabulary writes them: printable ones as they are, the others from U+0100 on. */
function byteTokens() {
    const printable = (byte) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    let next = 0x100;
    return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : next++));
}

/** The same numbers every time: normally distributed, of this deviation. */
function generator(seed) {
    const uniform = () => {
        seed = (seed + 0x6d2b79f5) | 0;
        let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 2 ** 32;
    };
    return (n, deviation) => Float32Array.from({ length: n }, () => deviation * Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
}

const [UINT32, FLOAT32, BOOL, STRING, ARRAY, INT32] = [4, 6, 7, 8, 9, 5];
const number = (bytes, write) => {
    const buffer = Buffer.alloc(bytes);
    write(buffer);
    return buffer;
};
const u32 = (value) => number(4, (buffer) => buffer.writeUInt32LE(value));
const u64 = (value) => number(8, (buffer) => buffer.writeBigUInt64LE(BigInt(value)));
const f32 = (value) => number(4, (buffer) => buffer.writeFloatLE(value));
const text = (value) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
const list = (type, values, write) => Buffer.concat([u32(type), u64(values.length), ...values.map(write)]);
const padded = (buffer) => Buffer.concat([buffer, Buffer.alloc(-buffer.length & 31)]);

/** The file's bytes, about 300 KB. */
export function tinyModel() {
    // A vocabulary of this kind needs a pair of tokens that merge.
    const vocabulary = [...SPECIAL, ...byteTokens(), "er"];
    const facts = [
        ["general.architecture", STRING, text("llama")],
        ["general.name", STRING, text("tiny-random")],
        ...Object.entries({
            context_length: WINDOW,
            embedding_length: WIDTH,
            block_count: 1,
            feed_forward_length: INNER,
            vocab_size: vocabulary.length,
            "attention.head_count": HEADS,
            "attention.head_count_kv": HEADS,
            "rope.dimension_count": WIDTH / HEADS,
        }).map(([name, value]) => [`llama.${name}`, UINT32, u32(value)]),
        ["llama.attention.layer_norm_rms_epsilon", FLOAT32, f32(1e-5)],
        ["tokenizer.ggml.model", STRING, text("gpt2")],
        ["tokenizer.ggml.pre", STRING, text("gpt-2")],
        ["tokenizer.ggml.tokens", ARRAY, list(STRING, vocabulary, text)],
        ["tokenizer.ggml.token_type", ARRAY, list(INT32, vocabulary, (token) => u32(SPECIAL.includes(token) ? 3 : 1))],
        ["tokenizer.ggml.merges", ARRAY, list(STRING, ["e r"], text)],
        ["tokenizer.ggml.bos_token_id", UINT32, u32(0)],
        ["tokenizer.ggml.eos_token_id", UINT32, u32(1)],
        ["tokenizer.ggml.add_bos_token", BOOL, Buffer.from([0])],
        ["tokenizer.chat_template", STRING, text(TEMPLATE)],
    ];
    const normal = generator(7);
    const random = (...shape) => [
        shape,
        normal(
            shape.reduce((a, b) => a * b),
            shape[0] ** -0.5,
        ),
    ];
    const ones = [[WIDTH], new Float32Array(WIDTH).fill(1)];
    const tensors = Object.entries({
        "token_embd.weight": random(WIDTH, vocabulary.length),
        "output.weight": random(WIDTH, vocabulary.length),
        "output_norm.weight": ones,
        "blk.0.attn_norm.weight": ones,
        "blk.0.ffn_norm.weight": ones,
        ...Object.fromEntries(["q", "k", "v", "output"].map((name) => [`blk.0.attn_${name}.weight`, random(WIDTH, WIDTH)])),
        "blk.0.ffn_gate.weight": random(WIDTH, INNER),
        "blk.0.ffn_up.weight": random(WIDTH, INNER),
        "blk.0.ffn_down.weight": random(INNER, WIDTH),
    });
    let offset = 0;
    const heads = tensors.map(([name, [shape, values]]) => {
        const head = Buffer.concat([text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset)]);
        offset += (values.byteLength + 31) & ~31;
        return head;
    });
    const said = facts.map(([name, type, value]) => Buffer.concat([text(name), u32(type), value]));
    return Buffer.concat([
        padded(Buffer.concat([Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(facts.length), ...said, ...heads])),
        ...tensors.map(([, [, values]]) => padded(Buffer.from(values.buffer))),
    ]);
}

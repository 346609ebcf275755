// First states: the vector of each token's word plus that of its position, a workgroup a token.

struct Shape { stride: u32, is_eight_bit: u32 }

@group(0) @binding(0) var<uniform> n_rows: vec4<u32>;
@group(0) @binding(1) var<uniform> shape: Shape;
// Word and position of each row.
@group(0) @binding(2) var<storage, read> tokens: array<vec2<u32>>;
// Rows of four 8-bit integers a number, or of f32.
@group(0) @binding(3) var<storage, read> words: array<u32>;
// One a word.
@group(0) @binding(4) var<storage, read> scales: array<f32>;
@group(0) @binding(5) var<storage, read> positions: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> states: array<vec4<f32>>;

fn four_of(word: u32, column: u32) -> vec4<f32> {
    if (shape.is_eight_bit == 1u) {
        let four = bitcast<i32>(words[word * shape.stride + column]);
        return vec4<f32>(vec4(four << 24u, four << 16u, four << 8u, four) >> vec4(24u));
    }
    let at = 4u * (word * shape.stride + column);
    return bitcast<vec4<f32>>(vec4(words[at], words[at + 1u], words[at + 2u], words[at + 3u]));
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = group.y * groups.x + group.x;
    if (row >= n_rows.x) { return; }
    let token = tokens[row];
    for (var column = local; column < shape.stride; column += 64u) {
        let word = four_of(token.x, column) * scales[token.x];
        states[row * shape.stride + column] = word + positions[token.y * shape.stride + column];
    }
}

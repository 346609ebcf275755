// One vector a text: the mean of its tokens' states, or the first one. A workgroup a text.
// The host puts before this: MEAN.

// First row and tokens of each text.
@group(0) @binding(0) var<storage, read> texts: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> states: array<f32>;
@group(0) @binding(2) var<storage, read_write> vectors: array<f32>;
@group(0) @binding(3) var<uniform> stride: vec4<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let first = texts[group.x].x;
    let n_tokens = select(1u, texts[group.x].y, MEAN);
    for (var column = local; column < stride.x; column += 64u) {
        var sum = 0.0;
        for (var token = 0u; token < n_tokens; token++) {
            sum += states[(first + token) * stride.x + column];
        }
        vectors[group.x * stride.x + column] = sum / f32(n_tokens);
    }
}

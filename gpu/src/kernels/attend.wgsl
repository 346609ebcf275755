// Softmax of the scaled scores times the values, for the tokens of each text among themselves.
// A workgroup takes one head and 64 queries of one text, a query a thread; keys and values pass through its memory.
// The host puts before this: SIZE (numbers of a head), PARTS (vectors of four that hold them), KEYS (at a time).

struct Shape { stride: u32, part: u32, scale: f32 }
struct Block { first_row: u32, n_tokens: u32, first_query: u32, unused: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> blocks: array<Block>;
// Queries, keys and values of a token side by side, each `part` numbers.
@group(0) @binding(2) var<storage, read> projections: array<f32>;
@group(0) @binding(3) var<storage, read_write> context: array<f32>;

const TOGETHER = KEYS * PARTS;
var<workgroup> keys: array<vec4<f32>, TOGETHER>;
var<workgroup> values: array<vec4<f32>, TOGETHER>;

fn part_of(row: u32, column: u32, part: u32) -> vec4<f32> {
    let at = row * shape.stride + column + 4u * part;
    let four = vec4(projections[at], projections[at + 1u], projections[at + 2u], projections[at + 3u]);
    return select(vec4(0.0), four, vec4(0u, 1u, 2u, 3u) < vec4(SIZE - 4u * part));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let block = blocks[group.x];
    let head = group.y * SIZE;
    let query = block.first_query + local;
    // Threads beyond the last query repeat it and write nothing.
    let row = block.first_row + min(query, block.n_tokens - 1u);
    var of_query: array<vec4<f32>, PARTS>;
    var sums: array<vec4<f32>, PARTS>;
    for (var part = 0u; part < PARTS; part++) {
        of_query[part] = part_of(row, head, part) * shape.scale;
        sums[part] = vec4(0.0);
    }
    var largest = -1e30;
    var total = 0.0;
    for (var first = 0u; first < block.n_tokens; first += KEYS) {
        workgroupBarrier();
        for (var at = local; at < TOGETHER; at += 64u) {
            let key = block.first_row + min(first + at / PARTS, block.n_tokens - 1u);
            keys[at] = part_of(key, shape.part + head, at % PARTS);
            values[at] = part_of(key, 2u * shape.part + head, at % PARTS);
        }
        workgroupBarrier();
        let n_keys = min(KEYS, block.n_tokens - first);
        for (var key = 0u; key < n_keys; key++) {
            var score = 0.0;
            for (var part = 0u; part < PARTS; part++) {
                score += dot(of_query[part], keys[key * PARTS + part]);
            }
            if (score > largest) {
                let kept = exp(largest - score);
                total *= kept;
                for (var part = 0u; part < PARTS; part++) { sums[part] *= kept; }
                largest = score;
            }
            let weight = exp(score - largest);
            total += weight;
            for (var part = 0u; part < PARTS; part++) {
                sums[part] += weight * values[key * PARTS + part];
            }
        }
    }
    if (query < block.n_tokens) {
        for (var part = 0u; part < PARTS; part++) {
            let at = row * shape.part + head + 4u * part;
            let left = SIZE - 4u * part;
            let found = sums[part] / total;
            context[at] = found.x;
            if (left > 1u) { context[at + 1u] = found.y; }
            if (left > 2u) { context[at + 2u] = found.z; }
            if (left > 3u) { context[at + 3u] = found.w; }
        }
    }
}

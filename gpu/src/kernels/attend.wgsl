// Softmax of the scaled scores times the values, for the tokens of each text among themselves.
// A workgroup takes one head and THREADS x QUERIES queries of one text; keys and values pass through its memory.
// The host puts before this: SIZE (numbers of a head), PARTS (vectors of four that hold them), KEYS
// (at a time), Four (a number, or four where all heads begin at one), four_at() and put_at().
// It repeats what stands after `each`.

struct Shape { stride: u32, part: u32, scale: f32 }
struct Block { first_row: u32, n_tokens: u32, first_query: u32, unused: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> blocks: array<Block>;
// Queries, keys and values of a token side by side, each `part` numbers.
@group(0) @binding(2) var<storage, read> projections: array<Four>;
@group(0) @binding(3) var<storage, read_write> context: array<Four>;

// Less than any score.
const NOTHING = -1e30;
const TOGETHER = KEYS * PARTS;
var<workgroup> keys: array<vec4<f32>, TOGETHER>;
var<workgroup> values: array<vec4<f32>, TOGETHER>;

fn part_of(row: u32, column: u32, part: u32) -> vec4<f32> {
    let four = four_at(row * shape.stride + column + 4u * part);
    return select(vec4(0.0), four, vec4(0u, 1u, 2u, 3u) < vec4(SIZE - 4u * part));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let block = blocks[group.x];
    let head = group.y * SIZE;
    // Every number has a name: what is chosen by an index would leave the registers.
    //: each n of QUERIES
    let query_$n = block.first_query + local + $nu * THREADS;
    // Threads beyond the last query repeat it and write nothing.
    let row_$n = block.first_row + min(query_$n, block.n_tokens - 1u);
    var largest_$n = NOTHING;
    var total_$n = 0.0;
    //: each part of PARTS
    let query_$n_$part = part_of(row_$n, head, $partu) * shape.scale;
    var sum_$n_$part = vec4(0.0);
    //: end
    //: end
    for (var first = 0u; first < block.n_tokens; first += KEYS) {
        workgroupBarrier();
        for (var at = local; at < TOGETHER; at += THREADS) {
            let key = block.first_row + min(first + at / PARTS, block.n_tokens - 1u);
            keys[at] = part_of(key, shape.part + head, at % PARTS);
            values[at] = part_of(key, 2u * shape.part + head, at % PARTS);
        }
        workgroupBarrier();
        let n_keys = min(KEYS, block.n_tokens - first);
        // Four keys at a time: the sums are scaled anew once for all of them.
        for (var key = 0u; key < n_keys; key += 4u) {
            let of_keys = key * PARTS;
            //: each n of QUERIES
            var scores_$n = vec4(0.0);
            //: end
            //: each part of PARTS
            let one_$part = keys[of_keys + $partu];
            let two_$part = keys[of_keys + PARTS + $partu];
            let three_$part = keys[of_keys + 2u * PARTS + $partu];
            let four_$part = keys[of_keys + 3u * PARTS + $partu];
            //: each n of QUERIES
            scores_$n += vec4(
                dot(query_$n_$part, one_$part),
                dot(query_$n_$part, two_$part),
                dot(query_$n_$part, three_$part),
                dot(query_$n_$part, four_$part),
            );
            //: end
            //: end
            let is_beyond = vec4(key) + vec4(0u, 1u, 2u, 3u) >= vec4(n_keys);
            //: each n of QUERIES
            scores_$n = select(scores_$n, vec4(NOTHING), is_beyond);
            let most_$n = max(max(scores_$n.x, scores_$n.y), max(scores_$n.z, scores_$n.w));
            if (most_$n > largest_$n) {
                let kept = exp(largest_$n - most_$n);
                total_$n *= kept;
                //: each part of PARTS
                sum_$n_$part *= kept;
                //: end
                largest_$n = most_$n;
            }
            let weights_$n = exp(scores_$n - largest_$n);
            total_$n += dot(weights_$n, vec4(1.0));
            //: end
            //: each part of PARTS
            let first_$part = values[of_keys + $partu];
            let second_$part = values[of_keys + PARTS + $partu];
            let third_$part = values[of_keys + 2u * PARTS + $partu];
            let fourth_$part = values[of_keys + 3u * PARTS + $partu];
            //: each n of QUERIES
            sum_$n_$part += weights_$n.x * first_$part + weights_$n.y * second_$part
                + weights_$n.z * third_$part + weights_$n.w * fourth_$part;
            //: end
            //: end
        }
    }
    //: each n of QUERIES
    if (query_$n < block.n_tokens) {
        //: each part of PARTS
        put_at(row_$n * shape.part + head + 4u * $partu, SIZE - 4u * $partu, sum_$n_$part / total_$n);
        //: end
    }
    //: end
}

// A linear layer: rows times weights, scaled by column, plus bias, and what follows.
// Workgroups take 64 rows x 64 columns; a thread sums 4 x 4. All widths are multiples of 64, in vectors of four here.
// The host puts before this: EPILOGUE, Packed and unpacked(), ERF_END and erf_polynomial().

struct Shape { inputs: u32, outputs: u32 }

@group(0) @binding(0) var<uniform> n_rows: vec4<u32>;
@group(0) @binding(1) var<uniform> shape: Shape;
@group(0) @binding(2) var<storage, read> input: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> weights: array<Packed>;
// Scales of all columns, then biases.
@group(0) @binding(4) var<storage, read> columns: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> output: array<vec4<f32>>;

const STEPS = 16u;
// One more than the rows, so that the threads of a load do not meet in one bank.
const APART = 65u;
var<workgroup> left: array<f32, 1040>; // STEPS * APART
var<workgroup> right: array<vec4<f32>, 256>; // STEPS * 16

// As closeread's encoder for processors has it.
fn erf(z: vec4<f32>) -> vec4<f32> {
    let x = clamp(z, vec4(-ERF_END), vec4(ERF_END));
    let t = x * x * (2.0 / (ERF_END * ERF_END)) - 1.0;
    return x * erf_polynomial(t);
}

fn finish(at: u32, sum: vec4<f32>) {
    if (EPILOGUE == ADD) {
        output[at] += sum;
    } else if (EPILOGUE == GELU) {
        output[at] = 0.5 * sum * (1.0 + erf(sum * 0.70710678));
    } else if (EPILOGUE == GELU_TANH) {
        let u = 0.7978846 * (sum + 0.044715 * sum * sum * sum);
        let e = exp(-2.0 * abs(u));
        output[at] = 0.5 * (sum + abs(sum) * (1.0 - e) / (1.0 + e));
    } else if (EPILOGUE == RELU) {
        output[at] = max(sum, vec4(0.0));
    } else {
        output[at] = sum;
    }
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) tile: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let across = local % 16u;
    let down = local / 16u;
    let first_row = tile.y * 64u;
    let first_column = tile.x * 16u;
    var sum0 = vec4(0.0);
    var sum1 = vec4(0.0);
    var sum2 = vec4(0.0);
    var sum3 = vec4(0.0);
    for (var step = 0u; step < shape.inputs; step += STEPS / 4u) {
        let row = local / 4u;
        let four = local % 4u;
        let numbers = input[(first_row + row) * shape.inputs + step + four];
        left[(4u * four + 0u) * APART + row] = numbers.x;
        left[(4u * four + 1u) * APART + row] = numbers.y;
        left[(4u * four + 2u) * APART + row] = numbers.z;
        left[(4u * four + 3u) * APART + row] = numbers.w;
        right[local] = unpacked(weights[(4u * step + down) * shape.outputs + first_column + across]);
        workgroupBarrier();
        for (var k = 0u; k < STEPS; k++) {
            let of_row = k * APART + 4u * down;
            let of_columns = right[k * 16u + across];
            sum0 = fma(vec4(left[of_row]), of_columns, sum0);
            sum1 = fma(vec4(left[of_row + 1u]), of_columns, sum1);
            sum2 = fma(vec4(left[of_row + 2u]), of_columns, sum2);
            sum3 = fma(vec4(left[of_row + 3u]), of_columns, sum3);
        }
        workgroupBarrier();
    }
    let column = first_column + across;
    let scale = columns[column];
    let bias = columns[shape.outputs + column];
    let row = first_row + 4u * down;
    let at = row * shape.outputs + column;
    if (row < n_rows.x) { finish(at, sum0 * scale + bias); }
    if (row + 1u < n_rows.x) { finish(at + shape.outputs, sum1 * scale + bias); }
    if (row + 2u < n_rows.x) { finish(at + 2u * shape.outputs, sum2 * scale + bias); }
    if (row + 3u < n_rows.x) { finish(at + 3u * shape.outputs, sum3 * scale + bias); }
}

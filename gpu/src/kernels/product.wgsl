// A linear layer: rows times weights, scaled by column, plus bias, and what follows. Sums are f32.
// Workgroups take 128 rows x 64 columns; a thread sums 8 x 8. All widths are multiples of 128, in vectors of four here.
// The host puts before this: Input and Output, Packed and unpacked(). After it: finish(). It repeats what stands after `each`.

struct Shape { inputs: u32, outputs: u32 }

@group(0) @binding(0) var<uniform> n_rows: vec4<u32>;
@group(0) @binding(1) var<uniform> shape: Shape;
@group(0) @binding(2) var<storage, read> input: array<vec4<Input>>;
@group(0) @binding(3) var<storage, read> weights: array<Packed>;
// Scales of all columns, then biases.
@group(0) @binding(4) var<storage, read> columns: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> output: array<vec4<Output>>;

const STEPS = 16u;
// Of a column of inputs, in vectors of four; one more keeps threads out of each other's bank.
const LEFT_STRIDE = 33u;
var<workgroup> left: array<vec4<f32>, 528>; // STEPS * LEFT_STRIDE
var<workgroup> right: array<vec4<f32>, 256>; // STEPS * 16

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) tile: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let across = local % 8u;
    let down = local / 8u;
    let first_row = tile.y * 128u;
    let first_column = tile.x * 16u;
    // Every sum has a name: what is chosen by an index would leave the registers.
    //: each n of FOUR
    var near_$n = vec4(0.0);
    var far_$n = vec4(0.0);
    var below_$n = vec4(0.0);
    var beyond_$n = vec4(0.0);
    //: end
    for (var step = 0u; step < shape.inputs; step += STEPS / 4u) {
        workgroupBarrier();
        for (var load = 0u; load < 4u; load++) {
            // Rows of a column beside each other: four of a thread's reads, one of its writes.
            let row = local % 32u + 32u * load;
            let four = local / 32u;
            let numbers = vec4<f32>(input[(first_row + row) * shape.inputs + step + four]);
            let to = 4u * four * LEFT_STRIDE + row / 4u;
            left[to][row % 4u] = numbers.x;
            left[to + LEFT_STRIDE][row % 4u] = numbers.y;
            left[to + 2u * LEFT_STRIDE][row % 4u] = numbers.z;
            left[to + 3u * LEFT_STRIDE][row % 4u] = numbers.w;
        }
        for (var load = 0u; load < 2u; load++) {
            let at = local + 128u * load;
            right[at] = unpacked(weights[(4u * step + at / 16u) * shape.outputs + first_column + at % 16u]);
        }
        workgroupBarrier();
        for (var k = 0u; k < STEPS; k++) {
            let upper = left[k * LEFT_STRIDE + 2u * down];
            let lower = left[k * LEFT_STRIDE + 2u * down + 1u];
            let one = right[k * 16u + across];
            let other = right[k * 16u + 8u + across];
            //: each n of FOUR
            near_$n = fma(vec4(upper[$n]), one, near_$n);
            far_$n = fma(vec4(upper[$n]), other, far_$n);
            below_$n = fma(vec4(lower[$n]), one, below_$n);
            beyond_$n = fma(vec4(lower[$n]), other, beyond_$n);
            //: end
        }
    }
    let column = first_column + across;
    //: each n of FOUR
    finish_row(first_row + 8u * down + $nu, column, near_$n, far_$n);
    finish_row(first_row + 8u * down + 4u + $nu, column, below_$n, beyond_$n);
    //: end
}

fn finish_row(row: u32, column: u32, near: vec4<f32>, far: vec4<f32>) {
    if (row < n_rows.x) {
        let at = row * shape.outputs + column;
        finish(at, near * columns[column] + columns[shape.outputs + column]);
        finish(at + 8u, far * columns[column + 8u] + columns[shape.outputs + column + 8u]);
    }
}

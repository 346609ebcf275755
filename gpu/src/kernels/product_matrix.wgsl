// A linear layer by the device's units for small matrices, which multiply halves and add in f32.
// A number that half precision does not hold is split: a second half has what the first leaves over.
// The host puts before this: Input and Output, SIDE and LANES of a small matrix, DOWN x ACROSS (groups of LANES in a workgroup),
// HIGH x WIDE (small matrices of a group), STEP (inputs taken at a time), INPUT_PARTS, WEIGHT_PARTS. After it: finish(). It repeats what stands after `each`.

struct Shape { inputs: u32, outputs: u32 }

@group(0) @binding(0) var<uniform> n_rows: vec4<u32>;
@group(0) @binding(1) var<uniform> shape: Shape;
@group(0) @binding(2) var<storage, read> input: array<vec4<Input>>;
// Inputs x outputs, as often as there are parts.
@group(0) @binding(3) var<storage, read> weights: array<vec4<f16>>;
// Scales of all columns, then biases.
@group(0) @binding(4) var<storage, read> columns: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> output: array<vec4<Output>>;

const THREADS = DOWN * ACROSS * LANES;
const ROWS = DOWN * HIGH * SIDE;
// In vectors of four: what a workgroup takes of a row of inputs and of weights, and two more, which keep threads out of each
// other's bank.
const DEEP = STEP / 4u;
const BROAD = ACROSS * WIDE * SIDE / 4u;
const LEFT_STRIDE = DEEP + 2u;
const RIGHT_STRIDE = BROAD + 2u;
const LEFT_PART = ROWS * LEFT_STRIDE;
const RIGHT_PART = STEP * RIGHT_STRIDE;
// Of a small matrix.
const STRIP = SIDE / 4u;
const STRIP_STRIDE = STRIP + 1u;
// Bits of an f32 that a half has no room for.
const REST = 0x1fffu;
const LARGEST_HALF = 65504.0;

alias Left = MATRIX<f16, A>;
alias Right = MATRIX<f16, B>;
alias Sum = MATRIX<f32, C>;

var<workgroup> left: array<vec4<f16>, INPUT_PARTS * LEFT_PART>;
var<workgroup> right: array<vec4<f16>, WEIGHT_PARTS * RIGHT_PART>;
var<workgroup> strips: array<vec4<f32>, DOWN * ACROSS * SIDE * STRIP_STRIDE>;
// What the next step will take, on its way.
//: each load of LEFT_LOADS
var<private> input_$load: vec4<Input>;
//: end
//: each part of WEIGHT_PARTS
//: each load of RIGHT_LOADS
var<private> weights_$part_$load: vec4<f16>;
//: end
//: end

fn fetch(first_row: u32, first_column: u32, step: u32, local: u32) {
    //: each load of LEFT_LOADS
    let left_$load = local + $loadu * THREADS;
    input_$load = input[(first_row + left_$load / DEEP) * shape.inputs + step + left_$load % DEEP];
    //: end
    //: each load of RIGHT_LOADS
    let right_$load = local + $loadu * THREADS;
    let weights_$load = (4u * step + right_$load / BROAD) * shape.outputs + first_column + right_$load % BROAD;
    //: each part of WEIGHT_PARTS
    weights_$part_$load = weights[$partu * 4u * shape.inputs * shape.outputs + weights_$load];
    //: end
    //: end
}

fn put(local: u32) {
    //: each load of LEFT_LOADS
    put_left((local + $loadu * THREADS) / DEEP * LEFT_STRIDE + (local + $loadu * THREADS) % DEEP, input_$load);
    //: end
    //: each load of RIGHT_LOADS
    let to_$load = (local + $loadu * THREADS) / BROAD * RIGHT_STRIDE + (local + $loadu * THREADS) % BROAD;
    //: each part of WEIGHT_PARTS
    right[$partu * RIGHT_PART + to_$load] = weights_$part_$load;
    //: end
    //: end
}

fn put_left(to: u32, four: vec4<Input>) {
    if (INPUT_PARTS == 2u) {
        // Bits are cut off, since a conversion there and back may be optimised away.
        let numbers = clamp(vec4<f32>(four), vec4(-LARGEST_HALF), vec4(LARGEST_HALF));
        let most = bitcast<vec4<f32>>(bitcast<vec4<u32>>(numbers) & vec4(~REST));
        left[to] = vec4<f16>(most);
        left[(INPUT_PARTS - 1u) * LEFT_PART + to] = vec4<f16>(numbers - most);
    } else {
        left[to] = vec4<f16>(four);
    }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) tile: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let first_row = tile.y * ROWS;
    let first_column = tile.x * BROAD;
    let group = local / LANES;
    let down = group / ACROSS * HIGH * SIDE;
    let across = group % ACROSS * WIDE * STRIP;
    // Every sum has a name: what is chosen by an index would leave the registers.
    //: each high of HIGH
    //: each wide of WIDE
    var sum_$high_$wide = Sum();
    //: end
    //: end
    fetch(first_row, first_column, 0u, local);
    for (var step = 0u; step < shape.inputs; step += DEEP) {
        workgroupBarrier();
        put(local);
        workgroupBarrier();
        if (step + DEEP < shape.inputs) { fetch(first_row, first_column, step + DEEP, local); }
        for (var inner = 0u; inner < STEP; inner += SIDE) {
            let of_left = (down * LEFT_STRIDE) + inner / 4u;
            let of_right = inner * RIGHT_STRIDE + across;
            //: each high of HIGH
            //: each part of INPUT_PARTS
            let row_$high_$part =
                coopLoadT<Left>(&left[$partu * LEFT_PART + of_left + $highu * SIDE * LEFT_STRIDE], LEFT_STRIDE);
            //: end
            //: end
            //: each wide of WIDE
            let column_$wide = coopLoadT<Right>(&right[of_right + $wideu * STRIP], RIGHT_STRIDE);
            //: each high of HIGH
            //: each part of INPUT_PARTS
            sum_$high_$wide = coopMultiplyAdd(row_$high_$part, column_$wide, sum_$high_$wide);
            //: end
            //: end
            //: each rest of WEIGHT_RESTS
            let rest_$wide = coopLoadT<Right>(&right[RIGHT_PART + of_right + $wideu * STRIP], RIGHT_STRIDE);
            //: each high of HIGH
            sum_$high_$wide = coopMultiplyAdd(row_$high_0, rest_$wide, sum_$high_$wide);
            //: end
            //: end
            //: end
        }
    }
    let strip = group * SIDE * STRIP_STRIDE;
    //: each high of HIGH
    //: each wide of WIDE
    workgroupBarrier();
    coopStoreT(sum_$high_$wide, &strips[strip], STRIP_STRIDE);
    workgroupBarrier();
    finish_strip(first_row + down + $highu * SIDE, first_column + across + $wideu * STRIP, strip, local % LANES, shape.outputs);
    //: end
    //: end
}

fn finish_strip(first_row: u32, first_column: u32, strip: u32, lane: u32, stride: u32) {
    for (var at = lane; at < SIDE * STRIP; at += LANES) {
        let row = first_row + at / STRIP;
        let column = first_column + at % STRIP;
        let sum = strips[strip + at / STRIP * STRIP_STRIDE + at % STRIP];
        if (row < n_rows.x) { finish(row * stride + column, sum * columns[column] + columns[stride + column]); }
    }
}

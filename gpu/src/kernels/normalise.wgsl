// Layer normalisation of rows where they are, and a copy in the numbers that products take.
// The host puts before this: LANES (threads of a row), ROWS (of a workgroup), PARTS (vectors of four that a thread holds),
// Output, COPIES; own_row() and total(), which adds up a number over the threads of a row.

struct Shape { n_columns: u32, stride: u32, epsilon: f32 }

@group(0) @binding(0) var<uniform> n_rows: vec4<u32>;
@group(0) @binding(1) var<uniform> shape: Shape;
// Scales of all columns, then shifts; zeros where a row is filled up, which keeps those columns zero.
@group(0) @binding(2) var<storage, read> columns: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> states: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> copies: array<vec4<Output>>;

@compute @workgroup_size(LANES * ROWS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = own_row(group.y * groups.x + group.x, local);
    if (row >= n_rows.x) { return; }
    let lane = local % LANES;
    let start = row * shape.stride;
    let n = f32(shape.n_columns);
    var numbers: array<vec4<f32>, PARTS>;
    var sum = 0.0;
    for (var part = 0u; part < PARTS; part++) {
        let column = part * LANES + lane;
        if (column < shape.stride) { numbers[part] = states[start + column]; }
        sum += dot(numbers[part], vec4(1.0));
    }
    let mean = total(local, sum) / n;
    var squares = 0.0;
    for (var part = 0u; part < PARTS; part++) {
        let first = 4u * (part * LANES + lane);
        let is_filling = vec4(first) + vec4(0u, 1u, 2u, 3u) >= vec4(shape.n_columns);
        let apart = select(numbers[part] - mean, vec4(0.0), is_filling);
        squares += dot(apart, apart);
    }
    let deviation = sqrt(total(local, squares) / n + shape.epsilon);
    for (var part = 0u; part < PARTS; part++) {
        let column = part * LANES + lane;
        if (column < shape.stride) {
            let found = (numbers[part] - mean) / deviation * columns[column] + columns[shape.stride + column];
            states[start + column] = found;
            if (COPIES) { copies[start + column] = vec4<Output>(found); }
        }
    }
}

// Layer normalisation of rows where they are, a workgroup a row.

struct Shape { n_columns: u32, stride: u32, epsilon: f32 }

@group(0) @binding(0) var<uniform> n_rows: vec4<u32>;
@group(0) @binding(1) var<uniform> shape: Shape;
// Scales of all columns, then shifts; zeros where a row is filled up, which keeps those columns zero.
@group(0) @binding(2) var<storage, read> columns: array<f32>;
@group(0) @binding(3) var<storage, read_write> states: array<f32>;

var<workgroup> sums: array<f32, 64>;

fn total(local: u32, value: f32) -> f32 {
    sums[local] = value;
    workgroupBarrier();
    for (var n = 32u; n > 0u; n /= 2u) {
        if (local < n) { sums[local] += sums[local + n]; }
        workgroupBarrier();
    }
    let all = sums[0];
    workgroupBarrier();
    return all;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let row = group.y * groups.x + group.x;
    if (row >= n_rows.x) { return; }
    let start = row * shape.stride;
    let n = f32(shape.n_columns);
    var sum = 0.0;
    for (var column = local; column < shape.n_columns; column += 64u) { sum += states[start + column]; }
    let mean = total(local, sum) / n;
    var squares = 0.0;
    for (var column = local; column < shape.n_columns; column += 64u) {
        let apart = states[start + column] - mean;
        squares += apart * apart;
    }
    let deviation = sqrt(total(local, squares) / n + shape.epsilon);
    for (var column = local; column < shape.stride; column += 64u) {
        let at = start + column;
        states[at] = (states[at] - mean) / deviation * columns[column] + columns[shape.stride + column];
    }
}

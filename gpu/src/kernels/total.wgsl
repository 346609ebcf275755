var<workgroup> sums: array<f32, LANES>;

fn own_row(group: u32, local: u32) -> u32 {
    return group;
}

fn total(local: u32, value: f32) -> f32 {
    sums[local] = value;
    workgroupBarrier();
    for (var n = LANES / 2u; n > 0u; n /= 2u) {
        if (local < n) { sums[local] += sums[local + n]; }
        workgroupBarrier();
    }
    let all = sums[0];
    workgroupBarrier();
    return all;
}

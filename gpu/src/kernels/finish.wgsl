// What a linear layer does with its sums.
// The host puts before this: EPILOGUE, ERF_END and erf_polynomial().

// As closeread's encoder for processors has it.
fn erf(z: vec4<f32>) -> vec4<f32> {
    let x = clamp(z, vec4(-ERF_END), vec4(ERF_END));
    let t = x * x * (2.0 / (ERF_END * ERF_END)) - 1.0;
    return x * erf_polynomial(t);
}

fn finish(at: u32, sum: vec4<f32>) {
    if (EPILOGUE == ADD) {
        output[at] += vec4<Output>(sum);
    } else if (EPILOGUE == GELU) {
        output[at] = vec4<Output>(0.5 * sum * (1.0 + erf(sum * 0.70710678)));
    } else if (EPILOGUE == GELU_TANH) {
        let u = 0.7978846 * (sum + 0.044715 * sum * sum * sum);
        let e = exp(-2.0 * abs(u));
        output[at] = vec4<Output>(0.5 * (sum + abs(sum) * (1.0 - e) / (1.0 + e)));
    } else if (EPILOGUE == RELU) {
        output[at] = vec4<Output>(max(sum, vec4(0.0)));
    } else {
        output[at] = vec4<Output>(sum);
    }
}

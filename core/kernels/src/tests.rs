//! Every kernel of every instruction set at hand against plain sums in f64.

use super::*;
use proptest::prelude::*;

fn all_kernels() -> impl Iterator<Item = (Instructions, Kernels)> {
    Instructions::available().into_iter().map(|set| (set, Kernels::new(set).expect("available")))
}

fn cases() -> ProptestConfig {
    // Miri is some thousand times slower; it looks for other things than wrong numbers.
    ProptestConfig { cases: if cfg!(miri) { 3 } else { 96 }, failure_persistence: None, ..ProptestConfig::default() }
}

/// Numbers between -1 and 1.
fn noise(seed: u32) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Rows of noise at this stride; between them stands what no kernel may read into a result.
fn matrix(n_rows: usize, n_columns: usize, stride: usize, seed: u32) -> Vec<f32> {
    let mut noise = noise(seed);
    (0..n_rows * stride).map(|idx| if idx % stride < n_columns { noise() } else { 0.0 }).collect()
}

/// Weights (inputs x outputs) in panels.
fn panels<T: Copy + Default>(weights: &[T], n_outputs: usize, width: usize, step: usize) -> Vec<T> {
    let n_inputs = weights.len() / n_outputs;
    let n_steps = n_inputs.div_ceil(step);
    let mut packed = vec![T::default(); n_steps * step * n_outputs.next_multiple_of(width)];
    for input in 0..n_inputs {
        for output in 0..n_outputs {
            let place = (output / width * n_steps + input / step) * width + output % width;
            packed[place * step + input % step] = weights[input * n_outputs + output];
        }
    }
    packed
}

/// A row times `factors`, as 255 levels between its least and its largest number and 0 leave it.
fn eight_bit(row: &[f32], factors: &[f32]) -> Vec<f64> {
    let row: Vec<f32> = row.iter().zip(factors).map(|(x, factor)| x * factor).collect();
    let (below, above) = row.iter().fold((0.0_f32, 0.0_f32), |(below, above), x| (below.max(-x), above.max(*x)));
    let range = (above + below).max(1e-30);
    let zero = (below * (255.0 / range)).round_ties_even();
    let level = |x: f32| (x * (255.0 / range) + zero).clamp(0.0, 255.0).round_ties_even();
    row.into_iter().map(|x| f64::from(level(x) - zero) * f64::from(range / 255.0)).collect()
}

fn gelu(x: f64) -> f64 {
    x * 0.5 * (1.0 + libm::erf(x * std::f64::consts::FRAC_1_SQRT_2))
}

fn gelu_tanh(x: f64) -> f64 {
    let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
    x * 0.5 * (1.0 + libm::tanh(u))
}

fn then(kind: u8) -> Then {
    match kind {
        0 => Then::Store,
        1 => Then::Add,
        2 => Then::Activate(Activation::Gelu),
        3 => Then::Activate(Activation::GeluTanh),
        _ => Then::Activate(Activation::Relu),
    }
}

fn after(then: Then, sum: f64, before: f64) -> f64 {
    match then {
        Then::Store => sum,
        Then::Add => sum + before,
        Then::Activate(Activation::Gelu) => gelu(sum),
        Then::Activate(Activation::GeluTanh) => gelu_tanh(sum),
        Then::Activate(Activation::Relu) => sum.max(0.0),
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Rows beyond several tiles, inner dimensions beyond a piece, every tail.
    #[test]
    fn products_are_sums_of_products(
        n_rows in 1..32_usize, n_inputs in prop_oneof![1..40_usize, 505..520_usize], n_outputs in 1..70_usize,
        kind in 0..5_u8, seed: u32,
    ) {
        let (n_rows, n_outputs) = if cfg!(miri) { (n_rows.min(6), n_outputs.min(20)) } else { (n_rows, n_outputs) };
        let then = then(kind);
        for (set, kernels) in all_kernels() {
            let width = kernels.panel_width();
            let stride = n_inputs.next_multiple_of(16) + 16;
            let input = matrix(n_rows, n_inputs, stride, seed);
            let weights = matrix(n_inputs, n_outputs, n_outputs, seed ^ 1);
            let padded = n_outputs.next_multiple_of(width);
            let bias = matrix(1, n_outputs, padded, seed ^ 2);
            let before = matrix(n_rows, n_outputs, padded + 3, seed ^ 3);
            let view = View { values: &input, stride };

            let mut output = before.clone();
            let mut arranged = Arranged::default();
            kernels.arrange(n_rows, n_inputs, view, &mut arranged);
            let packed = panels(&weights, n_outputs, width, 1);
            let packed = Panels { values: &packed, n_steps: n_inputs, bias: &bias };
            kernels.product_f32(&arranged, packed, ViewMut { values: &mut output, stride: padded + 3 }, then);

            let levels = 1000.0;
            let integers: Vec<i16> = weights.iter().map(|w| (w * 500.0).round_ties_even() as i16).collect();
            let column_scales = matrix(1, n_outputs, padded, seed ^ 4);
            let mut rounded_output = before.clone();
            kernels.quantise_i16(n_rows, n_inputs, view, levels, &mut arranged);
            let packed = panels(&integers, n_outputs, width, 2);
            let packed = Panels { values: &packed, n_steps: n_inputs.div_ceil(2), bias: &bias };
            let to = ViewMut { values: &mut rounded_output, stride: padded + 3 };
            kernels.product_i16(&arranged, packed, &column_scales, to, then);

            let factors = matrix(1, n_inputs, stride, seed ^ 5);
            let bytes: Vec<i8> = weights.iter().map(|w| (w * 127.0).round_ties_even() as i8).collect();
            let mut totals = vec![0.0; padded];
            for (place, weight) in bytes.iter().enumerate() {
                totals[place % n_outputs] += f32::from(*weight);
            }
            let columns = Columns { scales: &column_scales, totals: &totals };
            let mut coarse_output = before.clone();
            kernels.quantise_u8(n_rows, n_inputs, view, &factors, &mut arranged);
            let packed = panels(&bytes, n_outputs, width, 4);
            let packed = Panels { values: &packed, n_steps: n_inputs.div_ceil(4), bias: &bias };
            let to = ViewMut { values: &mut coarse_output, stride: padded + 3 };
            kernels.product_i8(&arranged, packed, columns, to, then);

            for row in 0..n_rows {
                let x = &input[row * stride..][..n_inputs];
                let largest = x.iter().fold(0.0_f32, |m, x| m.max(x.abs()));
                let levels_u8 = eight_bit(x, &factors);
                for column in 0..n_outputs {
                    let at = row * (padded + 3) + column;
                    let terms = x.iter().enumerate().map(|(i, &x)| f64::from(x) * f64::from(weights[i * n_outputs + column]));
                    let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), t| (sum + t, size + t.abs()));
                    let expected = after(then, sum + f64::from(bias[column]), f64::from(before[at]));
                    let slack = 1e-6 * (2.0 + size);
                    let found = f64::from(output[at]);
                    prop_assert!((found - expected).abs() < slack, "{set:?} f32 {row},{column}: {found} {expected}");

                    // In integers nothing is lost but the rounding of the row itself.
                    let terms = x.iter().enumerate().map(|(i, &x)| {
                        let step = f64::from((x * (levels / largest)).round_ties_even());
                        step * f64::from(integers[i * n_outputs + column])
                    });
                    let scale = f64::from(largest / levels) * f64::from(column_scales[column]);
                    let sum = terms.sum::<f64>() * scale;
                    let expected = after(then, sum + f64::from(bias[column]), f64::from(before[at]));
                    let found = f64::from(rounded_output[at]);
                    let slack = 1e-6 * (2.0 + sum.abs());
                    prop_assert!((found - expected).abs() < slack, "{set:?} i16 {row},{column}: {found} {expected}");

                    let terms = levels_u8.iter().enumerate().map(|(i, x)| x * f64::from(bytes[i * n_outputs + column]));
                    let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), t| (sum + t, size + t.abs()));
                    let scale = f64::from(column_scales[column]);
                    let expected = after(then, sum * scale + f64::from(bias[column]), f64::from(before[at]));
                    let found = f64::from(coarse_output[at]);
                    // The sum with zeros is of another order of magnitude than the one without.
                    let slack = 1e-6 * (2.0 + size + 255.0 * f64::from(totals[column].abs()));
                    prop_assert!((found - expected).abs() < slack, "{set:?} i8 {row},{column}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn attention_is_a_softmax_over_all_tokens(
        n_tokens in prop_oneof![1..40_usize, 90..130_usize], n_heads in 1..4_usize, head_size in 1..40_usize, seed: u32,
    ) {
        let n_tokens = if cfg!(miri) { n_tokens.min(6) } else { n_tokens };
        let hidden = n_heads * head_size;
        let stride = 3 * hidden + 5;
        let projections: Vec<f32> = matrix(n_tokens, 3 * hidden, stride, seed).iter().map(|x| 2.0 * x).collect();
        let at = |token: usize, part: usize, head: usize, idx: usize| {
            f64::from(projections[token * stride + part * hidden + head * head_size + idx])
        };
        for (set, kernels) in all_kernels() {
            let mut context = vec![7.0; n_tokens * (hidden + 2)];
            let mut room = AttentionRoom::default();
            let view = View { values: &projections, stride };
            let text = |values| TextHeads { n_tokens, n_heads, head_size, projections: view, context: ViewMut { values, stride: hidden + 2 } };
            kernels.attend(text(&mut context), &mut room);
            let mut rounded = vec![7.0; n_tokens * (hidden + 2)];
            kernels.attend_i16(text(&mut rounded), &mut room);
            for token in 0..n_tokens {
                for head in 0..n_heads {
                    let score = |other: usize| (0..head_size).map(|i| at(token, 0, head, i) * at(other, 1, head, i)).sum::<f64>();
                    let scores: Vec<f64> = (0..n_tokens).map(score).collect();
                    let largest = scores.iter().copied().fold(f64::MIN, f64::max);
                    let shares: Vec<f64> = scores.iter().map(|s| libm::exp(s - largest)).collect();
                    let total: f64 = shares.iter().sum();
                    for idx in 0..head_size {
                        let expected: f64 = (0..n_tokens).map(|other| shares[other] / total * at(other, 2, head, idx)).sum();
                        let found = f64::from(context[token * (hidden + 2) + head * head_size + idx]);
                        prop_assert!((found - expected).abs() < 2e-5, "{set:?} {token},{head},{idx}: {found} {expected}");
                        let found = f64::from(rounded[token * (hidden + 2) + head * head_size + idx]);
                        prop_assert!((found - expected).abs() < 1e-2, "{set:?} i16 {token},{head},{idx}: {found} {expected}");
                    }
                }
                prop_assert_eq!(&rounded[token * (hidden + 2) + hidden..][..2], &[7.0, 7.0], "{:?} wrote beyond", set);
                prop_assert_eq!(&context[token * (hidden + 2) + hidden..][..2], &[7.0, 7.0], "{:?} wrote beyond", set);
            }
        }
    }

    /// Rows whose numbers are all as large as the largest: sums that come nearest to the end of their 32 bits.
    #[test]
    fn integers_have_room_for_the_largest_sums(
        head_size in prop_oneof![1..140_usize, Just(2), Just(8), Just(32), Just(128)], n_tokens in 1..70_usize,
        size in prop_oneof![0.1_f32..2.0, 2.0_f32..100.0],
    ) {
        // Queries all alike, keys and values of alternating sign.
        let sign = |token: usize| if token.is_multiple_of(2) { size } else { -size };
        let token = |token| [vec![size; head_size], vec![sign(token); 2 * head_size]].concat();
        let projections: Vec<f32> = (0..n_tokens).flat_map(token).collect();
        let score = head_size as f64 * f64::from(size) * f64::from(size);
        let (same, other) = (n_tokens.div_ceil(2) as f64, (n_tokens / 2) as f64 * libm::exp(-2.0 * score));
        let expected = f64::from(size) * (same - other) / (same + other);
        for (set, kernels) in all_kernels() {
            let mut context = vec![7.0; n_tokens * head_size];
            let text = TextHeads {
                n_tokens,
                n_heads: 1,
                head_size,
                projections: View { values: &projections, stride: 3 * head_size },
                context: ViewMut { values: &mut context, stride: head_size },
            };
            kernels.attend_i16(text, &mut AttentionRoom::default());
            for found in context {
                let slack = 2e-3 * f64::from(size.max(1.0));
                prop_assert!((f64::from(found) - expected).abs() < slack, "{set:?}: {found} {expected}");
            }
        }
    }

    #[test]
    fn rows_are_normalised(n_rows in 1..5_usize, n_columns in 1..300_usize, seed: u32) {
        let stride = n_columns.next_multiple_of(16) + 16;
        let scale = matrix(1, n_columns, stride, seed ^ 1);
        let shift = matrix(1, n_columns, stride, seed ^ 2);
        let before: Vec<f32> = matrix(n_rows, n_columns, stride, seed).iter().map(|x| 3.0 * x).collect();
        for (set, kernels) in all_kernels() {
            let mut rows = before.clone();
            kernels.normalise(n_rows, n_columns, ViewMut { values: &mut rows, stride }, (&scale, &shift), 1e-3);
            for row in 0..n_rows {
                let x: Vec<f64> = before[row * stride..][..n_columns].iter().map(|&x| f64::from(x)).collect();
                let mean = x.iter().sum::<f64>() / n_columns as f64;
                let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n_columns as f64;
                for column in 0..n_columns {
                    let d = (x[column] - mean) / (variance + 1e-3).sqrt();
                    let expected = d * f64::from(scale[column]) + f64::from(shift[column]);
                    let found = f64::from(rows[row * stride + column]);
                    prop_assert!((found - expected).abs() < 2e-5, "{set:?} {row},{column}: {found} {expected}");
                }
                prop_assert!(rows[row * stride..][n_columns..stride].iter().all(|&x| x == 0.0), "{set:?}: not filled with zeros");
            }
        }
    }
}

#[test]
fn activations_are_right_everywhere() {
    let xs: Vec<f32> = (-1200..1200).map(|x| x as f32 / 100.0).chain([-100.0, 100.0, -1e4, 1e4, 0.0, -0.0]).collect();
    for (set, kernels) in all_kernels() {
        let width = kernels.panel_width();
        let n = xs.len();
        for activation in [Activation::Gelu, Activation::GeluTanh, Activation::Relu] {
            // One input of weight 1: the product is the input.
            let mut weights = vec![0.0; width];
            weights[0] = 1.0;
            let bias = vec![0.0; width];
            let input: Vec<f32> = xs.iter().flat_map(|&x| std::iter::once(x).chain([0.0; 15])).collect();
            let mut arranged = Arranged::default();
            kernels.arrange(n, 1, View { values: &input, stride: 16 }, &mut arranged);
            let mut output = vec![0.0; n * width];
            let panels = Panels { values: &weights, n_steps: 1, bias: &bias };
            let then = Then::Activate(activation);
            kernels.product_f32(&arranged, panels, ViewMut { values: &mut output, stride: width }, then);
            for (row, &x) in xs.iter().enumerate() {
                let (found, expected) = (f64::from(output[row * width]), after(then, f64::from(x), 0.0));
                let slack = 4e-7 * f64::from(x).abs().max(1.0);
                assert!((found - expected).abs() <= slack, "{set:?} {activation:?}({x}): {found}, {expected}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "output of a product")]
fn a_short_output_is_refused() {
    let kernels = Kernels::new(Instructions::Plain).expect("always there");
    let mut arranged = Arranged::default();
    kernels.arrange(2, 4, View { values: &[0.0; 8], stride: 4 }, &mut arranged);
    let weights = Panels { values: &[0.0; 32], n_steps: 4, bias: &[0.0; 8] };
    kernels.product_f32(&arranged, weights, ViewMut { values: &mut [0.0; 15], stride: 8 }, Then::Store);
}

#[test]
fn multiply_adds_are_as_many_as_asked_for() {
    for (set, kernels) in all_kernels() {
        for n_turns in [1, 2, 700] {
            let found = kernels.multiply_adds(n_turns * (peak::CHAINS * kernels.lanes()) as u64);
            let expected = 1.0 - libm::pow(0.999, n_turns as f64 + 1.0);
            assert!((f64::from(found) - expected).abs() < 1e-5, "{set:?}, {n_turns} turns: {found} {expected}");
        }
    }
}

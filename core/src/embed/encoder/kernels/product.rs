//! Rows times packed weights: where nearly all the time goes.
//!
//! Weights lie in panels of two vectors' width, one step of the inner dimension after the other, so that a tile reads
//! them in a straight line. Activations are read where they are, one number at a time into all lanes. A tile keeps its
//! sums in registers over the whole inner dimension: each number of the result is added up in the same order whatever
//! else is in the batch.

use super::math::activate;
use super::simd::{Simd, VECTORS};
use crate::embed::onnx::Activation;

/// What happens to a product once the bias is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::embed::encoder) enum Then {
    /// It is the result.
    Store,
    /// It is added to what stands in the output.
    Add,
    /// The function is applied to it.
    Activate(Activation),
}

/// A product of `n_rows` rows with packed weights, as pointers.
#[derive(Clone, Copy)]
pub(super) struct Product<T> {
    pub(super) n_rows: usize,
    /// Steps of the inner dimension: numbers for f32, pairs for i16.
    pub(super) n_steps: usize,
    /// `n_rows` rows of `n_steps` steps.
    pub(super) input: *const T,
    /// Elements (of `T`) from one row of the input to the next.
    pub(super) input_stride: usize,
    /// `n_panels` panels of `n_steps` x (two vectors).
    pub(super) panels: *const T,
    pub(super) n_panels: usize,
    /// Two vectors a panel.
    pub(super) bias: *const f32,
    /// `n_rows` rows of two vectors a panel.
    pub(super) output: *mut f32,
    pub(super) output_stride: usize,
    pub(super) then: Then,
}

/// What integers of a product stand for: `row_scales[row] * column_scales[column]`.
#[derive(Clone, Copy)]
pub(super) struct Scales {
    pub(super) rows: *const f32,
    pub(super) columns: *const f32,
}

/// Calls `$function::<S, M>` for the number of rows `$rows`, which is at most `S::ROWS`.
macro_rules! with_rows {
    ($set:ty, $rows:expr, $function:ident($($argument:expr),*)) => {
        with_rows!(@ $set, $rows, $function, ($($argument),*), 1 2 3 4 5 6 7 8 9 10 11 12 13 14)
    };
    (@ $set:ty, $rows:expr, $function:ident, $arguments:tt, $($n:literal)*) => {
        match $rows {
            $($n if $n <= <$set>::ROWS => with_rows!(= $set, $n, $function, $arguments),)*
            _ => unreachable!("a tile has 1 to ROWS rows"),
        }
    };
    (= $set:ty, $n:literal, $function:ident, ($($argument:expr),*)) => {
        $function::<$set, $n>($($argument),*)
    };
}
pub(super) use with_rows;

/// Splits `n_rows` into as few tiles as possible, of nearly the same size: a tile of a row or two would wait for its
/// own sums. Calls `each(first_row, n_rows)`.
macro_rules! for_tiles {
    ($set:ty, $n_rows:expr, |$first:ident, $rows:ident| $each:block) => {{
        let n_rows: usize = $n_rows;
        let n_tiles = n_rows.div_ceil(<$set>::ROWS);
        let mut tile = 0;
        while tile < n_tiles {
            let $first = tile * n_rows / n_tiles;
            let $rows = (tile + 1) * n_rows / n_tiles - $first;
            $each
            tile += 1;
        }
    }};
}
pub(super) use for_tiles;

/// The product in f32.
///
/// # Safety
/// That of [`Simd`]; the pointers of `product` are good for what its fields say.
#[inline(always)]
pub(super) unsafe fn product_f32<S: Simd>(product: &Product<f32>) {
    let width = VECTORS * S::LANES;
    for panel in 0..product.n_panels {
        let weights = product.panels.add(panel * product.n_steps * width);
        let bias = product.bias.add(panel * width);
        for_tiles!(S, product.n_rows, |first, rows| {
            let input = product.input.add(first * product.input_stride);
            let output = product.output.add(first * product.output_stride + panel * width);
            with_rows!(S, rows, finished_tile_f32(product, input, weights, bias, output));
            if let Then::Activate(activation) = product.then {
                activate::<S>(activation, output, rows, product.output_stride);
            }
        });
    }
}

/// The product of 16-bit integers, summed in 32 bits, which must be wide enough for the sum of the magnitudes.
///
/// # Safety
/// That of [`Simd`]; the pointers are good for what the fields say.
#[inline(always)]
pub(super) unsafe fn product_i16<S: Simd>(product: &Product<i16>, scales: &Scales) {
    let width = VECTORS * S::LANES;
    for panel in 0..product.n_panels {
        let weights = product.panels.add(panel * product.n_steps * 2 * width);
        for_tiles!(S, product.n_rows, |first, rows| {
            let input = product.input.add(first * product.input_stride);
            let output = product.output.add(first * product.output_stride + panel * width);
            let column = panel * width;
            let at = Scales { rows: scales.rows.add(first), columns: scales.columns.add(column) };
            with_rows!(S, rows, finished_tile_i16(product, input, weights, &at, product.bias.add(column), output));
            if let Then::Activate(activation) = product.then {
                activate::<S>(activation, output, rows, product.output_stride);
            }
        });
    }
}

/// # Safety
/// As [`product_f32`], for `M` rows of one panel.
#[inline(always)]
unsafe fn finished_tile_f32<S: Simd, const M: usize>(
    product: &Product<f32>,
    input: *const f32,
    weights: *const f32,
    bias: *const f32,
    output: *mut f32,
) {
    let sums = tile_f32::<S, M>(product.n_steps, input, product.input_stride, weights);
    for row in 0..M {
        for vector in 0..VECTORS {
            let at = output.add(row * product.output_stride + vector * S::LANES);
            let mut value = S::add(sums[row][vector], S::load(bias.add(vector * S::LANES)));
            if product.then == Then::Add {
                value = S::add(value, S::load(at));
            }
            S::store(at, value);
        }
    }
}

/// # Safety
/// As [`product_i16`], for `M` rows of one panel.
#[inline(always)]
unsafe fn finished_tile_i16<S: Simd, const M: usize>(
    product: &Product<i16>,
    input: *const i16,
    weights: *const i16,
    scales: &Scales,
    bias: *const f32,
    output: *mut f32,
) {
    let sums = tile_i16::<S, M>(product.n_steps, input, product.input_stride, weights);
    for row in 0..M {
        let row_scale = S::splat(*scales.rows.add(row));
        for vector in 0..VECTORS {
            let lane = vector * S::LANES;
            let at = output.add(row * product.output_stride + lane);
            let scale = S::mul(row_scale, S::load(scales.columns.add(lane)));
            let mut value = S::mul_add(S::to_floats(sums[row][vector]), scale, S::load(bias.add(lane)));
            if product.then == Then::Add {
                value = S::add(value, S::load(at));
            }
            S::store(at, value);
        }
    }
}

/// The sums of a tile: `M` rows of `n_steps` numbers times one panel.
///
/// # Safety
/// That of [`Simd`]; `input` is good for `M` rows `stride` apart, `weights` for `n_steps` x two vectors.
#[inline(always)]
pub(super) unsafe fn tile_f32<S: Simd, const M: usize>(
    n_steps: usize,
    input: *const f32,
    stride: usize,
    mut weights: *const f32,
) -> [[S::Floats; VECTORS]; M] {
    /// Steps a turn of the loop: the addresses of the rows are computed once for all of them.
    const UNROLLED: usize = 4;
    let mut sums = [[S::splat(0.0); VECTORS]; M];
    macro_rules! step {
        ($at:expr) => {{
            let columns = [S::load(weights), S::load(weights.add(S::LANES))];
            for row in 0..M {
                let x = S::splat(*input.add(row * stride + $at));
                for vector in 0..VECTORS {
                    sums[row][vector] = S::mul_add(x, columns[vector], sums[row][vector]);
                }
            }
            weights = weights.add(VECTORS * S::LANES);
        }};
    }
    let mut step = 0;
    while step + UNROLLED <= n_steps {
        for ahead in 0..UNROLLED {
            step!(step + ahead);
        }
        step += UNROLLED;
    }
    while step < n_steps {
        step!(step);
        step += 1;
    }
    sums
}

/// The same for `n_steps` pairs of i16.
///
/// # Safety
/// That of [`Simd`]; `input` is good for `M` rows of `2 n_steps` numbers, `weights` for `n_steps` x two vectors of pairs.
#[inline(always)]
unsafe fn tile_i16<S: Simd, const M: usize>(
    n_steps: usize,
    input: *const i16,
    stride: usize,
    mut weights: *const i16,
) -> [[S::Ints; VECTORS]; M] {
    const UNROLLED: usize = 4;
    let mut sums = [[S::zeros(); VECTORS]; M];
    macro_rules! step {
        ($at:expr) => {{
            let columns = [S::load_pairs(weights), S::load_pairs(weights.add(2 * S::LANES))];
            for row in 0..M {
                let x = S::splat_pair(input.add(row * stride + 2 * ($at)));
                for vector in 0..VECTORS {
                    sums[row][vector] = S::add_dot(sums[row][vector], x, columns[vector]);
                }
            }
            weights = weights.add(2 * VECTORS * S::LANES);
        }};
    }
    let mut step = 0;
    while step + UNROLLED <= n_steps {
        for ahead in 0..UNROLLED {
            step!(step + ahead);
        }
        step += UNROLLED;
    }
    while step < n_steps {
        step!(step);
        step += 1;
    }
    sums
}

//! Rows times packed weights: where nearly all the time goes.
//!
//! Weights lie in panels of two vectors' width, one step of the inner dimension after the other, so that a tile reads
//! them in a straight line. Rows are read one number at a time into all lanes; they lie in pieces (see [`Pieces`]), so
//! that the rows of a tile are at constant distances and need one pointer instead of fourteen. A tile keeps its sums in
//! registers over the whole inner dimension: each number of the result is added up in the same order whatever else is
//! in the batch.

use super::LINE;
use super::math::activate;
use super::simd::{Simd, VECTORS};
use crate::activation::Activation;

/// The use of a product once the bias is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The product is the result.
    Store,
    /// The product is added to what stands in the output.
    Add,
    /// The function is applied to the product.
    Activate(Activation),
}

/// Bytes of a step of the inner dimension.
pub(super) const STEP: usize = size_of::<f32>();

/// The layout of rows of steps: `PIECE` steps of a row side by side, then those of the next row `STRIDE` further; the
/// next `PIECE` steps of all rows follow in the same way.
pub(super) struct Pieces;

impl Pieces {
    /// Steps of a row that stand side by side; a multiple of every panel's width.
    pub(super) const PIECE: usize = 512;
    /// Steps from one row to the next: not a power of two, or rows would compete for the same places in the cache.
    pub(super) const STRIDE: usize = Self::PIECE + 16;

    /// Steps that `n_rows` rows of `n_steps` steps take.
    pub(super) const fn len(n_rows: usize, n_steps: usize) -> usize {
        n_steps.div_ceil(Self::PIECE) * n_rows * Self::STRIDE
    }

    /// Returns the place of a step, in steps; `n_rows` is that of all rows together.
    #[inline(always)]
    pub(super) const fn at(n_rows: usize, row: usize, step: usize) -> usize {
        (step / Self::PIECE * n_rows + row) * Self::STRIDE + step % Self::PIECE
    }
}

/// A product of `n_rows` rows with packed weights, as pointers.
#[derive(Clone, Copy)]
pub(super) struct Product {
    pub(super) n_rows: usize,
    /// Steps of the inner dimension, of 32 bits each: an f32, two i16 or four 8-bit integers.
    pub(super) n_steps: usize,
    /// `n_rows` rows of `n_steps` steps, in [`Pieces`].
    pub(super) input: *const u8,
    /// `n_panels` panels of `n_steps` x (two vectors).
    pub(super) panels: *const u8,
    pub(super) n_panels: usize,
    /// Two vectors a panel.
    pub(super) bias: *const f32,
    /// `n_rows` rows of two vectors a panel.
    pub(super) output: *mut f32,
    pub(super) output_stride: usize,
    pub(super) then: Then,
}

/// The meaning of a product's integers: `rows[row] * columns[column]`, once `zeros[row] * totals[column]` is taken off.
#[derive(Clone, Copy)]
pub(super) struct Scales {
    pub(super) rows: *const f32,
    pub(super) columns: *const f32,
    /// The integer that stands for 0 in each row, where it is another one.
    pub(super) zeros: *const f32,
    /// The sum of each column's weights, where `zeros` are.
    pub(super) totals: *const f32,
}

impl Scales {
    /// Returns the scales from `row` and `column` on.
    ///
    /// # Safety
    /// Both are within what the pointers are good for.
    #[inline(always)]
    unsafe fn at<I: Integers>(&self, row: usize, column: usize) -> Self {
        let (zeros, totals) =
            if I::HAS_ZERO { (self.zeros.add(row), self.totals.add(column)) } else { (self.zeros, self.totals) };
        Self { rows: self.rows.add(row), columns: self.columns.add(column), zeros, totals }
    }
}

/// The integers of a step of 32 bits.
pub(super) trait Integers {
    /// Whether another integer than 0 stands for 0 in the rows.
    const HAS_ZERO: bool;
    /// sum + the dot product of a step of a row and one of each column.
    ///
    /// # Safety
    /// That of [`Simd`].
    unsafe fn add_dot<S: Simd>(sum: S::Ints, row: S::Ints, columns: S::Ints) -> S::Ints;
}

/// Two integers of 16 bits.
pub(super) struct Sixteen;

impl Integers for Sixteen {
    const HAS_ZERO: bool = false;
    #[inline(always)]
    unsafe fn add_dot<S: Simd>(sum: S::Ints, row: S::Ints, columns: S::Ints) -> S::Ints {
        S::add_dot_i16(sum, row, columns)
    }
}

/// Four integers of 8 bits: unsigned in rows, where any may stand for 0, signed in columns.
pub(super) struct Eight;

impl Integers for Eight {
    const HAS_ZERO: bool = true;
    #[inline(always)]
    unsafe fn add_dot<S: Simd>(sum: S::Ints, row: S::Ints, columns: S::Ints) -> S::Ints {
        S::add_dot_u8_i8(sum, row, columns)
    }
}

/// Calls `$function::<S, ..., M>` for the number of rows `$rows`, which is at most `S::ROWS`.
macro_rules! with_rows {
    ($set:ty $(, $more:ty)*; $rows:expr, $function:ident($($argument:expr),*)) => {
        with_rows!(@ ($set $(, $more)*), $set, $rows, $function, ($($argument),*), 1 2 3 4 5 6 7 8 9 10 11 12 13 14)
    };
    (@ $types:tt, $set:ty, $rows:expr, $function:ident, $arguments:tt, $($n:literal)*) => {
        match $rows {
            $($n if $n <= <$set>::ROWS => with_rows!(= $types, $n, $function, $arguments),)*
            _ => unreachable!("a tile has 1 to ROWS rows"),
        }
    };
    (= ($($type:ty),*), $n:literal, $function:ident, ($($argument:expr),*)) => {
        $function::<$($type),*, $n>($($argument),*)
    };
}
pub(super) use with_rows;

/// Splits `n_rows` into as few tiles as possible, of nearly the same size: a tile of a row or two would wait for its
/// own sums. Runs the block with the first row of each and how many it has.
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
pub(super) unsafe fn product_f32<S: Simd>(product: &Product) {
    let width = VECTORS * S::LANES;
    for panel in 0..product.n_panels {
        let weights = product.panels.add(STEP * panel * product.n_steps * width);
        let bias = product.bias.add(panel * width);
        let mut ahead = Ahead::new::<S>(product.n_rows, product.n_steps, S::STEPS, weights);
        for_tiles!(S, product.n_rows, |first, rows| {
            let input = product.input.add(STEP * first * Pieces::STRIDE).cast();
            let weights = weights.cast();
            let output = product.output.add(first * product.output_stride + panel * width);
            with_rows!(S; rows, finished_tile_f32(product, input, weights, bias, output, &mut ahead));
            if let Then::Activate(activation) = product.then {
                activate::<S>(activation, output, rows, product.output_stride);
            }
        });
    }
}

/// The product of integers, summed in 32 bits, which must be wide enough for the sum of the magnitudes.
///
/// # Safety
/// That of [`Simd`]; the pointers are good for what the fields say.
#[inline(always)]
pub(super) unsafe fn product_of_integers<S: Simd, I: Integers>(product: &Product, scales: &Scales) {
    let width = VECTORS * S::LANES;
    for panel in 0..product.n_panels {
        let weights = product.panels.add(STEP * panel * product.n_steps * width);
        let mut ahead = Ahead::new::<S>(product.n_rows, product.n_steps, S::INTEGER_STEPS, weights);
        for_tiles!(S, product.n_rows, |first, rows| {
            let input = product.input.add(STEP * first * Pieces::STRIDE);
            let output = product.output.add(first * product.output_stride + panel * width);
            let column = panel * width;
            let at = scales.at::<I>(first, column);
            let bias = product.bias.add(column);
            with_rows!(S, I; rows, finished_tile_of_integers(product, input, weights, &at, bias, output, &mut ahead));
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
    product: &Product,
    input: *const f32,
    weights: *const f32,
    bias: *const f32,
    output: *mut f32,
    ahead: &mut Ahead,
) {
    let zeros = [[S::splat(0.0); VECTORS]; M];
    let sums = tile_f32::<S, M>(zeros, product.n_steps, input, product.n_rows, weights, ahead);
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
/// As [`product_of_integers`], for `M` rows of one panel.
#[inline(always)]
unsafe fn finished_tile_of_integers<S: Simd, I: Integers, const M: usize>(
    product: &Product,
    input: *const u8,
    weights: *const u8,
    scales: &Scales,
    bias: *const f32,
    output: *mut f32,
    ahead: &mut Ahead,
) {
    let sums = tile_of_integers::<S, I, M>(product.n_steps, input, product.n_rows, weights, ahead);
    for row in 0..M {
        let row_scale = S::splat(*scales.rows.add(row));
        for vector in 0..VECTORS {
            let lane = vector * S::LANES;
            let at = output.add(row * product.output_stride + lane);
            let scale = S::mul(row_scale, S::load(scales.columns.add(lane)));
            let mut sum = S::to_floats(sums[row][vector]);
            if I::HAS_ZERO {
                sum = S::mul_add(S::splat(-*scales.zeros.add(row)), S::load(scales.totals.add(lane)), sum);
            }
            let mut value = S::mul_add(sum, scale, S::load(bias.add(lane)));
            if product.then == Then::Add {
                value = S::add(value, S::load(at));
            }
            S::store(at, value);
        }
    }
}

/// The cache lines of the next panel to ask for while the tiles of this one are computed, so that a panel that comes
/// from far away is there when its turn comes: that is what a short batch spends half of its time waiting for.
pub(super) struct Ahead {
    at: *const u8,
    lines_a_turn: usize,
}

impl Ahead {
    /// Asks ahead during the tiles of `n_rows` rows of a panel at `weights`, two vectors a step; the next panel follows
    /// right behind.
    #[inline(always)]
    fn new<S: Simd>(n_rows: usize, n_steps: usize, steps_a_turn: usize, weights: *const u8) -> Self {
        let bytes_a_turn = steps_a_turn * VECTORS * S::LANES * size_of::<f32>();
        let n_tiles = n_rows.div_ceil(S::ROWS);
        let lines_a_turn = (bytes_a_turn / LINE).div_ceil(n_tiles.max(1));
        // Behind the last panel there is nothing to ask for, and asking does no harm.
        Self { at: weights.wrapping_add(n_steps * VECTORS * S::LANES * size_of::<f32>()), lines_a_turn }
    }

    /// Asks for nothing ahead, for weights that are near anyway.
    pub(super) fn nothing() -> Self {
        Self { at: std::ptr::null(), lines_a_turn: 0 }
    }

    /// # Safety
    /// That of [`Simd`].
    #[inline(always)]
    unsafe fn turn<S: Simd>(&mut self) {
        for _ in 0..self.lines_a_turn {
            S::prefetch(self.at);
            self.at = self.at.wrapping_add(LINE);
        }
    }
}

/// `sums` and the products of a tile: `M` rows of `n_steps` numbers times one panel. `n_rows` is that of the whole input.
///
/// # Safety
/// That of [`Simd`]; `input` is good for `M` rows in [`Pieces`], `weights` for `n_steps` x two vectors.
#[inline(always)]
pub(super) unsafe fn tile_f32<S: Simd, const M: usize>(
    mut sums: [[S::Floats; VECTORS]; M],
    n_steps: usize,
    mut input: *const f32,
    n_rows: usize,
    mut weights: *const f32,
    ahead: &mut Ahead,
) -> [[S::Floats; VECTORS]; M] {
    macro_rules! step {
        ($input:expr) => {{
            let columns = [S::load(weights), S::load(weights.add(S::LANES))];
            for row in 0..M {
                let x = S::splat(*$input.add(row * Pieces::STRIDE));
                for vector in 0..VECTORS {
                    sums[row][vector] = S::mul_add(x, columns[vector], sums[row][vector]);
                }
            }
            weights = weights.add(VECTORS * S::LANES);
        }};
    }
    let mut rest = n_steps;
    while rest > 0 {
        let n = rest.min(Pieces::PIECE);
        let mut at = input;
        for _ in 0..n / S::STEPS {
            ahead.turn::<S>();
            for step in 0..S::STEPS {
                step!(at.add(step));
            }
            at = at.add(S::STEPS);
        }
        for step in 0..n % S::STEPS {
            step!(at.add(step));
        }
        input = input.wrapping_add(n_rows * Pieces::STRIDE);
        rest -= n;
    }
    sums
}

/// Computes a tile over `n_steps` steps of integers.
///
/// # Safety
/// As [`tile_f32`], with steps of integers for numbers.
#[inline(always)]
pub(super) unsafe fn tile_of_integers<S: Simd, I: Integers, const M: usize>(
    n_steps: usize,
    mut input: *const u8,
    n_rows: usize,
    mut weights: *const u8,
    ahead: &mut Ahead,
) -> [[S::Ints; VECTORS]; M] {
    let mut sums = [[S::zeros(); VECTORS]; M];
    macro_rules! step {
        ($input:expr) => {{
            let columns = [S::load_steps(weights), S::load_steps(weights.add(STEP * S::LANES))];
            for row in 0..M {
                let x = S::splat_step($input.add(STEP * row * Pieces::STRIDE));
                for vector in 0..VECTORS {
                    sums[row][vector] = I::add_dot::<S>(sums[row][vector], x, columns[vector]);
                }
            }
            weights = weights.add(STEP * VECTORS * S::LANES);
        }};
    }
    let mut rest = n_steps;
    while rest > 0 {
        let n = rest.min(Pieces::PIECE);
        let mut at = input;
        for _ in 0..n / S::INTEGER_STEPS {
            ahead.turn::<S>();
            for step in 0..S::INTEGER_STEPS {
                step!(at.add(STEP * step));
            }
            at = at.add(STEP * S::INTEGER_STEPS);
        }
        for step in 0..n % S::INTEGER_STEPS {
            step!(at.add(STEP * step));
        }
        input = input.wrapping_add(STEP * n_rows * Pieces::STRIDE);
        rest -= n;
    }
    sums
}

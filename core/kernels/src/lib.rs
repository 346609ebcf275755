//! What is fast about the encoder, behind functions that check their arguments: the only `unsafe` code of closeread.
//!
//! A crate of its own, so that core can forbid `unsafe` altogether and development builds can optimise the kernels
//! without optimising all of core.
//!
//! Each kernel is written once over [`simd::Simd`] and compiled for every instruction set of the target; which of them
//! runs is chosen when a model is loaded. [`Kernels`] checks lengths, so that no call from outside can read or write
//! beyond its slices; inside, every `unsafe fn` states what it relies on.
#![allow(
    unsafe_code,
    unsafe_op_in_unsafe_fn,
    reason = "vector instructions are unsafe functions; the contract stands on each kernel and is met in this file"
)]
#![allow(clippy::needless_range_loop, reason = "a tile's rows and vectors are counted loops over registers")]

mod aligned;
mod attention;
mod attention_i16;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod math;
#[cfg(target_arch = "aarch64")]
mod neon;
mod plain;
mod product;
mod rows;
mod simd;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
mod table;
#[cfg(test)]
mod tests;

pub use aligned::{Aligned, LINE};
pub use math::{ERF, ERF_END};
pub use product::Then;

use attention::{Attention, Heads};
use attention_i16::{IntegerAttention, MOST_TOKENS};
use product::{Pieces, Product, Scales};
use table::Table;

/// The function between the two layers of a feed-forward block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// x Φ(x), by the error function.
    Gelu,
    /// Its approximation by tanh.
    GeluTanh,
    /// max(x, 0).
    Relu,
}

/// Instructions that the kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instructions {
    /// Nothing beyond what every processor of the target has.
    Plain,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ, VL and VNNI.
    Avx512,
    /// WebAssembly with simd128, where the module was compiled with it.
    Simd128,
    /// aarch64 with NEON.
    Neon,
}

impl Instructions {
    /// Those that this processor has, plain first, the fastest last.
    pub fn available() -> Vec<Self> {
        let all = [Self::Plain, Self::Avx2, Self::Avx512, Self::Simd128, Self::Neon];
        all.into_iter().filter(|set| set.table().is_some()).collect()
    }

    /// The fastest of them.
    pub fn fastest() -> Self {
        *Self::available().last().expect("plain instructions are always there")
    }

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Simd128 => "simd128",
            Self::Neon => "neon",
        }
    }

    /// The kernels, if this processor can run them.
    fn table(self) -> Option<&'static Table> {
        match self {
            Self::Plain => Some(&table::PLAIN),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => has_avx2().then_some(&table::AVX2),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => has_avx512().then_some(&table::AVX512),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Simd128 => Some(&table::SIMD128),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => Some(&table::NEON),
            #[allow(unreachable_patterns, reason = "no target has all of them")]
            _ => None,
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni")
}

/// The kernels of instructions that this processor has.
#[derive(Clone, Copy)]
pub struct Kernels {
    /// SAFETY: only from [`Instructions::table`], which gives none that the processor cannot run.
    table: &'static Table,
}

/// Rows of f32 somewhere in a slice.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The slice.
    pub values: &'a [f32],
    /// Numbers from one row to the next.
    pub stride: usize,
}

/// Rows of f32 to be written.
pub struct ViewMut<'a> {
    /// The slice.
    pub values: &'a mut [f32],
    /// Numbers from one row to the next.
    pub stride: usize,
}

/// Packed weights with what belongs to them: `n_panels * panel_width` columns of `n_steps` steps.
#[derive(Clone, Copy)]
pub struct Panels<'a, T> {
    /// `n_panels` x `n_steps` x `panel_width`, steps of one number for f32, two for i16 and four for i8.
    pub values: &'a [T],
    /// Steps of the inner dimension.
    pub n_steps: usize,
    /// One number a column.
    pub bias: &'a [f32],
}

/// What belongs to 8-bit weights, one number a column.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    /// What one step is worth.
    pub scales: &'a [f32],
    /// The sum of the weights.
    pub totals: &'a [f32],
}

/// Rows laid out for a product, by [`Kernels::arrange`], [`Kernels::quantise_i16`] or [`Kernels::quantise_u8`].
#[derive(Debug, Default)]
pub struct Arranged {
    n_rows: usize,
    n_columns: usize,
    /// In [`Pieces`] of numbers.
    floats: Aligned<f32>,
    /// In [`Pieces`] of pairs.
    pairs: Aligned<i16>,
    /// In [`Pieces`] of fours.
    fours: Aligned<u8>,
    /// What one step of each row's integers is worth.
    scales: Vec<f32>,
    /// The integer that stands for 0 in each row of `fours`.
    zeros: Vec<f32>,
}

/// Memory for [`Kernels::attend`] and [`Kernels::attend_i16`], grown on demand.
#[derive(Debug, Default)]
pub struct AttentionRoom {
    keys: Vec<f32>,
    values: Vec<f32>,
    queries: Vec<f32>,
    scores: Vec<f32>,
    integers: IntegerRoom,
}

/// What integers need of it beside the scores.
#[derive(Debug, Default)]
struct IntegerRoom {
    keys: Vec<i16>,
    key_scales: Vec<f32>,
    values: Vec<i16>,
    value_scales: Vec<f32>,
    key: Vec<i16>,
    queries: Vec<i16>,
    shares: Vec<i16>,
}

impl Kernels {
    /// The kernels for these instructions, if this processor has them.
    pub fn new(instructions: Instructions) -> Option<Self> {
        instructions.table().map(|table| Self { table })
    }

    /// Columns of a panel of packed weights.
    pub fn panel_width(self) -> usize {
        self.table.panel_width
    }

    /// Numbers of a vector: what rows are read and written in.
    pub fn lanes(self) -> usize {
        self.table.lanes
    }

    /// Lays rows of `n_columns` numbers out for [`Kernels::product_f32`].
    ///
    /// # Panics
    /// If the input is shorter than the shapes say, up to its last whole vector.
    pub fn arrange(self, n_rows: usize, n_columns: usize, input: View<'_>, to: &mut Arranged) {
        let padded = n_columns.next_multiple_of(self.table.lanes);
        check(n_rows, input.stride, padded, input.values.len(), "rows to arrange");
        (to.n_rows, to.n_columns) = (n_rows, n_columns);
        to.floats.grow(Pieces::len(n_rows, n_columns));
        let (input, output) = ((input.values.as_ptr(), input.stride), to.floats.get_mut().as_mut_ptr());
        // SAFETY: the input's length was checked above, the output was grown to what it takes.
        unsafe { (self.table.arrange)(input, output, n_rows, n_columns) }
    }

    /// Rounds rows of `n_columns` numbers to integers of at most `levels` (up to 32,767), for
    /// [`Kernels::product_i16`]. Columns up to the next whole vector count too and should be 0.
    ///
    /// # Panics
    /// If the input is shorter than the shapes say, up to its last whole vector.
    pub fn quantise_i16(self, n_rows: usize, n_columns: usize, input: View<'_>, levels: f32, to: &mut Arranged) {
        let padded = n_columns.next_multiple_of(self.table.lanes);
        check(n_rows, input.stride, padded, input.values.len(), "rows to round");
        assert!((1.0..=32767.0).contains(&levels), "levels within i16");
        (to.n_rows, to.n_columns) = (n_rows, n_columns);
        to.pairs.grow(2 * Pieces::len(n_rows, n_columns.div_ceil(2)));
        grow(&mut to.scales, n_rows);
        let (input, output) = ((input.values.as_ptr(), input.stride), to.pairs.get_mut().as_mut_ptr());
        // SAFETY: the input's length was checked above, the outputs were grown to what they take.
        unsafe { (self.table.quantise_i16)(input, output, n_rows, n_columns, levels, to.scales.as_mut_ptr()) }
    }

    /// Multiplies rows of `n_columns` numbers by `factors`, one a column, and rounds them to 8-bit integers, for
    /// [`Kernels::product_i8`]. Columns up to the next whole vector count too and should be 0.
    ///
    /// # Panics
    /// If the input or `factors` are shorter than the shapes say, up to the last whole vector.
    pub fn quantise_u8(self, n_rows: usize, n_columns: usize, input: View<'_>, factors: &[f32], to: &mut Arranged) {
        let padded = n_columns.next_multiple_of(self.table.lanes);
        check(n_rows, input.stride, padded, input.values.len(), "rows to round");
        assert!(factors.len() >= padded, "a factor a column");
        (to.n_rows, to.n_columns) = (n_rows, n_columns);
        to.fours.grow(4 * Pieces::len(n_rows, n_columns.div_ceil(4)));
        grow(&mut to.scales, n_rows);
        grow(&mut to.zeros, n_rows);
        let (input, output) = ((input.values.as_ptr(), input.stride), to.fours.get_mut().as_mut_ptr());
        let steps = (to.scales.as_mut_ptr(), to.zeros.as_mut_ptr());
        // SAFETY: the lengths of input and factors were checked above, the outputs were grown to what they take.
        unsafe { (self.table.quantise_u8)(input, factors.as_ptr(), output, n_rows, n_columns, steps) }
    }

    /// The rows of `input` times `weights` plus bias, and then `then`.
    ///
    /// # Panics
    /// If `input` was not arranged as floats of the weights' inner dimension, or a slice is shorter than the shapes say.
    pub fn product_f32(self, input: &Arranged, weights: Panels<'_, f32>, output: ViewMut<'_>, then: Then) {
        let n_panels = self.check_weights(&weights, 1);
        check(input.n_rows, output.stride, weights.bias.len(), output.values.len(), "output of a product");
        assert_eq!(input.n_columns, weights.n_steps, "the input has the weights' inner dimension");
        assert!(input.floats.get().len() >= Pieces::len(input.n_rows, weights.n_steps), "the input is arranged");
        let product = product_of(input.n_rows, input.floats.get(), &weights, n_panels, output, then);
        // SAFETY: the lengths were checked above, the output is borrowed exclusively.
        unsafe { (self.table.product_f32)(&product) }
    }

    /// The same for integers; `column_scales` say what one step of each column's weights is worth.
    ///
    /// Sums are taken in 32 bits: of no row and column may the products' magnitudes exceed 2^31 - 1 together, or the
    /// result is wrong (though nothing worse).
    ///
    /// # Panics
    /// If `input` was not rounded from the weights' inner dimension, or a slice is shorter than the shapes say.
    pub fn product_i16(
        self,
        input: &Arranged,
        weights: Panels<'_, i16>,
        column_scales: &[f32],
        output: ViewMut<'_>,
        then: Then,
    ) {
        let n_panels = self.check_weights(&weights, 2);
        check(input.n_rows, output.stride, weights.bias.len(), output.values.len(), "output of a product");
        assert_eq!(input.n_columns.div_ceil(2), weights.n_steps, "the input has the weights' inner dimension");
        assert!(input.pairs.get().len() >= 2 * Pieces::len(input.n_rows, weights.n_steps), "the input is rounded");
        assert!(input.scales.len() >= input.n_rows, "a scale a row");
        assert!(column_scales.len() >= weights.bias.len(), "a scale a column");
        let product = product_of(input.n_rows, input.pairs.get(), &weights, n_panels, output, then);
        let (rows, columns) = (input.scales.as_ptr(), column_scales.as_ptr());
        let scales = Scales { rows, columns, zeros: std::ptr::null(), totals: std::ptr::null() };
        // SAFETY: the lengths were checked above, the output is borrowed exclusively.
        unsafe { (self.table.product_i16)(&product, &scales) }
    }

    /// The same for 8-bit integers.
    ///
    /// # Panics
    /// If `input` was not rounded from the weights' inner dimension, that is too long for sums of 32 bits, or a slice is
    /// shorter than the shapes say.
    pub fn product_i8(
        self,
        input: &Arranged,
        weights: Panels<'_, i8>,
        columns: Columns<'_>,
        output: ViewMut<'_>,
        then: Then,
    ) {
        let n_panels = self.check_weights(&weights, 4);
        check(input.n_rows, output.stride, weights.bias.len(), output.values.len(), "output of a product");
        assert_eq!(input.n_columns.div_ceil(4), weights.n_steps, "the input has the weights' inner dimension");
        assert!(input.n_columns <= MOST_EIGHT_BIT_INPUTS, "sums of {} products exceed 32 bits", input.n_columns);
        assert!(input.fours.get().len() >= 4 * Pieces::len(input.n_rows, weights.n_steps), "the input is rounded");
        assert!(input.scales.len().min(input.zeros.len()) >= input.n_rows, "a scale and a zero a row");
        assert!(columns.scales.len() >= weights.bias.len(), "a scale a column");
        assert!(columns.totals.len() >= weights.bias.len(), "a total a column");
        let product = product_of(input.n_rows, input.fours.get(), &weights, n_panels, output, then);
        let (rows, zeros) = (input.scales.as_ptr(), input.zeros.as_ptr());
        let scales = Scales { rows, columns: columns.scales.as_ptr(), zeros, totals: columns.totals.as_ptr() };
        // SAFETY: the lengths were checked above, the output is borrowed exclusively.
        unsafe { (self.table.product_i8)(&product, &scales) }
    }

    /// Attention of one text: `projections` are its rows of queries (scaled), keys and values, `n_heads * head_size` of
    /// each; the same number of columns of `context` are written.
    ///
    /// # Panics
    /// If a slice is shorter than the shapes say.
    pub fn attend(
        self,
        n_tokens: usize,
        (n_heads, head_size): (usize, usize),
        projections: View<'_>,
        context: ViewMut<'_>,
        room: &mut AttentionRoom,
    ) {
        let padded = n_tokens.next_multiple_of(self.table.panel_width);
        let padded_head = head_size.next_multiple_of(self.table.panel_width);
        grow(&mut room.keys, padded * head_size);
        grow(&mut room.values, padded_head * n_tokens);
        grow(&mut room.queries, Pieces::len(self.table.tile_rows, head_size));
        grow(&mut room.scores, Pieces::len(self.table.tile_rows, padded));
        let attention = Attention {
            heads: heads_of(n_tokens, (n_heads, head_size), projections, context),
            keys: room.keys.as_mut_ptr(),
            values: room.values.as_mut_ptr(),
            queries: room.queries.as_mut_ptr(),
            scores: room.scores.as_mut_ptr(),
        };
        // SAFETY: the lengths were checked above, the rooms were grown to what the fields ask for, and all that is
        // written is borrowed exclusively.
        unsafe { (self.table.attend)(&attention) }
    }

    /// The same with queries, keys, values and the shares of the softmax rounded to 16-bit integers.
    ///
    /// # Panics
    /// If a slice is shorter than the shapes say, or the text so long that sums exceed 32 bits (some 98,000 tokens).
    pub fn attend_i16(
        self,
        n_tokens: usize,
        (n_heads, head_size): (usize, usize),
        projections: View<'_>,
        context: ViewMut<'_>,
        room: &mut AttentionRoom,
    ) {
        assert!(n_tokens <= MOST_TOKENS, "sums over {n_tokens} tokens exceed 32 bits");
        let padded = n_tokens.next_multiple_of(self.table.panel_width);
        let padded_head = head_size.next_multiple_of(self.table.panel_width);
        grow(&mut room.scores, Pieces::len(self.table.tile_rows, padded));
        let integers = &mut room.integers;
        grow(&mut integers.keys, 2 * padded * head_size.div_ceil(2));
        grow(&mut integers.key_scales, padded);
        grow(&mut integers.values, 2 * padded_head * n_tokens.div_ceil(2));
        grow(&mut integers.value_scales, padded_head);
        grow(&mut integers.key, padded_head);
        grow(&mut integers.queries, 2 * Pieces::len(self.table.tile_rows, padded_head.div_ceil(2)));
        grow(&mut integers.shares, 2 * Pieces::len(self.table.tile_rows, padded.div_ceil(2)));
        let attention = IntegerAttention {
            heads: heads_of(n_tokens, (n_heads, head_size), projections, context),
            keys: integers.keys.as_mut_ptr(),
            key_scales: integers.key_scales.as_mut_ptr(),
            values: integers.values.as_mut_ptr(),
            value_scales: integers.value_scales.as_mut_ptr(),
            key: integers.key.as_mut_ptr(),
            queries: integers.queries.as_mut_ptr(),
            scores: room.scores.as_mut_ptr(),
            shares: integers.shares.as_mut_ptr(),
        };
        // SAFETY: as in `attend`.
        unsafe { (self.table.attend_i16)(&attention) }
    }

    /// Layer normalisation of rows of `n_columns` numbers, in place. Columns up to the next whole vector are written
    /// too: 0, if `scale` and `shift` are 0 there.
    ///
    /// # Panics
    /// If a slice is shorter than the shapes say; `scale` and `shift` need whole vectors.
    pub fn normalise(
        self,
        n_rows: usize,
        n_columns: usize,
        rows: ViewMut<'_>,
        (scale, shift): (&[f32], &[f32]),
        epsilon: f32,
    ) {
        let padded = n_columns.next_multiple_of(self.table.lanes);
        check(n_rows, rows.stride, padded, rows.values.len(), "rows to normalise");
        assert!(scale.len() >= padded && shift.len() >= padded, "a scale and a shift a column");
        let parameters = (scale.as_ptr(), shift.as_ptr());
        // SAFETY: the lengths were checked above, the rows are borrowed exclusively.
        unsafe {
            (self.table.normalise)(rows.values.as_mut_ptr(), n_rows, rows.stride, n_columns, parameters, epsilon);
        }
    }

    /// Checks packed weights of `step` numbers a step; how many panels there are.
    fn check_weights<T>(self, weights: &Panels<'_, T>, step: usize) -> usize {
        let width = self.table.panel_width;
        assert!(weights.bias.len().is_multiple_of(width), "a bias for each column of whole panels");
        let n_panels = weights.bias.len() / width;
        let needed = n_panels * weights.n_steps * step * width;
        assert!(weights.values.len() >= needed, "{} packed weights, {needed} are needed", weights.values.len());
        n_panels
    }
}

/// Longest inner dimension of a product of 8-bit integers: 255 * 128 times as many stay within 32 bits.
const MOST_EIGHT_BIT_INPUTS: usize = i32::MAX as usize / (255 * 128);

/// The product of `n_rows` arranged rows with `n_panels` panels, by address.
fn product_of<I, W>(
    n_rows: usize,
    input: &[I],
    weights: &Panels<'_, W>,
    n_panels: usize,
    output: ViewMut<'_>,
    then: Then,
) -> Product {
    Product {
        n_rows,
        n_steps: weights.n_steps,
        input: input.as_ptr().cast(),
        panels: weights.values.as_ptr().cast(),
        n_panels,
        bias: weights.bias.as_ptr(),
        output: output.values.as_mut_ptr(),
        output_stride: output.stride,
        then,
    }
}

/// Projections and context by address, their lengths checked.
fn heads_of(
    n_tokens: usize,
    (n_heads, head_size): (usize, usize),
    projections: View<'_>,
    context: ViewMut<'_>,
) -> Heads {
    let hidden = n_heads * head_size;
    check(n_tokens, projections.stride, 3 * hidden, projections.values.len(), "projections");
    check(n_tokens, context.stride, hidden, context.values.len(), "context");
    Heads {
        n_tokens,
        n_heads,
        head_size,
        projections: projections.values.as_ptr(),
        projections_stride: projections.stride,
        context: context.values.as_mut_ptr(),
        context_stride: context.stride,
    }
}

/// Panics unless `len` holds `n_rows` rows of `n_columns`, `stride` apart.
fn check(n_rows: usize, stride: usize, n_columns: usize, len: usize, what: &str) {
    assert!(n_columns <= stride || n_rows <= 1, "{what}: rows of {n_columns} numbers overlap at a stride of {stride}");
    let needed = if n_rows == 0 { 0 } else { (n_rows - 1) * stride + n_columns };
    assert!(len >= needed, "{what}: {len} numbers, {needed} are needed");
}

fn grow<T: Copy + Default>(room: &mut Vec<T>, n: usize) {
    if room.len() < n {
        room.resize(n, T::default());
    }
}

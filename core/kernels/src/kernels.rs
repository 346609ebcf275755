//! The door to the kernels: lengths are checked here, and only then is anything called by address.

use super::aligned::Aligned;
use super::instructions::Instructions;
use super::peak::CHAINS;
use super::product::{Pieces, Product, Scales, Then};
use super::table::Table;

/// The kernels of instructions that this processor has.
#[derive(Clone, Copy)]
pub struct Kernels {
    /// SAFETY: only from [`Instructions::table`], which gives none that the processor cannot run.
    pub(super) table: &'static Table,
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

/// Packed weights with their bias: `n_panels * panel_width` columns of `n_steps` steps.
#[derive(Clone, Copy)]
pub struct Panels<'a, T> {
    /// `n_panels` x `n_steps` x `panel_width`, steps of one number for f32, two for i16 and four for i8.
    pub values: &'a [T],
    /// Steps of the inner dimension.
    pub n_steps: usize,
    /// One number a column.
    pub bias: &'a [f32],
}

/// The scales and totals of 8-bit weights, one number a column.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    /// Value of one step of each column.
    pub scales: &'a [f32],
    /// The sum of the weights.
    pub totals: &'a [f32],
}

/// Rows laid out for a product, by [`Kernels::arrange`], [`Kernels::quantise_i16`] or [`Kernels::quantise_u8`].
#[derive(Debug, Default)]
pub struct Arranged {
    n_rows: usize,
    n_columns: usize,
    /// The rows as f32, in [`Pieces`] of numbers.
    floats: Aligned<f32>,
    /// The rows as 16-bit integers, in [`Pieces`] of pairs.
    pairs: Aligned<i16>,
    /// The rows as 8-bit integers, in [`Pieces`] of fours.
    fours: Aligned<u8>,
    /// Value of one step of each row's integers.
    scales: Vec<f32>,
    /// The integer that stands for 0 in each row of `fours`.
    zeros: Vec<f32>,
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

    /// Computes a product as [`Self::product_f32`] does, of 16-bit integers; `column_scales` say what one step of each
    /// column's weights is worth.
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

    /// Computes a product as [`Self::product_i16`] does, of 8-bit integers.
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

    /// Computes `n` multiply-adds of f32 in registers, rounded up to a turn of all chains, and returns the mean of what
    /// they come to: 1 - 0.999 ^ (turns + 1). It is the time they take that is of use.
    pub fn multiply_adds(self, n: u64) -> f32 {
        let n_lanes = CHAINS * self.table.lanes;
        // SAFETY: the table is one that this processor can run, and nothing else is asked for.
        let sum = unsafe { (self.table.multiply_adds)(n.div_ceil(n_lanes as u64)) };
        sum / n_lanes as f32
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

/// Panics unless `len` holds `n_rows` rows of `n_columns`, `stride` apart.
pub(super) fn check(n_rows: usize, stride: usize, n_columns: usize, len: usize, what: &str) {
    assert!(n_columns <= stride || n_rows <= 1, "{what}: rows of {n_columns} numbers overlap at a stride of {stride}");
    let needed = if n_rows == 0 { 0 } else { (n_rows - 1) * stride + n_columns };
    assert!(len >= needed, "{what}: {len} numbers, {needed} are needed");
}

pub(super) fn grow<T: Copy + Default>(room: &mut Vec<T>, n: usize) {
    if room.len() < n {
        room.resize(n, T::default());
    }
}

//! Rows of activations in memory.

use closeread_kernels::{Aligned, LINE, View, ViewMut};
use std::ops::Range;

/// Rows of `n_columns` numbers, each filled up with zeros that no kernel changes.
#[derive(Debug, Default)]
pub(super) struct Rows {
    values: Aligned<f32>,
    stride: usize,
    n_columns: usize,
}

impl Rows {
    /// `n_rows` rows of zeros, which kernels of this panel width can write.
    pub(super) fn new(n_rows: usize, n_columns: usize, panel_width: usize) -> Self {
        let stride = stride(n_columns, panel_width);
        Self { values: Aligned::new(n_rows * stride), stride, n_columns }
    }

    /// Numbers of a row, without those it is filled up with.
    pub(super) fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Returns how many rows there is room for.
    pub(super) fn capacity(&self) -> usize {
        self.values.get().len().checked_div(self.stride).unwrap_or(0)
    }

    /// The numbers of one row.
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.values.get()[row * self.stride..][..self.n_columns]
    }

    /// The numbers of one row, to be written.
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.values.get_mut()[row * self.stride..][..self.n_columns]
    }

    /// Returns a view of some rows.
    pub(super) fn view(&self, rows: Range<usize>) -> View<'_> {
        let values = &self.values.get()[rows.start * self.stride..rows.end * self.stride];
        View { values, stride: self.stride }
    }

    /// Returns a view of some rows, to be written.
    pub(super) fn view_mut(&mut self, rows: Range<usize>) -> ViewMut<'_> {
        let values = &mut self.values.get_mut()[rows.start * self.stride..rows.end * self.stride];
        ViewMut { values, stride: self.stride }
    }
}

/// Numbers from one row to the next: whole panels, on cache lines, and not a power of two apart, since the rows of a
/// tile would then compete for the same few places in the first-level cache.
fn stride(n_columns: usize, panel_width: usize) -> usize {
    let line = LINE / size_of::<f32>();
    let whole = n_columns.next_multiple_of(panel_width).next_multiple_of(line);
    if whole.is_multiple_of(8 * line) { whole + line } else { whole }
}

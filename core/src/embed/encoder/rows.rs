//! Rows of activations in memory.

use super::kernels::{View, ViewMut};
use std::ops::Range;

/// Bytes that a cache line has, and the widest vector: what starts there is read in one go.
const LINE: usize = 64;

/// Numbers whose first lies on a cache line.
#[derive(Debug, Default)]
pub(super) struct Aligned<T> {
    values: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// `len` zeros.
    pub(super) fn new(len: usize) -> Self {
        let spare = LINE / size_of::<T>();
        let values = vec![T::default(); len + spare];
        // The vector never grows, so that its numbers stay where they are.
        let start = values.as_ptr().align_offset(LINE).min(spare);
        Self { values, start, len }
    }

    /// At least `len` of them; the old ones are lost where there were fewer.
    pub(super) fn grow(&mut self, len: usize) {
        if self.len < len {
            *self = Self::new(len);
        }
    }

    /// All of them.
    pub(super) fn get(&self) -> &[T] {
        &self.values[self.start..][..self.len]
    }

    /// All of them, to be written.
    pub(super) fn get_mut(&mut self) -> &mut [T] {
        &mut self.values[self.start..][..self.len]
    }
}

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

    /// How many rows there is room for.
    pub(super) fn capacity(&self) -> usize {
        self.values.len.checked_div(self.stride).unwrap_or(0)
    }

    /// The numbers of one row.
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.values.get()[row * self.stride..][..self.n_columns]
    }

    /// The numbers of one row, to be written.
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.values.get_mut()[row * self.stride..][..self.n_columns]
    }

    /// Some rows.
    pub(super) fn view(&self, rows: Range<usize>) -> View<'_> {
        let values = &self.values.get()[rows.start * self.stride..rows.end * self.stride];
        View { values, stride: self.stride }
    }

    /// Some rows, to be written.
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

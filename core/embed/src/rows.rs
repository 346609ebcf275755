//! A dense matrix, row after row.

/// `n` rows of one length.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows<T> {
    dimension: usize,
    values: Vec<T>,
}

impl<T> Rows<T> {
    /// Rows of length `dimension` laid one after another in `values`.
    ///
    /// # Panics
    /// If `values` is not a whole number of rows.
    pub fn new(dimension: usize, values: Vec<T>) -> Self {
        assert!(dimension > 0 && values.len().is_multiple_of(dimension), "whole rows of {dimension}");
        Self { dimension, values }
    }

    /// Returns the number of values in each row.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the row at `idx`.
    pub fn row(&self, idx: usize) -> &[T] {
        &self.values[idx * self.dimension..][..self.dimension]
    }

    /// Returns the rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[T]> {
        self.values.chunks_exact(self.dimension)
    }

    /// Adds a row behind the others.
    ///
    /// # Panics
    /// If it has another length.
    pub fn push(&mut self, row: &[T])
    where
        T: Clone,
    {
        assert_eq!(row.len(), self.dimension, "rows of one length");
        self.values.extend_from_slice(row);
    }

    /// Returns all values, row after row.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns all values, row after row, to be reused.
    pub fn into_values(self) -> Vec<T> {
        self.values
    }
}

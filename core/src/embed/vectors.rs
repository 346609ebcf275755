//! A dense matrix of embeddings, one row a text.

/// `n` vectors of one dimension, row after row.
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    dimension: usize,
    values: Vec<f32>,
}

impl Vectors {
    /// Rows of length `dimension` laid one after another in `values`.
    ///
    /// # Panics
    /// If `values` is not a whole number of rows.
    pub fn new(dimension: usize, values: Vec<f32>) -> Self {
        assert!(dimension > 0 && values.len().is_multiple_of(dimension), "whole rows of {dimension}");
        Self { dimension, values }
    }

    /// Numbers in each vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many vectors there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The vector at `idx`.
    pub fn row(&self, idx: usize) -> &[f32] {
        &self.values[idx * self.dimension..][..self.dimension]
    }

    /// The vectors in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.dimension)
    }

    /// All numbers, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All numbers, row after row, to be reused.
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }
}

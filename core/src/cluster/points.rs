//! Points of a space of few dimensions.

/// `n` points of one dimension, one after another.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    dimension: usize,
    values: Vec<f64>,
}

impl Points {
    /// Points whose coordinates lie one after another in `values`.
    ///
    /// # Panics
    /// If `values` is not a whole number of points.
    pub fn new(dimension: usize, values: Vec<f64>) -> Self {
        assert!(dimension > 0 && values.len().is_multiple_of(dimension), "whole points of {dimension} coordinates");
        Self { dimension, values }
    }

    /// Coordinates of a point.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The point at `idx`.
    pub fn row(&self, idx: usize) -> &[f64] {
        &self.values[idx * self.dimension..][..self.dimension]
    }

    /// The points in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.dimension)
    }
}

/// Square of the Euclidean distance.
pub(super) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

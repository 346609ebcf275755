//! How a device computes: in which numbers, and by which of its units.

use crate::Precision;

/// How a device computes a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arithmetic {
    pub(crate) precision: Precision,
    /// Threads that run in step, where all groups of them have one size.
    pub(crate) lanes: Option<usize>,
    /// Units for small matrices, where there are any that take halves and add in f32.
    pub(crate) matrices: Option<Matrices>,
}

/// A device's units for small square matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Matrices {
    /// Rows and columns of a small matrix.
    pub(crate) side: usize,
    /// Threads that share one.
    pub(crate) lanes: usize,
}

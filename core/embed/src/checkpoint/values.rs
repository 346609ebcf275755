//! The numbers of a matrix.

/// The numbers of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Values as they are.
    F32(Vec<f32>),
    /// Values that are each times the scale of its column (of a linear layer) or row (of a table).
    Int8 {
        /// Integer values, row after row.
        values: Vec<i8>,
        /// Scale of each column or row.
        scales: Vec<f32>,
    },
}

impl Default for Values {
    fn default() -> Self {
        Self::F32(Vec::new())
    }
}

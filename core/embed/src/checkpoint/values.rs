//! The numbers of a matrix.

/// The numbers of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// As they are.
    F32(Vec<f32>),
    /// Each value times the scale of its column (of a linear layer) or row (of a table).
    Int8 {
        /// Row after row.
        values: Vec<i8>,
        /// One a column or row.
        scales: Vec<f32>,
    },
}

impl Default for Values {
    fn default() -> Self {
        Self::F32(Vec::new())
    }
}

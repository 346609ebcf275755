//! Layer normalisation with learned scale and shift.

use super::rows::Rows;
use crate::checkpoint::Norm;
use closeread_kernels::{Aligned, Kernels};
use std::ops::Range;

/// Scale and shift, filled up to whole vectors with zeros.
#[derive(Debug)]
pub(super) struct LayerNorm {
    scale: Aligned<f32>,
    shift: Aligned<f32>,
    epsilon: f32,
}

impl LayerNorm {
    pub(super) fn new(norm: &Norm, epsilon: f32, kernels: Kernels) -> Self {
        let padded = |values: &[f32]| {
            let mut to = Aligned::new(values.len().next_multiple_of(kernels.lanes()));
            to.get_mut()[..values.len()].copy_from_slice(values);
            to
        };
        Self { scale: padded(&norm.scale), shift: padded(&norm.shift), epsilon }
    }

    /// Normalises some rows where they are.
    pub(super) fn forward(&self, kernels: Kernels, rows: &mut Rows, range: Range<usize>) {
        let (n_rows, n_columns) = (range.len(), rows.n_columns());
        let parameters = (self.scale.get(), self.shift.get());
        kernels.normalise(n_rows, n_columns, rows.view_mut(range), parameters, self.epsilon);
    }
}

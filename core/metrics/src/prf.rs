//! Precision, recall and their harmonic mean.

use serde::{Deserialize, Serialize};

/// Precision, recall and F1 of an overlap, each in 0..=1; all 0 where nothing overlaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Prf {
    /// Share of the prediction that is in the reference.
    pub precision: f64,
    /// Share of the reference that is in the prediction.
    pub recall: f64,
    /// F1: harmonic mean of precision and recall.
    pub f1: f64,
}

impl Prf {
    /// Computes the scores from `same` tokens in common; `of_prediction` and `of_reference` are how many tokens each
    /// side has.
    pub(super) fn new(same: usize, of_prediction: usize, of_reference: usize) -> Self {
        if same == 0 {
            return Self::default();
        }
        let precision = same as f64 / of_prediction as f64;
        let recall = same as f64 / of_reference as f64;
        Self { precision, recall, f1: 2.0 * precision * recall / (precision + recall) }
    }
}

/// Returns how many tokens two multisets share. Tokens are numbers below `n_distinct`.
pub(super) fn overlap(prediction: &[u32], reference: &[u32], n_distinct: usize) -> usize {
    let mut left = vec![0u32; n_distinct];
    for &token in reference {
        left[token as usize] += 1;
    }
    let mut same = 0;
    for &token in prediction {
        let count = &mut left[token as usize];
        if *count > 0 {
            *count -= 1;
            same += 1;
        }
    }
    same
}

//! Token ids to first hidden states: word plus position, normalised.

use super::norm::LayerNorm;
use super::rows::Rows;
use crate::checkpoint::Norm;
use crate::checkpoint::Tables;
use closeread_kernels::Kernels;

/// The second text of each pair: where it begins, and what its tokens have more than those of the first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Second<'a> {
    pub(super) from: &'a [usize],
    pub(super) more: &'a [f32],
}

/// The tables that token ids and positions are looked up in.
#[derive(Debug)]
pub(super) struct Embeddings {
    pub(super) tables: Tables,
    norm: LayerNorm,
}

impl Embeddings {
    pub(super) fn new(tables: Tables, norm: &Norm, epsilon: f32, kernels: Kernels) -> Self {
        Self { tables, norm: LayerNorm::new(norm, epsilon, kernels) }
    }

    /// Computes the first hidden states of all texts, one after the other.
    pub(super) fn forward(&self, kernels: Kernels, batch: &[&[u32]], second: Option<Second<'_>>, states: &mut Rows) {
        let mut row = 0;
        for (text, ids) in batch.iter().enumerate() {
            for (position, &id) in ids.iter().enumerate() {
                self.tables.read(id, position, states.row_mut(row));
                if let Some(Second { more, .. }) = second.filter(|second| position >= second.from[text]) {
                    states.row_mut(row).iter_mut().zip(more).for_each(|(state, more)| *state += more);
                }
                row += 1;
            }
        }
        self.norm.forward(kernels, states, 0..row);
    }
}

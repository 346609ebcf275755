//! Token ids to first hidden states: word plus position, normalised.

use super::norm::LayerNorm;
use super::rows::Rows;
use crate::embed::checkpoint::{Checkpoint, Table};
use closeread_kernels::Kernels;

/// The tables that token ids and positions are looked up in.
#[derive(Debug)]
pub(super) struct Embeddings {
    words: Table,
    positions: Table,
    norm: LayerNorm,
}

impl Embeddings {
    /// Takes the tables out of a checkpoint.
    pub(super) fn new(checkpoint: &mut Checkpoint, kernels: Kernels) -> Self {
        let norm = LayerNorm::new(&checkpoint.norm, checkpoint.epsilon, kernels);
        let empty = || Table { n_rows: 0, n_columns: 0, values: crate::embed::checkpoint::Values::F32(Vec::new()) };
        let words = std::mem::replace(&mut checkpoint.words, empty());
        let positions = std::mem::replace(&mut checkpoint.positions, empty());
        Self { words, positions, norm }
    }

    /// Why these token ids cannot be looked up, if so.
    pub(super) fn check(&self, ids: &[u32]) -> Result<(), String> {
        if ids.is_empty() {
            return Err("a text without a token, not even special ones, has no vector".to_owned());
        }
        if ids.len() > self.positions.n_rows {
            return Err(format!("{} tokens, the model has positions for {}", ids.len(), self.positions.n_rows));
        }
        match ids.iter().find(|&&id| id as usize >= self.words.n_rows) {
            Some(id) => Err(format!(
                "token id {id}, the model knows {}: are tokenizer.json and the weights of one model?",
                self.words.n_rows
            )),
            None => Ok(()),
        }
    }

    /// The first hidden states of all texts, one after the other.
    pub(super) fn forward(&self, kernels: Kernels, batch: &[&[u32]], states: &mut Rows) {
        let mut row = 0;
        for ids in batch {
            for (position, &id) in ids.iter().enumerate() {
                let state = states.row_mut(row);
                self.words.read(id as usize, state);
                self.positions.add(position, state);
                row += 1;
            }
        }
        self.norm.forward(kernels, states, 0..row);
    }
}

//! An installed reranker, computed here on all cores.

use super::memory::Score;
use crate::models::TOKENIZER;
use crate::models::rerankers::{CONFIG, InstalledReranker, WEIGHTS};
use crate::spread::{cores, spread};
use anyhow::{Context, Result};
use closeread_embed::encoder::{CrossEncoder, EncoderOptions};
use std::sync::OnceLock;

/// An installed reranker; it is prepared by the first pair that is to be computed.
#[derive(Debug)]
pub(super) struct Local {
    model: InstalledReranker,
    encoder: OnceLock<CrossEncoder>,
}

impl Local {
    pub(super) fn new(model: InstalledReranker) -> Self {
        Self { model, encoder: OnceLock::new() }
    }

    pub(super) fn model(&self) -> &InstalledReranker {
        &self.model
    }

    /// Returns everything but the pair that a score depends on.
    pub(super) fn determines(&self) -> Result<Vec<Vec<u8>>> {
        let mut parts = vec![b"encoder-f32".to_vec()];
        for name in [CONFIG, WEIGHTS, TOKENIZER] {
            parts.push(self.model.file(name)?);
        }
        Ok(parts)
    }

    pub(super) fn compute(&self, query: &str, passages: &[&str]) -> Result<Vec<Score>> {
        let encoder = self.encoder()?;
        let pairs = encoder.pairs(query, passages)?;
        let units = encoder.plan(&pairs);
        let parts = spread(cores(), units.len(), async |unit| encoder.score_unit(&units[unit], &pairs), |_| {});
        let mut scores: Vec<Score> = pairs.iter().map(|pair| Score { score: 0.0, cut: pair.cut }).collect();
        for (unit, part) in units.iter().zip(parts) {
            unit.texts.iter().zip(part?).for_each(|(&pair, score)| scores[pair].score = score);
        }
        Ok(scores)
    }

    fn encoder(&self) -> Result<&CrossEncoder> {
        if let Some(encoder) = self.encoder.get() {
            return Ok(encoder);
        }
        let encoder = self.model.load(EncoderOptions::default());
        let encoder = encoder.with_context(|| format!("reranker `{}` ({})", self.model.name, self.model.place()))?;
        // Two threads may both have loaded it; the first one's stays.
        Ok(self.encoder.get_or_init(|| encoder))
    }
}

//! Rerankers: a model of the BERT family that reads a query and a passage together and gives one number.

use super::embeddings::Second;
use super::{BertBackend, EncoderOptions, Precision};
use crate::checkpoint::{Checkpoint, Classifier, Dense, Values};
use crate::tokens::{PairIds, TextTokenizer};
use crate::{Backend, EmbedError, PairScores, Pooling, Unit};

/// A cross-encoder ready for texts.
///
/// [`CrossEncoder::score`] does everything in turn. A host with threads takes the same steps itself: [`CrossEncoder::pairs`],
/// [`CrossEncoder::plan`], [`CrossEncoder::score_unit`] in any order on any thread.
#[derive(Debug)]
pub struct CrossEncoder {
    backend: BertBackend,
    tokenizer: TextTokenizer,
    head: Classifier,
    max_tokens: usize,
}

impl CrossEncoder {
    /// Loads a model as it is published, by the bytes of its three files; `name` is for errors. Products are in f32 unless the
    /// options say otherwise: a score is what decides, not the angle between two vectors.
    ///
    /// # Errors
    /// [`EmbedError`]: another family, a head with more than one output, a damaged file.
    pub fn from_published(
        name: &str,
        (config_json, safetensors, tokenizer_json): (&[u8], &[u8], &[u8]),
        options: EncoderOptions<'_>,
    ) -> Result<Self, EmbedError> {
        let (checkpoint, head) = Checkpoint::with_classifier(config_json, safetensors)?;
        let max_tokens = checkpoint.tables.positions.n_rows;
        let tokenizer = TextTokenizer::new(name, tokenizer_json, max_tokens)?;
        let options = EncoderOptions { precision: Some(options.precision.unwrap_or(Precision::F32)), ..options };
        Ok(Self { backend: BertBackend::pack(Pooling::Cls, checkpoint, options)?, tokenizer, head, max_tokens })
    }

    /// Longest input, query, passage and special tokens together.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Returns the backend that computes the model.
    pub fn backend(&self) -> &BertBackend {
        &self.backend
    }

    /// The query with each passage as token ids.
    ///
    /// # Errors
    /// [`EmbedError::Text`].
    pub fn pairs(&self, query: &str, passages: &[&str]) -> Result<Vec<PairIds>, EmbedError> {
        self.tokenizer.pairs(query, passages).map_err(|(index, problem)| EmbedError::Text { index, problem })
    }

    /// Returns which pairs to compute together.
    pub fn plan(&self, pairs: &[PairIds]) -> Vec<Unit> {
        self.backend.plan(&pairs.iter().map(|pair| pair.ids.len()).collect::<Vec<_>>())
    }

    /// The scores of one unit of the plan for `pairs`, in the unit's order.
    ///
    /// # Errors
    /// [`EmbedError::Forward`]: the pairs are another model's, or a score is not finite.
    pub fn score_unit(&self, unit: &Unit, pairs: &[PairIds]) -> Result<Vec<f64>, EmbedError> {
        let batch: Vec<&[u32]> = unit.texts.iter().map(|&pair| &*pairs[pair].ids).collect();
        let from: Vec<usize> = unit.texts.iter().map(|&pair| pairs[pair].second).collect();
        let states = self.backend.run(&batch, Some(Second { from: &from, more: &self.head.second }), None)?;
        let scores: Vec<f64> = states.rows().map(|state| self.score_of(state)).collect();
        match scores.iter().all(|score| score.is_finite()) {
            true => Ok(scores),
            false => {
                let n_tokens = batch.iter().map(|ids| ids.len()).max().unwrap_or(0);
                let problem = "a score is not finite".to_owned();
                Err(EmbedError::Forward { n_texts: batch.len(), n_tokens, problem })
            }
        }
    }

    /// Scores how well each passage answers the query.
    ///
    /// # Errors
    /// As [`CrossEncoder::pairs`] and [`CrossEncoder::score_unit`].
    pub fn score(&self, query: &str, passages: &[&str]) -> Result<PairScores, EmbedError> {
        let pairs = self.pairs(query, passages)?;
        let mut scores = vec![0.0; pairs.len()];
        for unit in self.plan(&pairs) {
            let found = self.score_unit(&unit, &pairs)?;
            unit.texts.iter().zip(found).for_each(|(&pair, score)| scores[pair] = score);
        }
        Ok(PairScores { scores, n_cut: pairs.iter().filter(|pair| pair.cut).count() })
    }

    /// The score by the first token's last state, in f64.
    fn score_of(&self, state: &[f32]) -> f64 {
        let state: Vec<f64> = state.iter().map(|&x| f64::from(x)).collect();
        let pooled: Vec<f64> = product(&self.head.pooler, &state).into_iter().map(libm::tanh).collect();
        let logit = product(&self.head.output, &pooled)[0];
        if self.head.sigmoid { 1.0 / (1.0 + libm::exp(-logit)) } else { logit }
    }
}

/// A linear layer on one input.
fn product(dense: &Dense, input: &[f64]) -> Vec<f64> {
    let mut output: Vec<f64> = dense.bias.iter().map(|&x| f64::from(x)).collect();
    let n_outputs = output.len();
    for (row, x) in input.iter().enumerate() {
        for (column, sum) in output.iter_mut().enumerate() {
            let place = row * n_outputs + column;
            *sum += x * match &dense.weight {
                Values::F32(values) => f64::from(values[place]),
                Values::Int8 { values, scales } => f64::from(values[place]) * f64::from(scales[column]),
            };
        }
    }
    output
}

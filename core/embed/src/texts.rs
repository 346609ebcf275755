//! Embedding of texts, whatever computes the model.

use super::plan::Unit;
use super::role::Role;
use super::tokens::{TextTokenizer, TokenIds};
use super::{EmbedError, ModelSpec, Pooling, Vectors};

/// A backend, which computes a model: tract, an encoder of our own, a graphics processor.
///
/// It receives token ids as they are, without padding: whether and how to pad is its own business, and so is a batch
/// that is not one of its plan.
#[allow(async_fn_in_trait, reason = "a browser's futures are not Send, and a thread polls those that it made itself")]
pub trait Backend {
    /// Returns which of the texts of these lengths in tokens to compute together, every text in exactly one unit.
    fn plan(&self, lengths: &[usize]) -> Vec<Unit>;

    /// Returns one pooled vector a text, in order, not yet normalised ([`pool`] is at hand for those that end in hidden
    /// states). A text's vector does not depend on the others in `batch`, up to the order of float additions.
    ///
    /// What computes on the processor is ready when it is first polled, and `Sync`, so that each thread can ask for a unit.
    ///
    /// # Errors
    /// [`EmbedError::Device`] where another backend may succeed ([`Fallback`](crate::Fallback)); [`EmbedError::Forward`], or
    /// [`EmbedError::Load`] where a shape is prepared on first use.
    async fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError>;
}

/// An embedding model ready for texts: description, tokenizer and backend.
///
/// [`EmbeddingModel::encode`] does everything in turn. A host with threads takes the same steps itself:
/// [`EmbeddingModel::tokenize`] each text, [`EmbeddingModel::plan`], [`EmbeddingModel::encode_unit`] in any order on any
/// thread, [`gather`].
#[derive(Debug)]
pub struct EmbeddingModel<B> {
    spec: ModelSpec,
    tokenizer: TextTokenizer,
    backend: B,
}

/// Vectors, and what had to be left out of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// Vectors, one a text, in the order of the texts.
    pub vectors: Vectors,
    /// Number of texts that were longer than the model takes and lost their end.
    pub n_cut: usize,
}

impl<B> EmbeddingModel<B> {
    /// Joins a description, the bytes of a `tokenizer.json` and a backend that runs the described model.
    ///
    /// # Errors
    /// [`EmbedError::Tokenizer`] if the tokenizer cannot be used.
    pub fn new(spec: ModelSpec, tokenizer_json: &[u8], backend: B) -> Result<Self, EmbedError> {
        let tokenizer = TextTokenizer::new(&spec.name, tokenizer_json, spec.max_tokens)?;
        Ok(Self { spec, tokenizer, backend })
    }

    /// Returns the model's description.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    /// Returns the backend that computes the model.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Prefix and text as token ids; `index` names the text in an error.
    ///
    /// # Errors
    /// [`EmbedError::Text`].
    pub fn tokenize(&self, role: Role, index: usize, text: &str) -> Result<TokenIds, EmbedError> {
        let prefix = self.spec.prefix(role);
        let tokens = if prefix.is_empty() {
            self.tokenizer.tokenize(text)
        } else {
            self.tokenizer.tokenize(&format!("{prefix}{text}"))
        };
        tokens.map_err(|problem| EmbedError::Text { index, problem })
    }

    /// A unit's vectors as they leave the backend made final: scaled to length 1, unless the description says otherwise.
    fn finish_unit(&self, unit: &Unit, vectors: Vectors) -> Result<Vectors, EmbedError> {
        if vectors.dimension() != self.spec.dimension {
            let (expected, found) = (self.spec.dimension, vectors.dimension());
            return Err(EmbedError::Dimension { model: self.spec.name.clone(), expected, found });
        }
        let mut values = vectors.into_values();
        for (row, &index) in values.chunks_exact_mut(self.spec.dimension).zip(&unit.texts) {
            let norm = length(row);
            if !norm.is_finite() || (norm == 0.0 && self.spec.normalize) {
                return Err(EmbedError::NotFinite { index });
            }
            if self.spec.normalize {
                scale(row, norm);
            }
        }
        Ok(Vectors::new(self.spec.dimension, values))
    }
}

impl<B: Backend> EmbeddingModel<B> {
    /// Returns one vector a text, in order; L2-normalised unless the description says otherwise.
    ///
    /// # Errors
    /// [`EmbedError`]: a text that cannot be tokenised, a batch that fails, a vector that is not finite.
    pub async fn encode(&self, role: Role, texts: &[&str]) -> Result<Embedded, EmbedError> {
        let tokens = texts.iter().enumerate().map(|(index, text)| self.tokenize(role, index, text));
        let tokens: Vec<TokenIds> = tokens.collect::<Result<_, _>>()?;
        let units = self.plan(&tokens);
        let mut parts = Vec::with_capacity(units.len());
        for unit in &units {
            parts.push(self.encode_unit(unit, &tokens).await?);
        }
        Ok(gather(self.spec.dimension, &tokens, &units, &parts))
    }

    /// Returns which texts to compute together, for [`EmbeddingModel::encode_unit`].
    pub fn plan(&self, tokens: &[TokenIds]) -> Vec<Unit> {
        self.backend.plan(&tokens.iter().map(|text| text.ids.len()).collect::<Vec<_>>())
    }

    /// The finished vectors of one unit of the plan for `tokens`, in the unit's order.
    ///
    /// # Errors
    /// What the backend reports; [`EmbedError::Dimension`] and [`EmbedError::NotFinite`] for an unusable result.
    pub async fn encode_unit(&self, unit: &Unit, tokens: &[TokenIds]) -> Result<Vectors, EmbedError> {
        let batch: Vec<&[u32]> = unit.texts.iter().map(|&text| &*tokens[text].ids).collect();
        self.finish_unit(unit, self.backend.forward(&batch).await?)
    }
}

/// The vectors scaled to length 1.
///
/// # Errors
/// [`EmbedError::NotFinite`] for one that has no direction.
pub fn normalized(vectors: Vectors) -> Result<Vectors, EmbedError> {
    let dimension = vectors.dimension();
    let mut values = vectors.into_values();
    for (index, row) in values.chunks_exact_mut(dimension).enumerate() {
        let norm = length(row);
        if !norm.is_finite() || norm == 0.0 {
            return Err(EmbedError::NotFinite { index });
        }
        scale(row, norm);
    }
    Ok(Vectors::new(dimension, values))
}

fn length(row: &[f32]) -> f64 {
    row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt()
}

fn scale(row: &mut [f32], norm: f64) {
    row.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
}

/// Puts the vectors of all units back into the order of the texts.
///
/// # Panics
/// If `parts` are not the results of `units`, or `units` not a plan for `tokens`.
pub fn gather(dimension: usize, tokens: &[TokenIds], units: &[Unit], parts: &[Vectors]) -> Embedded {
    assert_eq!(units.len(), parts.len(), "one result a unit");
    let mut values = vec![0.0; tokens.len() * dimension];
    for (unit, part) in units.iter().zip(parts) {
        for (&text, row) in unit.texts.iter().zip(part.rows()) {
            values[text * dimension..][..dimension].copy_from_slice(row);
        }
    }
    let n_cut = tokens.iter().filter(|text| text.cut).count();
    Embedded { vectors: Vectors::new(dimension, values), n_cut }
}

/// Pools one vector a text from the last hidden states of a padded batch.
///
/// `hidden` is `lengths.len()` x `padded` x `dimension`; `lengths` are the texts' true lengths (at least 1, at most
/// `padded`), so that padding never enters a mean.
///
/// # Panics
/// If `hidden` does not have that shape.
pub fn pool(pooling: Pooling, hidden: &[f32], lengths: &[usize], padded: usize, dimension: usize) -> Vectors {
    assert_eq!(hidden.len(), lengths.len() * padded * dimension, "texts x tokens x dimension");
    let mut values = Vec::with_capacity(lengths.len() * dimension);
    for (states, &n_tokens) in hidden.chunks_exact(padded * dimension).zip(lengths) {
        match pooling {
            Pooling::Cls => values.extend_from_slice(&states[..dimension]),
            Pooling::Mean => {
                let mut sum = vec![0.0_f64; dimension];
                for state in states.chunks_exact(dimension).take(n_tokens) {
                    sum.iter_mut().zip(state).for_each(|(sum, &x)| *sum += f64::from(x));
                }
                values.extend(sum.iter().map(|&sum| (sum / n_tokens as f64) as f32));
            }
        }
    }
    Vectors::new(dimension, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Bucket, plan};

    /// A backend whose vector of a text is the number of its tokens and their sum.
    struct Summing;

    impl Backend for Summing {
        fn plan(&self, lengths: &[usize]) -> Vec<Unit> {
            plan(lengths, &[Bucket { n_tokens: 4, n_texts: 2 }, Bucket { n_tokens: 8, n_texts: 2 }])
        }

        async fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError> {
            Ok(Vectors::new(
                2,
                batch.iter().flat_map(|ids| [ids.len() as f32, ids.iter().sum::<u32>() as f32]).collect(),
            ))
        }
    }

    /// Words `a`..`e` are the ids 2..6, between 0 and 1.
    const TOKENIZER: &str = r#"{
        "version": "1.0", "truncation": {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 6,
            "pad_type_id": 0, "pad_token": "p"},
        "added_tokens": [], "normalizer": null, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {"type": "BertProcessing", "sep": ["]", 1], "cls": ["[", 0]}, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"[": 0, "]": 1, "a": 2, "b": 3, "c": 4, "d": 5, "p": 6}, "unk_token": "p"}
    }"#;

    fn encoder(normalize: bool, passage_prefix: &str) -> EmbeddingModel<Summing> {
        let spec = ModelSpec {
            normalize,
            passage_prefix: passage_prefix.to_owned(),
            ..ModelSpec::from_toml("t", "name = 't'\ndimension = 2\nmax_tokens = 8\npooling = 'mean'").expect("valid")
        };
        EmbeddingModel::new(spec, TOKENIZER.as_bytes(), Summing).expect("valid")
    }

    fn encode(encoder: &EmbeddingModel<Summing>, role: Role, texts: &[&str]) -> Embedded {
        pollster::block_on(encoder.encode(role, texts)).expect("encodes")
    }

    #[test]
    fn vectors_come_back_in_the_order_of_the_texts_and_cuts_are_counted() {
        let texts = ["a", "a b c d a b c", "a b c d a b", "", "d d"];
        let embedded = encode(&encoder(false, ""), Role::Passage, &texts);
        let rows: Vec<&[f32]> = embedded.vectors.rows().collect();
        assert_eq!(rows, [&[3.0, 3.0][..], &[8.0, 20.0], &[8.0, 20.0], &[2.0, 1.0], &[4.0, 11.0]]);
        assert_eq!(embedded.n_cut, 1);
    }

    #[test]
    fn a_prefix_is_the_roles_own_and_counts_towards_the_limit() {
        let encoder = encoder(false, "a b ");
        let texts = ["c c c c c"];
        assert_eq!(encode(&encoder, Role::Query, &texts).n_cut, 0);
        assert_eq!(encode(&encoder, Role::Passage, &texts).n_cut, 1);
    }

    #[test]
    fn vectors_are_scaled_to_length_one() {
        let embedded = encode(&encoder(true, ""), Role::Query, &["a b", "d"]);
        for row in embedded.vectors.rows() {
            assert!((row.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-6, "{row:?}");
        }
    }

    #[test]
    fn no_texts_give_no_vectors() {
        assert!(encode(&encoder(true, ""), Role::Query, &[]).vectors.is_empty());
    }

    #[test]
    fn padding_stays_out_of_a_mean() {
        let hidden = [1.0, 2.0, 3.0, 4.0, 99.0, 99.0, 5.0, 6.0, 99.0, 99.0, 99.0, 99.0];
        assert_eq!(pool(Pooling::Mean, &hidden, &[2, 1], 3, 2).values(), [2.0, 3.0, 5.0, 6.0]);
        assert_eq!(pool(Pooling::Cls, &hidden, &[2, 1], 3, 2).values(), [1.0, 2.0, 5.0, 6.0]);
    }
}

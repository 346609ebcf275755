//! Closeread's own encoder: models of the BERT and XLM-RoBERTa families, on the CPU.
//!
//! It reads like the architecture: [`embeddings`], then layer by layer [`attention`] and [`feed_forward`], then
//! [`pooling`], or for pairs of texts the head of [`cross_encoder`]. What is fast about it sits in [`closeread_kernels`]. The tokens of a batch stand one after the other without
//! padding, and every number of a text's vector is added up in an order that the rest of the batch has no part in:
//! a text has the same vector, bit for bit, alone and in any batch, on any number of threads, as long as the
//! instruction set is the same.

mod attention;
mod calibration;
mod cross_encoder;
mod embeddings;
mod feed_forward;
mod linear;
mod norm;
mod pooling;
mod rows;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) mod tiny;
mod workspace;

pub use calibration::{Calibration, Ranges};
pub use closeread_kernels::Instructions;
pub use cross_encoder::CrossEncoder;
use workspace::Workspace;

use super::checkpoint::Checkpoint;
use super::plan::{Unit, plan_in_order};
use super::{Backend, EmbedError, ModelSpec, Pooling, Vectors};
use attention::SelfAttention;
use calibration::see;
use closeread_kernels::Kernels;
use embeddings::{Embeddings, Second};
use feed_forward::FeedForward;
use linear::{BLOCK, Format, Formats};
use rows::Rows;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};

/// Tokens of a unit of work: enough rows to use each packed weight often, few enough that the states of a unit stay in
/// the second-level cache (`cargo xtask bench embed`).
const UNIT_TOKENS: usize = 448;

/// The precision of linear layers and the products of attention. Normalisation, softmax and activation are f32 always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// f32 throughout: 1 - cosine to another f32 implementation below 1e-9.
    F32,
    /// Activations and weights as 16-bit integers, summed in 32 bits: twice as fast where the processor multiplies such
    /// pairs, mean cosine to f32 above 0.99999. 8-bit weights of the file are used as they are.
    Int16,
    /// 8-bit integers, and 16 bits on the way down from the inner states, which 8 would spoil: faster again where the
    /// processor multiplies fours, mean cosine to f32 above 0.9995. Needs a [`Calibration`]; never chosen by itself.
    Int8,
}

impl Precision {
    /// The faster one for these instructions of those that need nothing but the model.
    pub fn fastest(instructions: Instructions) -> Self {
        match instructions {
            Instructions::Avx512 | Instructions::Avx2 | Instructions::Simd128 => Self::Int16,
            Instructions::Plain | Instructions::Neon => Self::F32,
        }
    }

    /// Returns the precision's name in lower case, as it is written in TOML and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Int16 => "int16",
            Self::Int8 => "int8",
        }
    }
}

/// The options of computing; what is `None` is chosen for the processor.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EncoderOptions<'a> {
    /// Precision of the products; the fastest one by default.
    pub precision: Option<Precision>,
    /// Instructions to compute with; the fastest available by default.
    pub instructions: Option<Instructions>,
    /// Calibration, which [`Precision::Int8`] needs; the others need none.
    pub calibration: Option<&'a Calibration>,
}

/// Returns whether [`BertBackend::from_onnx`] can read this file, as far as its head says: whether closeread wrote it.
pub fn reads(onnx: &[u8]) -> bool {
    Checkpoint::is_ours(onnx)
}

/// A model, packed for the processor. Threads share it, each with memory of its own for what is under way.
pub struct BertBackend {
    kernels: Kernels,
    instructions: Instructions,
    precision: Precision,
    pooling: Pooling,
    hidden: usize,
    inner: usize,
    embeddings: Embeddings,
    layers: Vec<(SelfAttention, FeedForward)>,
    /// Memory of calls that are over, for the next ones.
    idle: Mutex<Vec<Workspace>>,
}

impl BertBackend {
    /// Loads an ONNX file that closeread wrote; `spec` gives the pooling.
    ///
    /// # Errors
    /// [`EmbedError::Load`] if the file is damaged or from elsewhere, the processor lacks the instructions asked for, or
    /// [`Precision::Int8`] a calibration of this model.
    pub fn from_onnx(spec: &ModelSpec, onnx: &[u8], options: EncoderOptions<'_>) -> Result<Self, EmbedError> {
        Self::pack(spec.pooling, Checkpoint::from_onnx(onnx)?, options)
    }

    /// Loads a model as it is published: the bytes of `config.json` and `model.safetensors`.
    ///
    /// # Errors
    /// As [`BertBackend::from_onnx`]; models of another family are refused by name.
    pub fn from_published(
        spec: &ModelSpec,
        config_json: &[u8],
        safetensors: &[u8],
        options: EncoderOptions<'_>,
    ) -> Result<Self, EmbedError> {
        Self::pack(spec.pooling, Checkpoint::from_published(config_json, safetensors)?, options)
    }

    /// The instructions that compute it.
    pub fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// Returns the precision that the model's linear layers are computed in.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    fn pack(pooling: Pooling, mut checkpoint: Checkpoint, options: EncoderOptions<'_>) -> Result<Self, EmbedError> {
        let instructions = options.instructions.unwrap_or_else(Instructions::fastest);
        let kernels = Kernels::new(instructions).ok_or_else(|| {
            let available: Vec<&str> = Instructions::available().into_iter().map(Instructions::name).collect();
            EmbedError::Load(format!(
                "this processor has no {} instructions, choose one of {}",
                instructions.name(),
                available.join(", ")
            ))
        })?;
        let precision = options.precision.unwrap_or_else(|| Precision::fastest(instructions));
        let ranges = match (precision, options.calibration) {
            (Precision::F32 | Precision::Int16, _) => None,
            (Precision::Int8, Some(calibration)) => Some(calibration.of(&checkpoint)?),
            (Precision::Int8, None) => {
                let message = "int8 needs the model's calibration, which `closeread model calibrate` makes";
                return Err(EmbedError::Load(message.to_owned()));
            }
        };
        let tables = std::mem::take(&mut checkpoint.tables);
        let embeddings = Embeddings::new(tables, &checkpoint.norm, checkpoint.epsilon, kernels);
        // Layer by layer, so that no more than one is in memory twice.
        let layers = std::mem::take(&mut checkpoint.layers);
        let inner = layers.first().map_or(0, |layer| layer.up.bias.len());
        let layers = layers.into_iter().enumerate().map(|(idx, layer)| {
            let formats = match ranges {
                Some(ranges) => Formats::mixed(&ranges[idx]),
                None if precision == Precision::F32 => Formats::all(Format::F32),
                None => Formats::all(Format::Int16),
            };
            let attention = SelfAttention::new(&checkpoint, &layer, formats, kernels);
            (attention, FeedForward::new(&checkpoint, &layer, formats, kernels))
        });
        Ok(Self {
            kernels,
            instructions,
            precision,
            pooling,
            hidden: checkpoint.hidden,
            inner,
            embeddings,
            layers: layers.collect(),
            idle: Mutex::default(),
        })
    }

    /// Returns how large the channels get that [`Precision::Int8`] has in 8 bits, over the texts of a batch; to be
    /// asked of the model in [`Precision::F32`].
    ///
    /// # Errors
    /// As [`Backend::forward`].
    pub fn calibrate(&self, batch: &[&[u32]]) -> Result<Calibration, EmbedError> {
        let mut seen = Calibration::empty(self.layers.len(), self.hidden);
        self.run(batch, None, Some(&mut seen))?;
        Ok(seen)
    }

    /// The vectors of a batch; how large channels get in it is taken into `seen`.
    fn run(
        &self,
        batch: &[&[u32]],
        second: Option<Second<'_>>,
        mut seen: Option<&mut Calibration>,
    ) -> Result<Vectors, EmbedError> {
        self.embeddings.tables.check(batch)?;
        if batch.is_empty() {
            return Ok(Vectors::new(self.hidden, Vec::new()));
        }
        let lengths: Vec<usize> = batch.iter().map(|ids| ids.len()).collect();
        let n_tokens = lengths.iter().sum();
        let mut workspace = self.workspace(n_tokens);
        self.embeddings.forward(self.kernels, batch, second, &mut workspace.states);
        for (idx, (attention, feed_forward)) in self.layers.iter().enumerate() {
            let mut ranges = seen.as_deref_mut().map(|seen| &mut seen.layers[idx]);
            if let Some(ranges) = &mut ranges {
                see(&workspace.states, n_tokens, &mut ranges.projections);
            }
            attention.forward(self.kernels, &lengths, &mut workspace);
            if let Some(ranges) = ranges {
                see(&workspace.context, n_tokens, &mut ranges.output);
                see(&workspace.states, n_tokens, &mut ranges.up);
            }
            feed_forward.forward(self.kernels, n_tokens, &mut workspace);
        }
        let vectors = pooling::pool(self.pooling, &workspace.states, &lengths);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(workspace);
        Ok(vectors)
    }

    /// Memory for `n_tokens` tokens.
    fn workspace(&self, n_tokens: usize) -> Workspace {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut workspace = idle.unwrap_or_default();
        if workspace.states.capacity() < n_tokens {
            let width = self.kernels.panel_width();
            workspace.states = Rows::new(n_tokens, self.hidden, width);
            workspace.projections = Rows::new(n_tokens, 3 * self.hidden, width);
            workspace.context = Rows::new(n_tokens, self.hidden, width);
            workspace.inner = Rows::new(n_tokens.min(BLOCK), self.inner, width);
        }
        workspace
    }
}

impl Backend for BertBackend {
    fn plan(&self, lengths: &[usize]) -> Vec<Unit> {
        plan_in_order(lengths, UNIT_TOKENS)
    }

    async fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError> {
        self.run(batch, None, None)
    }
}

impl std::fmt::Debug for BertBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shape = (self.layers.len(), self.hidden, self.inner);
        f.debug_struct("BertBackend")
            .field("instructions", &self.instructions)
            .field("precision", &self.precision)
            .field("layers_hidden_inner", &shape)
            .finish_non_exhaustive()
    }
}

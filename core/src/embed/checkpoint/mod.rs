//! A model of the BERT family as numbers: what an encoder of our own needs of its files.
//!
//! Read from the ONNX files that [`crate::embed::onnx`] writes, or from the published `config.json` and
//! `model.safetensors`. Whoever computes the model packs these for itself.

mod onnx_file;
mod published;

use super::EmbedError;
use super::onnx::Activation;

/// All weights of an encoder of the BERT family.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Checkpoint {
    /// Numbers of a hidden state.
    pub(super) hidden: usize,
    /// Heads of attention; they divide `hidden`.
    pub(super) n_heads: usize,
    /// Between the layers of a feed-forward block.
    pub(super) activation: Activation,
    /// Added to the variance by layer normalisation.
    pub(super) epsilon: f32,
    /// One row a token of the vocabulary.
    pub(super) words: Table,
    /// One row a position of a text, the vector of token type 0 added; from the text's first token, whatever number
    /// the model gives its position.
    pub(super) positions: Table,
    /// After the sum of the embeddings.
    pub(super) norm: Norm,
    /// From the input on.
    pub(super) layers: Vec<Layer>,
}

/// One block of attention and feed-forward.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    pub(super) query: Dense,
    pub(super) key: Dense,
    pub(super) value: Dense,
    /// From the joined heads back to the hidden state.
    pub(super) output: Dense,
    pub(super) attention_norm: Norm,
    /// From the hidden state to the wide inner one.
    pub(super) up: Dense,
    /// And back.
    pub(super) down: Dense,
    pub(super) output_norm: Norm,
}

/// A linear layer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dense {
    pub(super) n_inputs: usize,
    /// Inputs x outputs, row after row; 8-bit with a scale an output.
    pub(super) weight: Values,
    /// One a output.
    pub(super) bias: Vec<f32>,
}

/// Rows that are looked up.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    pub(super) n_rows: usize,
    pub(super) n_columns: usize,
    /// Row after row; 8-bit with a scale a row.
    pub(super) values: Values,
}

/// The numbers of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    F32(Vec<f32>),
    Int8 { values: Vec<i8>, scales: Vec<f32> },
}

/// Scale and shift of a layer normalisation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Norm {
    pub(super) scale: Vec<f32>,
    pub(super) shift: Vec<f32>,
}

impl Checkpoint {
    /// Reads an ONNX file that closeread wrote, with weights of any of its formats.
    ///
    /// # Errors
    /// [`EmbedError::Load`]: the file is damaged, or from elsewhere.
    pub(super) fn from_onnx(onnx: &[u8]) -> Result<Self, EmbedError> {
        onnx_file::read(onnx).map_err(|problem| {
            EmbedError::Load(format!(
                "model.onnx: {problem}; closeread's encoder reads the files that `closeread model` writes, any other \
                 runs with `--backend tract`"
            ))
        })
    }

    /// Whether closeread wrote this ONNX file, for an encoder of a kind that can be read.
    pub(super) fn is_ours(onnx: &[u8]) -> bool {
        onnx_file::is_ours(onnx)
    }

    /// Reads a model as it is published.
    ///
    /// # Errors
    /// [`EmbedError::Load`] with what [`crate::embed::onnx::convert`] would say.
    pub(super) fn from_published(config_json: &[u8], safetensors: &[u8]) -> Result<Self, EmbedError> {
        published::read(config_json, safetensors).map_err(|error| EmbedError::Load(error.to_string()))
    }
}

impl Table {
    /// Writes one row to `to`.
    pub(super) fn read(&self, row: usize, to: &mut [f32]) {
        let range = row * self.n_columns..(row + 1) * self.n_columns;
        match &self.values {
            Values::F32(values) => to.copy_from_slice(&values[range]),
            Values::Int8 { values, scales } => {
                to.iter_mut().zip(&values[range]).for_each(|(to, &value)| *to = f32::from(value) * scales[row]);
            }
        }
    }

    /// Adds one row to `to`.
    pub(super) fn add(&self, row: usize, to: &mut [f32]) {
        let range = row * self.n_columns..(row + 1) * self.n_columns;
        match &self.values {
            Values::F32(values) => to.iter_mut().zip(&values[range]).for_each(|(to, value)| *to += value),
            Values::Int8 { values, scales } => {
                to.iter_mut().zip(&values[range]).for_each(|(to, &value)| *to += f32::from(value) * scales[row]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::encoder::tiny;
    use crate::embed::onnx::{WeightFormat, convert};

    #[test]
    fn an_onnx_file_gives_back_what_it_was_made_from() {
        for (act, activation) in
            [("gelu", Activation::Gelu), ("gelu_new", Activation::GeluTanh), ("relu", Activation::Relu)]
        {
            let (config, weights) = tiny::published(&tiny::Shape { act, ..tiny::Shape::default() });
            let published = Checkpoint::from_published(&config, &weights).expect("reads");
            assert_eq!(published.activation, activation);
            let onnx = convert(&config, &weights, WeightFormat::F32).expect("converts");
            assert!(Checkpoint::from_onnx(&onnx).expect("reads") == published, "{act}");
        }
    }

    #[test]
    fn eight_bit_weights_stay_as_they_are_stored() {
        let (config, weights) = tiny::published(&tiny::Shape::default());
        let exact = Checkpoint::from_published(&config, &weights).expect("reads");
        let onnx = convert(&config, &weights, WeightFormat::W8).expect("converts");
        let stored = Checkpoint::from_onnx(&onnx).expect("reads");
        let (Values::F32(exact), Values::Int8 { values, scales }) =
            (&exact.layers[0].up.weight, &stored.layers[0].up.weight)
        else {
            panic!("f32 published, 8-bit stored");
        };
        for (idx, (exact, value)) in exact.iter().zip(values).enumerate() {
            let scale = scales[idx % scales.len()];
            assert!((exact - f32::from(*value) * scale).abs() <= scale * 0.5001);
        }
        let half = convert(&config, &weights, WeightFormat::F16).expect("converts");
        assert!(matches!(Checkpoint::from_onnx(&half).expect("reads").words.values, Values::F32(_)));
    }

    #[test]
    fn a_damaged_file_is_refused_and_never_a_panic() {
        let (config, weights) = tiny::published(&tiny::Shape::default());
        let onnx = convert(&config, &weights, WeightFormat::W8).expect("converts");
        for n_bytes in 0..onnx.len() {
            let message = Checkpoint::from_onnx(&onnx[..n_bytes]).expect_err("refused").to_string();
            assert!(message.contains("--backend tract"), "{message}");
        }
        for at in 0..onnx.len().min(4000) {
            let mut damaged = onnx.clone();
            damaged[at] ^= 0x55;
            // Some flips only change a number or a name that nothing reads; none may panic.
            let _ = Checkpoint::from_onnx(&damaged);
        }
    }
}

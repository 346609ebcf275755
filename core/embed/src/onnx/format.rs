//! Formats of stored weights, and why a model's files could not be converted.

use serde::{Deserialize, Serialize};

/// The format in which weights are stored in the file; every format computes in f32.
///
/// Biases and the parameters of layer normalisation stay f32: they are 0.5% of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightFormat {
    /// Weights as they are.
    F32,
    /// Half precision, followed by `Cast`: half the size, cosine to f32 above 0.999999.
    F16,
    /// 8-bit integers with a scale a row (of an embedding) or an output (of a layer), followed by `DequantizeLinear`:
    /// a quarter of the size, cosine to f32 above 0.999. Symmetric, scale = largest magnitude / 127, ties to even.
    W8,
}

/// The reason why a model's files could not be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// `config.json` does not parse.
    #[error("config.json cannot be read: {0}")]
    Config(String),
    /// The model is of another family.
    #[error("config.json says {key} = `{value}`, which this converter does not know (it knows {known})")]
    Unsupported {
        /// The key of config.json.
        key: &'static str,
        /// Value of the field.
        value: String,
        /// Values that can be converted.
        known: &'static str,
    },
    /// Sizes in `config.json` contradict each other.
    #[error("config.json: hidden_size {hidden} is not a multiple of num_attention_heads {heads}")]
    Heads {
        /// Value of `hidden_size`.
        hidden: usize,
        /// Value of `num_attention_heads`.
        heads: usize,
    },
    /// The weights' file is damaged.
    #[error("model.safetensors cannot be read: {problem}")]
    Safetensors {
        /// Problem with the file.
        problem: String,
    },
    /// A weight is not there.
    #[error("model.safetensors has no tensor `{tensor}`, which an encoder of this config.json needs")]
    Missing {
        /// Name of the tensor.
        tensor: String,
    },
    /// A weight has another shape than `config.json` says.
    #[error("model.safetensors: `{tensor}` has shape {found:?}, config.json asks for {expected:?}")]
    Shape {
        /// Name of the tensor.
        tensor: String,
        /// The shape in the file.
        found: Vec<usize>,
        /// The shape by `config.json`.
        expected: Vec<usize>,
    },
    /// A weight is stored as something other than floats.
    #[error("model.safetensors: `{tensor}` is {dtype}, expected F32, F16 or BF16 (take the unquantised model)")]
    Type {
        /// Name of the tensor.
        tensor: String,
        /// Type of the tensor in the file.
        dtype: String,
    },
    /// A weight cannot be stored in the format asked for.
    #[error("model.safetensors: `{tensor}` holds a number that is not finite in {format:?}")]
    NotFinite {
        /// Name of the tensor in the ONNX file.
        tensor: String,
        /// Format that was asked for.
        format: WeightFormat,
    },
    /// The file would be longer than ONNX allows.
    #[error("the ONNX file would have {n_bytes} bytes, more than the 2 GiB a file may have: take f16 or w8 weights")]
    TooLarge {
        /// Length of the file in bytes.
        n_bytes: usize,
    },
}

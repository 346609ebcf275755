//! From the files a model is published as to one ONNX file.
//!
//! Encoders of the BERT and XLM-RoBERTa families, operator set 17, which tract and onnxruntime both run. Inputs
//! `input_ids` and `attention_mask`, int64, texts x tokens; output `last_hidden_state`, f32, texts x tokens x hidden.
//! Token types are those of a single text and are built in. Padding must stand on the right: positions are counted from
//! the first token, which for a text without gaps is what transformers computes from the padding token too.

mod config;
mod graph;
mod proto;
mod safetensors;

#[cfg(feature = "encoder")]
pub(super) use closeread_kernels::Activation;
pub(super) use config::Config;
#[cfg(feature = "encoder")]
pub(super) use safetensors::Weights;

use serde::{Deserialize, Serialize};

/// How weights are stored in the file; every format computes in f32.
///
/// Biases and the parameters of layer normalisation stay f32: they are 0.5% of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightFormat {
    /// As they are.
    F32,
    /// Half precision, followed by `Cast`: half the size, cosine to f32 above 0.999999.
    F16,
    /// 8-bit integers with a scale a row (of an embedding) or an output (of a layer), followed by `DequantizeLinear`:
    /// a quarter of the size, cosine to f32 above 0.999. Symmetric, scale = largest magnitude / 127, ties to even.
    W8,
}

/// Why a model's files could not be converted.
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
        /// Its value.
        value: String,
        /// Values that can be converted.
        known: &'static str,
    },
    /// Sizes in `config.json` contradict each other.
    #[error("config.json: hidden_size {hidden} is not a multiple of num_attention_heads {heads}")]
    Heads {
        /// `hidden_size`.
        hidden: usize,
        /// `num_attention_heads`.
        heads: usize,
    },
    /// The weights' file is damaged.
    #[error("model.safetensors cannot be read: {problem}")]
    Safetensors {
        /// What is wrong.
        problem: String,
    },
    /// A weight is not there.
    #[error("model.safetensors has no tensor `{tensor}`, which an encoder of this config.json needs")]
    Missing {
        /// Its name.
        tensor: String,
    },
    /// A weight has another shape than `config.json` says.
    #[error("model.safetensors: `{tensor}` has shape {found:?}, config.json asks for {expected:?}")]
    Shape {
        /// Its name.
        tensor: String,
        /// The shape in the file.
        found: Vec<usize>,
        /// The shape by `config.json`.
        expected: Vec<usize>,
    },
    /// A weight is stored as something other than floats.
    #[error("model.safetensors: `{tensor}` is {dtype}, expected F32, F16 or BF16 (take the unquantised model)")]
    Type {
        /// Its name.
        tensor: String,
        /// Its type in the file.
        dtype: String,
    },
    /// A weight cannot be stored in the format asked for.
    #[error("model.safetensors: `{tensor}` holds a number that is not finite in {format:?}")]
    NotFinite {
        /// Its name in the ONNX file.
        tensor: String,
        /// The format asked for.
        format: WeightFormat,
    },
    /// The file would be longer than ONNX allows.
    #[error("the ONNX file would have {n_bytes} bytes, more than the 2 GiB a file may have: take f16 or w8 weights")]
    TooLarge {
        /// Its length.
        n_bytes: usize,
    },
}

/// Builds an ONNX file from the bytes of `config.json` and `model.safetensors`; the same input gives the same bytes.
///
/// Known are `model_type` `bert`, `roberta` and `xlm-roberta`; absolute positions; `hidden_act` `gelu`, `gelu_new`,
/// `gelu_pytorch_tanh`, `gelu_fast` and `relu`. Weight names may carry any prefix (`bert.`, `roberta.`, none) and the
/// older names `LayerNorm.gamma` and `.beta`.
///
/// # Errors
/// [`ConvertError`]: another architecture is refused by name, a damaged file by what is wrong with it.
pub fn convert(config_json: &[u8], safetensors: &[u8], format: WeightFormat) -> Result<Vec<u8>, ConvertError> {
    let config = Config::read(config_json)?;
    graph::build(&config, &safetensors::Weights::read(safetensors)?, format)
}

/// Numbers in a vector of the model that a `config.json` describes (`hidden_size`).
///
/// # Errors
/// As [`convert`] for the `config.json`.
pub fn dimension(config_json: &[u8]) -> Result<usize, ConvertError> {
    Ok(Config::read(config_json)?.hidden_size)
}

/// Longest input, special tokens included, that the positions of a `config.json` allow.
///
/// # Errors
/// As [`convert`] for the `config.json`.
pub fn max_tokens(config_json: &[u8]) -> Result<usize, ConvertError> {
    Ok(Config::read(config_json)?.n_positions())
}

//! Conversion of the files a model is published as to one ONNX file.
//!
//! Encoders of the BERT and XLM-RoBERTa families, operator set 17, which tract and onnxruntime both run. Inputs
//! `input_ids` and `attention_mask`, int64, texts x tokens; output `last_hidden_state`, f32, texts x tokens x hidden.
//! Token types are those of a single text and are built in. Padding must stand on the right: positions are counted from
//! the first token, which for a text without gaps is what transformers computes from the padding token too.

mod config;
mod format;
mod graph;
mod proto;
mod safetensors;

#[cfg(feature = "encoder")]
pub(super) use closeread_kernels::Activation;
pub(super) use config::Config;
#[cfg(feature = "encoder")]
pub(super) use safetensors::Weights;

pub use format::{ConvertError, WeightFormat};

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

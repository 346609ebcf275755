//! Embedding models on the processor, in a worker of the page.

use crate::error::as_js;
#[cfg(feature = "embed")]
use crate::error::usage;
use crate::role::role_named;
#[cfg(feature = "embed")]
use closeread_embed::encoder::{BertBackend, EncoderOptions, Precision, reads};
#[cfg(feature = "tract")]
use closeread_embed::tract::TractBackend;
use closeread_embed::{self as embed, Backend, EmbedError, ModelSpec};
use wasm_bindgen::prelude::*;

/// An embedding model, computed on the processor.
#[wasm_bindgen]
pub struct EmbeddingModel {
    encoder: embed::EmbeddingModel<Box<dyn Backend>>,
    arithmetic: String,
}

#[cfg(feature = "embed")]
#[wasm_bindgen]
impl EmbeddingModel {
    /// Loads a model of the BERT family for closeread's own encoder: the text of its `model.toml`, the bytes of its
    /// `tokenizer.json` and of a `model.onnx` that closeread wrote. `precision` is `f32` or `int16`; without it the faster one.
    ///
    /// # Errors
    /// A file that is damaged or from elsewhere, an unknown precision.
    #[wasm_bindgen(constructor)]
    pub fn new(
        model_toml: &str,
        tokenizer_json: &[u8],
        onnx: &[u8],
        precision: Option<String>,
    ) -> Result<EmbeddingModel, JsValue> {
        let precision = match precision.as_deref() {
            None => None,
            Some("f32") => Some(Precision::F32),
            Some("int16") => Some(Precision::Int16),
            Some(other) => return Err(usage(&format!("unknown precision `{other}`: expected f32 or int16"))),
        };
        Self::load(model_toml, tokenizer_json, |spec| {
            let options = EncoderOptions { precision, ..EncoderOptions::default() };
            let backend = BertBackend::from_onnx(spec, onnx, options)?;
            let arithmetic = format!("{} {}", backend.instructions().name(), backend.precision().name());
            Ok((Box::new(backend), arithmetic))
        })
    }

    /// Whether closeread wrote this `model.onnx`, so that the constructor can read it; `byTract` reads any.
    pub fn reads(onnx: &[u8]) -> bool {
        reads(onnx)
    }
}

#[cfg(feature = "tract")]
#[wasm_bindgen]
impl EmbeddingModel {
    /// Loads any ONNX encoder for tract: the text of its `model.toml`, the bytes of its `tokenizer.json` and of its
    /// `model.onnx`, whose inputs are `input_ids`, `attention_mask` and, if it has them, `token_type_ids`, and whose first
    /// output are the last hidden states.
    ///
    /// # Errors
    /// A file that cannot be read, or a graph with other inputs.
    #[wasm_bindgen(js_name = byTract)]
    pub fn by_tract(model_toml: &str, tokenizer_json: &[u8], onnx: &[u8]) -> Result<EmbeddingModel, JsValue> {
        Self::load(model_toml, tokenizer_json, |spec| {
            Ok((Box::new(TractBackend::new(spec, onnx)?), "tract f32".to_owned()))
        })
    }
}

#[wasm_bindgen]
impl EmbeddingModel {
    /// One vector a text, one after another; `role` is `query` or `passage`.
    ///
    /// # Errors
    /// An unknown role, or a text that cannot be embedded.
    pub fn embed(&self, role: &str, texts: Vec<String>) -> Result<Vec<f32>, JsValue> {
        let role = role_named(role)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let embedded = self.encoder.encode(role, &texts).map_err(|error| embed_error(&error))?;
        Ok(embedded.vectors.into_values())
    }

    /// Name of the model.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.encoder.spec().name.clone()
    }

    /// Numbers in a vector.
    #[wasm_bindgen(getter)]
    pub fn dimension(&self) -> usize {
        self.encoder.spec().dimension
    }

    /// What computes it: instructions and numbers, e.g. `simd128 int16`, or `tract f32`.
    #[wasm_bindgen(getter)]
    pub fn arithmetic(&self) -> String {
        self.arithmetic.clone()
    }
}

impl EmbeddingModel {
    /// `backend` makes what computes the described model, and says what it computes in.
    fn load(
        model_toml: &str,
        tokenizer_json: &[u8],
        backend: impl FnOnce(&ModelSpec) -> Result<(Box<dyn Backend>, String), EmbedError>,
    ) -> Result<Self, JsValue> {
        let load = || {
            let spec = ModelSpec::from_toml("model.toml", model_toml)?;
            let (backend, arithmetic) = backend(&spec)?;
            Ok(Self { encoder: embed::EmbeddingModel::new(spec, tokenizer_json, backend)?, arithmetic })
        };
        load().map_err(|error| embed_error(&error))
    }
}

fn embed_error(error: &EmbedError) -> JsValue {
    as_js("EmbedError", error)
}

//! Embedding models, in a worker of the page.

use crate::error::{as_js, usage};
use crate::role::role_named;
use closeread_core::embed::encoder::{EncoderBackend, EncoderOptions, Precision, reads};
use closeread_core::embed::{EmbedError, Encoder, ModelSpec};
use wasm_bindgen::prelude::*;

/// An embedding model of the BERT family, computed by closeread's own encoder.
#[wasm_bindgen]
pub struct EmbeddingModel(Encoder<EncoderBackend>);

#[wasm_bindgen]
impl EmbeddingModel {
    /// Loads a model: the text of its `model.toml`, the bytes of its `tokenizer.json` and of a `model.onnx` that closeread
    /// wrote. `precision` is `f32` or `int16`; without it the faster one.
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
        let load = || {
            let spec = ModelSpec::from_toml("model.toml", model_toml)?;
            let options = EncoderOptions { precision, instructions: None };
            let backend = EncoderBackend::from_onnx(&spec, onnx, options)?;
            Encoder::new(spec, tokenizer_json, backend)
        };
        load().map(Self).map_err(|error| embed_error(&error))
    }

    /// Whether closeread wrote this `model.onnx`, so that the constructor can read it; `TractEmbeddingModel` reads any.
    pub fn reads(onnx: &[u8]) -> bool {
        reads(onnx)
    }

    /// One vector a text, one after another; `role` is `query` or `passage`.
    ///
    /// # Errors
    /// An unknown role, or a text that cannot be embedded.
    pub fn embed(&self, role: &str, texts: Vec<String>) -> Result<Vec<f32>, JsValue> {
        let role = role_named(role)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let embedded = self.0.encode(role, &texts).map_err(|error| embed_error(&error))?;
        Ok(embedded.vectors.into_values())
    }

    /// Name of the model.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.0.spec().name.clone()
    }

    /// Numbers in a vector.
    #[wasm_bindgen(getter)]
    pub fn dimension(&self) -> usize {
        self.0.spec().dimension
    }

    /// What computes it: instructions and numbers, e.g. `simd128 int16`.
    #[wasm_bindgen(getter)]
    pub fn arithmetic(&self) -> String {
        let backend = self.0.backend();
        format!("{} {}", backend.instructions().name(), backend.precision().name())
    }
}

fn embed_error(error: &EmbedError) -> JsValue {
    as_js("EmbedError", error)
}

//! Any ONNX encoder, in a worker of the page.

use crate::error::as_js;
use crate::role::role_named;
use closeread_core::embed::tract::TractBackend;
use closeread_core::embed::{EmbedError, Encoder, ModelSpec};
use wasm_bindgen::prelude::*;

/// An embedding model of any ONNX file, computed by tract.
#[wasm_bindgen]
pub struct TractEmbeddingModel(Encoder<TractBackend>);

#[wasm_bindgen]
impl TractEmbeddingModel {
    /// Loads a model: the text of its `model.toml`, the bytes of its `tokenizer.json` and of its `model.onnx`, whose inputs
    /// are `input_ids`, `attention_mask` and, if it has them, `token_type_ids`, and whose first output are the last hidden
    /// states.
    ///
    /// # Errors
    /// A file that cannot be read, or a graph with other inputs.
    #[wasm_bindgen(constructor)]
    pub fn new(model_toml: &str, tokenizer_json: &[u8], onnx: &[u8]) -> Result<TractEmbeddingModel, JsValue> {
        let load = || {
            let spec = ModelSpec::from_toml("model.toml", model_toml)?;
            let backend = TractBackend::new(&spec, onnx)?;
            Encoder::new(spec, tokenizer_json, backend)
        };
        load().map(Self).map_err(|error| embed_error(&error))
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

    /// What computes it: `tract f32`.
    #[wasm_bindgen(getter)]
    pub fn arithmetic(&self) -> String {
        "tract f32".to_owned()
    }
}

fn embed_error(error: &EmbedError) -> JsValue {
    as_js("EmbedError", error)
}

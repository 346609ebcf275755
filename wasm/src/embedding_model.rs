//! Embedding models in a worker of the page, on the processor or by WebGPU.

use crate::backend::AnyBackend;
use crate::error::as_js;
#[cfg(feature = "embed")]
use crate::error::usage;
use crate::role::role_named;
#[cfg(feature = "embed")]
use closeread_embed::encoder::{Precision, reads};
use closeread_embed::{self as embed, EmbedError, ModelSpec};
#[cfg(feature = "embed")]
use closeread_gpu::Wanted;
#[cfg(feature = "embed")]
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

/// An embedding model, ready for texts.
#[wasm_bindgen]
pub struct EmbeddingModel {
    model: embed::EmbeddingModel<AnyBackend>,
    /// Whether the browser has an adapter that may be used, where WebGPU was asked for.
    #[cfg_attr(not(feature = "embed"), allow(dead_code, reason = "tract asks for none"))]
    has_adapter: bool,
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
        let load = || {
            let spec = described(model_toml)?;
            let backend = AnyBackend::encoder(&spec, onnx, precision)?;
            Self::of(spec, tokenizer_json, backend, false)
        };
        load().map_err(|error| embed_error(&error))
    }

    /// Loads the same files onto the browser's graphics processor. With `software` an adapter that computes on the processor
    /// will do. Where there is none, or once it fails, the encoder computes and `trouble` says why.
    ///
    /// # Errors
    /// A file that is damaged or from elsewhere.
    #[wasm_bindgen(js_name = byWebGpu)]
    pub async fn by_web_gpu(
        model_toml: String,
        tokenizer_json: Vec<u8>,
        onnx: Uint8Array,
        software: bool,
    ) -> Result<EmbeddingModel, JsValue> {
        let wanted = if software { Wanted::Any } else { Wanted::Hardware };
        let load = async {
            let spec = described(&model_toml)?;
            let (backend, has_adapter) = AnyBackend::gpu(&spec, onnx, wanted).await?;
            Self::of(spec, &tokenizer_json, backend, has_adapter)
        };
        load.await.map_err(|error| embed_error(&error))
    }

    /// Returns whether closeread wrote this `model.onnx`, so that the constructor can read it; `byTract` reads any.
    pub fn reads(onnx: &[u8]) -> bool {
        reads(onnx)
    }

    /// Returns why WebGPU was asked for and does not compute: a `NoAdapterError` where the browser has no adapter that
    /// may be used, a `GpuError` where it has one that failed or was lost.
    #[wasm_bindgen(getter, unchecked_return_type = "Error | undefined")]
    pub fn trouble(&self) -> JsValue {
        let AnyBackend::Gpu(both) = self.model.backend() else { return JsValue::UNDEFINED };
        let name = if self.has_adapter { "GpuError" } else { "NoAdapterError" };
        both.reason().map_or(JsValue::UNDEFINED, |reason| as_js(name, &reason))
    }

    /// Gives the graphics processor back at once, if there is one; the encoder goes on.
    pub fn release(&self) {
        if let AnyBackend::Gpu(both) = self.model.backend()
            && let Some(gpu) = both.first()
        {
            gpu.release();
        }
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
        let load = || {
            let spec = described(model_toml)?;
            let backend = AnyBackend::tract(&spec, onnx)?;
            Self::of(spec, tokenizer_json, backend, false)
        };
        load().map_err(|error| embed_error(&error))
    }
}

#[wasm_bindgen]
impl EmbeddingModel {
    /// Returns one vector a text, one after another; `role` is `query` or `passage`.
    ///
    /// # Errors
    /// An unknown role, or a text that cannot be embedded.
    pub async fn embed(&self, role: String, texts: Vec<String>) -> Result<Vec<f32>, JsValue> {
        let role = role_named(&role)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let embedded = self.model.encode(role, &texts).await.map_err(|error| embed_error(&error))?;
        Ok(embedded.vectors.into_values())
    }

    /// Returns the name of the model.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.model.spec().name.clone()
    }

    /// Returns the number of values in a vector.
    #[wasm_bindgen(getter)]
    pub fn dimension(&self) -> usize {
        self.model.spec().dimension
    }

    /// Returns what computes the model now: instructions and numbers, e.g. `simd128 int16`, `webgpu f32` or `tract
    /// f32`.
    #[wasm_bindgen(getter)]
    pub fn arithmetic(&self) -> String {
        self.model.backend().arithmetic()
    }
}

impl EmbeddingModel {
    fn of(spec: ModelSpec, tokenizer_json: &[u8], backend: AnyBackend, has_adapter: bool) -> Result<Self, EmbedError> {
        Ok(Self { model: embed::EmbeddingModel::new(spec, tokenizer_json, backend)?, has_adapter })
    }
}

fn described(model_toml: &str) -> Result<ModelSpec, EmbedError> {
    ModelSpec::from_toml("model.toml", model_toml)
}

fn embed_error(error: &EmbedError) -> JsValue {
    as_js("EmbedError", error)
}

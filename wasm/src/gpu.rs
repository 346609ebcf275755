//! Embedding models on a graphics processor, in a worker of the page.

use crate::error::as_js;
use crate::role::role_named;
use closeread_embed::{EmbeddingModel, ModelSpec};
use closeread_gpu::{Adapter, GpuError, GpuModel, Wanted};
use wasm_bindgen::prelude::*;

/// An embedding model of the BERT family, computed by WebGPU.
#[wasm_bindgen]
pub struct GpuEmbeddingModel(EmbeddingModel<GpuModel>);

#[wasm_bindgen]
impl GpuEmbeddingModel {
    /// Loads a model onto the browser's adapter: the text of its `model.toml`, the bytes of its `tokenizer.json` and of a
    /// `model.onnx` that closeread wrote. With `software` an adapter that computes on the processor will do.
    ///
    /// # Errors
    /// `NoAdapterError` where there is no adapter that may be used, `GpuError` where there is one and it fails: either way
    /// `EmbeddingModel` may succeed. `EmbedError` for a file that is damaged or from elsewhere.
    pub async fn load(
        model_toml: String,
        tokenizer_json: Vec<u8>,
        onnx: Vec<u8>,
        software: bool,
    ) -> Result<GpuEmbeddingModel, JsValue> {
        let wanted = if software { Wanted::Any } else { Wanted::Hardware };
        let load = async {
            let adapter = Adapter::find(&wanted).await?;
            let spec = ModelSpec::from_toml("model.toml", &model_toml)?;
            let model = GpuModel::load(&adapter, &spec, &onnx, None).await?;
            Ok(EmbeddingModel::new(spec, &tokenizer_json, model)?)
        };
        load.await.map(Self).map_err(|error| gpu_error(&error))
    }

    /// One vector a text, one after another; `role` is `query` or `passage`.
    ///
    /// # Errors
    /// An unknown role, a text that cannot be embedded, and `GpuError` when the device fails or is lost: nothing can be asked
    /// of it any more.
    pub async fn embed(&self, role: String, texts: Vec<String>) -> Result<Vec<f32>, JsValue> {
        let role = role_named(&role)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let embedded = self.0.encode_awaiting(role, &texts, GpuModel::plan, GpuModel::forward).await;
        embedded.map(|embedded| embedded.vectors.into_values()).map_err(|error| gpu_error(&error))
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

    /// What computes it: `webgpu f32`.
    #[wasm_bindgen(getter)]
    pub fn arithmetic(&self) -> String {
        "webgpu f32".to_owned()
    }

    /// Gives the device back at once; what is asked for afterwards fails.
    pub fn release(&self) {
        self.0.backend().release();
    }
}

fn gpu_error(error: &GpuError) -> JsValue {
    let name = match error {
        GpuError::NoAdapter(_) => "NoAdapterError",
        GpuError::Embed(_) => "EmbedError",
        _ => "GpuError",
    };
    as_js(name, error)
}

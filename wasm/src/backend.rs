//! Backends that compute an embedding model in a worker of the page.

#[cfg(feature = "embed")]
use closeread_embed::Fallback;
#[cfg(feature = "embed")]
use closeread_embed::encoder::{BertBackend, EncoderOptions, Precision};
use closeread_embed::{Backend, EmbedError, ModelSpec, Unit, Vectors};
#[cfg(feature = "embed")]
use closeread_gpu::{Adapter, GpuError, GpuModel, Precision as GpuPrecision, Wanted};
#[cfg(feature = "tract")]
use closeread_tract::TractBackend;
#[cfg(feature = "embed")]
use js_sys::Uint8Array;

/// WebGPU, and the encoder once that fails.
#[cfg(feature = "embed")]
pub(crate) type GpuBackend = Fallback<GpuModel, BertBackend, Box<dyn Fn(&str) -> Result<BertBackend, EmbedError>>>;

/// One of the backends of this module.
#[allow(clippy::large_enum_variant, reason = "there is one for a model")]
pub(crate) enum AnyBackend {
    #[cfg(feature = "embed")]
    Encoder(BertBackend),
    #[cfg(feature = "embed")]
    Gpu(GpuBackend),
    #[cfg(feature = "tract")]
    Tract(TractBackend),
}

impl AnyBackend {
    #[cfg(feature = "embed")]
    pub(crate) fn encoder(spec: &ModelSpec, onnx: &[u8], precision: Option<Precision>) -> Result<Self, EmbedError> {
        let options = EncoderOptions { precision, ..EncoderOptions::default() };
        BertBackend::from_onnx(spec, onnx, options).map(Self::Encoder)
    }

    #[cfg(feature = "tract")]
    pub(crate) fn tract(spec: &ModelSpec, onnx: &[u8]) -> Result<Self, EmbedError> {
        TractBackend::new(spec, onnx).map(Self::Tract)
    }

    /// Loads a model onto the browser's adapter; and says whether it has one. The file stays where JavaScript has it: the
    /// encoder is loaded from it when WebGPU fails.
    #[cfg(feature = "embed")]
    pub(crate) async fn gpu(spec: &ModelSpec, onnx: Uint8Array, wanted: Wanted) -> Result<(Self, bool), EmbedError> {
        let load =
            async { GpuModel::load(&Adapter::find(&wanted).await?, spec, &onnx.to_vec(), GpuPrecision::F32).await };
        let (first, has_adapter) = match load.await {
            Ok(model) => (Ok(model), true),
            Err(GpuError::Embed(error)) => return Err(error),
            Err(error) => (Err(error.to_string()), !matches!(error, GpuError::NoAdapter(_))),
        };
        let spec = spec.clone();
        let load = move |_: &str| BertBackend::from_onnx(&spec, &onnx.to_vec(), EncoderOptions::default());
        Ok((Self::Gpu(GpuBackend::new(first, Box::new(load))?), has_adapter))
    }

    /// Returns the instructions and numbers that compute.
    pub(crate) fn arithmetic(&self) -> String {
        #[cfg(feature = "embed")]
        let of = |encoder: &BertBackend| format!("{} {}", encoder.instructions().name(), encoder.precision().name());
        match self {
            #[cfg(feature = "embed")]
            Self::Encoder(encoder) => of(encoder),
            #[cfg(feature = "embed")]
            Self::Gpu(both) => both.second().map_or_else(|| "webgpu f32".to_owned(), of),
            #[cfg(feature = "tract")]
            Self::Tract(_) => "tract f32".to_owned(),
        }
    }
}

impl Backend for AnyBackend {
    fn plan(&self, lengths: &[usize]) -> Vec<Unit> {
        match self {
            #[cfg(feature = "embed")]
            Self::Encoder(backend) => backend.plan(lengths),
            #[cfg(feature = "embed")]
            Self::Gpu(backend) => backend.plan(lengths),
            #[cfg(feature = "tract")]
            Self::Tract(backend) => backend.plan(lengths),
        }
    }

    async fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError> {
        match self {
            #[cfg(feature = "embed")]
            Self::Encoder(backend) => backend.forward(batch).await,
            #[cfg(feature = "embed")]
            Self::Gpu(backend) => backend.forward(batch).await,
            #[cfg(feature = "tract")]
            Self::Tract(backend) => backend.forward(batch).await,
        }
    }
}

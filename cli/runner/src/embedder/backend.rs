//! Backends of embedding models: which one computes, and why.

#[cfg(feature = "gpu")]
use super::gpu::{self, GpuBackend};
use crate::models::{Installed, ONNX};
use anyhow::Context;
use closeread_embed::encoder;
use closeread_embed::encoder::{BertBackend, EncoderOptions, Instructions, Precision};
use closeread_embed::{Backend, EmbedError, Unit, Vectors};
#[cfg(feature = "gpu")]
use closeread_gpu::Adapter;
#[cfg(feature = "tract")]
use closeread_tract::TractBackend;
use serde::{Deserialize, Serialize};
#[cfg(feature = "gpu")]
use tracing::info;

/// The backends that `--backend` chooses from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackendName {
    /// The reference, for any ONNX model.
    Tract,
    /// Our own encoder, in the fastest precision of this processor.
    Encoder,
    /// Our own encoder, in f32.
    EncoderF32,
    /// Our own encoder, mostly in 8-bit integers.
    EncoderInt8,
    /// Our own encoder on a graphics processor, in f32; on the processor where there is none.
    Gpu,
    /// The same in half precision: faster, vectors off by about a ten-millionth.
    GpuF16,
}

impl BackendName {
    /// The option that a backend's name in a manifest came from: without the precision that it computes in by default.
    pub fn recorded(name: &str) -> &str {
        match name {
            "gpu-f32" => "gpu",
            name => name.strip_suffix("-int16").unwrap_or(name),
        }
    }
}

/// A backend and what is computed in, as far as it can change a vector.
#[derive(Debug, Clone)]
pub(super) enum Choice {
    #[cfg(feature = "tract")]
    Tract,
    Encoder(Precision),
    #[cfg(feature = "gpu")]
    Gpu(Adapter, closeread_gpu::Precision),
}

impl Choice {
    /// The backend asked for; otherwise our own where it reads the model, tract where it does not.
    ///
    /// # Errors
    /// If this build has no such backend.
    pub(super) fn new(asked: Option<BackendName>, onnx: &[u8]) -> anyhow::Result<Self> {
        match asked {
            Some(BackendName::EncoderF32) => Ok(Self::Encoder(Precision::F32)),
            Some(BackendName::EncoderInt8) => Ok(Self::Encoder(Precision::Int8)),
            Some(BackendName::Encoder) => Ok(Self::Encoder(Precision::fastest(Instructions::fastest()))),
            #[cfg(feature = "gpu")]
            Some(BackendName::Gpu) => Ok(Self::on_gpu(closeread_gpu::Precision::F32)),
            #[cfg(feature = "gpu")]
            Some(BackendName::GpuF16) => Ok(Self::on_gpu(closeread_gpu::Precision::F16)),
            #[cfg(not(feature = "gpu"))]
            Some(BackendName::Gpu | BackendName::GpuF16) => {
                anyhow::bail!("{}; or leave out --backend", crate::light::lacking("graphics processors", "gpu"))
            }
            None if encoder::reads(onnx) => Ok(Self::Encoder(Precision::fastest(Instructions::fastest()))),
            #[cfg(feature = "tract")]
            Some(BackendName::Tract) | None => Ok(Self::Tract),
            #[cfg(not(feature = "tract"))]
            Some(BackendName::Tract) => {
                anyhow::bail!("{}; or leave out --backend", crate::light::lacking("tract", "tract"))
            }
            #[cfg(not(feature = "tract"))]
            None => {
                let tract = "tract, which computes embedding models of other families than BERT's";
                anyhow::bail!("{}; or choose a model of that family", crate::light::lacking(tract, "tract"))
            }
        }
    }

    /// The graphics processor, in f32 where it has no half precision; the encoder where there is none.
    #[cfg(feature = "gpu")]
    fn on_gpu(asked: closeread_gpu::Precision) -> Self {
        let Some(adapter) = gpu::adapter() else {
            return Self::Encoder(Precision::fastest(Instructions::fastest()));
        };
        let precision = adapter.precision(asked);
        if precision != asked {
            info!("--backend gpu-f16: {} has no half precision, and computes in f32", adapter.name());
        }
        Self::Gpu(adapter, precision)
    }

    /// Returns the backend's name in manifests, with the precision.
    pub(super) fn name(&self) -> &'static str {
        match self {
            #[cfg(feature = "tract")]
            Self::Tract => "tract",
            Self::Encoder(Precision::F32) => "encoder-f32",
            Self::Encoder(Precision::Int16) => "encoder-int16",
            Self::Encoder(Precision::Int8) => "encoder-int8",
            #[cfg(feature = "gpu")]
            Self::Gpu(_, closeread_gpu::Precision::F32) => "gpu-f32",
            #[cfg(feature = "gpu")]
            Self::Gpu(_, closeread_gpu::Precision::F16) => "gpu-f16",
        }
    }

    /// Returns what a vector depends on besides the backend and the model: how 8-bit integers are scaled.
    pub(super) fn calibration(&self, model: &Installed) -> anyhow::Result<Option<Vec<u8>>> {
        match self {
            Self::Encoder(Precision::Int8) => model.calibration_file().map(Some),
            _ => Ok(None),
        }
    }

    /// The adapter that computes, by its name.
    pub(super) fn adapter(&self) -> Option<&str> {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(adapter, _) => Some(adapter.name()),
            _ => None,
        }
    }

    /// Loads the model.
    pub(super) fn load(&self, model: &Installed) -> anyhow::Result<AnyBackend> {
        let (spec, onnx) = (&model.spec, model.file(ONNX)?);
        let loaded = match self {
            #[cfg(feature = "tract")]
            Self::Tract => TractBackend::new(spec, &onnx).map(AnyBackend::Tract),
            Self::Encoder(precision) => {
                let calibration = (*precision == Precision::Int8).then(|| model.calibration()).transpose()?;
                let calibration = calibration.as_ref();
                let options = EncoderOptions { precision: Some(*precision), instructions: None, calibration };
                BertBackend::from_onnx(spec, &onnx, options).map(AnyBackend::Encoder)
            }
            #[cfg(feature = "gpu")]
            Self::Gpu(adapter, precision) => gpu::load(model, &onnx, adapter, *precision).map(AnyBackend::Gpu),
        };
        loaded.with_context(|| format!("backend `{}`", self.name()))
    }
}

/// A backend, loaded.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one for a model")]
pub(super) enum AnyBackend {
    #[cfg(feature = "tract")]
    Tract(TractBackend),
    Encoder(BertBackend),
    #[cfg(feature = "gpu")]
    Gpu(GpuBackend),
}

impl Backend for AnyBackend {
    fn plan(&self, lengths: &[usize]) -> Vec<Unit> {
        match self {
            #[cfg(feature = "tract")]
            Self::Tract(backend) => backend.plan(lengths),
            Self::Encoder(backend) => backend.plan(lengths),
            #[cfg(feature = "gpu")]
            Self::Gpu(backend) => backend.plan(lengths),
        }
    }

    async fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError> {
        match self {
            #[cfg(feature = "tract")]
            Self::Tract(backend) => backend.forward(batch).await,
            Self::Encoder(backend) => backend.forward(batch).await,
            #[cfg(feature = "gpu")]
            Self::Gpu(backend) => backend.forward(batch).await,
        }
    }
}

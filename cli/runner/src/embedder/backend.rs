//! What computes an embedding model: which backend, and why.

#[cfg(feature = "gpu")]
use super::gpu::{self, GpuBackend};
use crate::models::{Installed, ONNX};
use anyhow::Context;
#[cfg(feature = "encoder")]
use closeread_embed::encoder;
#[cfg(feature = "encoder")]
use closeread_embed::encoder::{BertBackend, EncoderOptions, Instructions, Precision};
use closeread_embed::tract::TractBackend;
use closeread_embed::{Backend, EmbedError, Unit, Vectors};
#[cfg(feature = "gpu")]
use closeread_gpu::Adapter;
use serde::{Deserialize, Serialize};

/// What `--backend` chooses from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackendName {
    /// The reference, for any ONNX model.
    Tract,
    /// Our own, in the fastest precision of this processor.
    Encoder,
    /// Our own, in f32.
    EncoderF32,
    /// Our own, mostly in 8-bit integers.
    EncoderInt8,
    /// Our own on a graphics processor, in f32; the encoder where there is none.
    Gpu,
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
    Tract,
    #[cfg(feature = "encoder")]
    Encoder(Precision),
    #[cfg(feature = "gpu")]
    Gpu(Adapter),
}

impl Choice {
    /// The backend asked for; otherwise our own where it reads the model, tract where it does not.
    pub(super) fn new(asked: Option<BackendName>, onnx: &[u8]) -> anyhow::Result<Self> {
        match asked {
            Some(BackendName::Tract) => Ok(Self::Tract),
            #[cfg(feature = "encoder")]
            Some(BackendName::EncoderF32) => Ok(Self::Encoder(Precision::F32)),
            #[cfg(feature = "encoder")]
            Some(BackendName::EncoderInt8) => Ok(Self::Encoder(Precision::Int8)),
            #[cfg(feature = "encoder")]
            Some(BackendName::Encoder) => Ok(Self::Encoder(Precision::fastest(Instructions::fastest()))),
            #[cfg(feature = "gpu")]
            Some(BackendName::Gpu) => {
                let encoder = || Self::Encoder(Precision::fastest(Instructions::fastest()));
                Ok(gpu::adapter().map_or_else(encoder, Self::Gpu))
            }
            #[cfg(all(feature = "encoder", not(feature = "gpu")))]
            Some(BackendName::Gpu) => {
                anyhow::bail!("{}; or leave out --backend", crate::light::lacking("graphics processors", "gpu"))
            }
            #[cfg(feature = "encoder")]
            None if encoder::reads(onnx) => Ok(Self::Encoder(Precision::fastest(Instructions::fastest()))),
            #[cfg(not(feature = "encoder"))]
            Some(_) => {
                let _ = onnx;
                anyhow::bail!("{}; or say --backend tract", crate::light::lacking("its encoder", "encoder"))
            }
            None => Ok(Self::Tract),
        }
    }

    /// Its name in manifests, with the precision.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Tract => "tract",
            #[cfg(feature = "encoder")]
            Self::Encoder(Precision::F32) => "encoder-f32",
            #[cfg(feature = "encoder")]
            Self::Encoder(Precision::Int16) => "encoder-int16",
            #[cfg(feature = "encoder")]
            Self::Encoder(Precision::Int8) => "encoder-int8",
            #[cfg(feature = "gpu")]
            Self::Gpu(_) => "gpu-f32",
        }
    }

    /// What a vector depends on besides the backend and the model: how 8-bit integers are scaled.
    #[cfg_attr(not(feature = "encoder"), expect(unused_variables, reason = "tract needs none"))]
    pub(super) fn calibration(&self, model: &Installed) -> anyhow::Result<Option<Vec<u8>>> {
        match self {
            #[cfg(feature = "encoder")]
            Self::Encoder(Precision::Int8) => model.calibration_file().map(Some),
            _ => Ok(None),
        }
    }

    /// The adapter that computes, by its name.
    pub(super) fn adapter(&self) -> Option<&str> {
        match self {
            #[cfg(feature = "gpu")]
            Self::Gpu(adapter) => Some(adapter.name()),
            _ => None,
        }
    }

    /// Loads the model.
    pub(super) fn load(&self, model: &Installed) -> anyhow::Result<AnyBackend> {
        let (spec, onnx) = (&model.spec, model.file(ONNX)?);
        let loaded = match self {
            Self::Tract => TractBackend::new(spec, &onnx).map(AnyBackend::Tract),
            #[cfg(feature = "encoder")]
            Self::Encoder(precision) => {
                let calibration = (*precision == Precision::Int8).then(|| model.calibration()).transpose()?;
                let calibration = calibration.as_ref();
                let options = EncoderOptions { precision: Some(*precision), instructions: None, calibration };
                BertBackend::from_onnx(spec, &onnx, options).map(AnyBackend::Encoder)
            }
            #[cfg(feature = "gpu")]
            Self::Gpu(adapter) => gpu::load(model, &onnx, adapter).map(AnyBackend::Gpu),
        };
        loaded.with_context(|| format!("backend `{}`", self.name()))
    }
}

/// One of the backends, loaded.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one for a model")]
pub(super) enum AnyBackend {
    Tract(TractBackend),
    #[cfg(feature = "encoder")]
    Encoder(BertBackend),
    #[cfg(feature = "gpu")]
    Gpu(GpuBackend),
}

impl Backend for AnyBackend {
    fn plan(&self, lengths: &[usize]) -> Vec<Unit> {
        match self {
            Self::Tract(backend) => backend.plan(lengths),
            #[cfg(feature = "encoder")]
            Self::Encoder(backend) => backend.plan(lengths),
            #[cfg(feature = "gpu")]
            Self::Gpu(backend) => backend.plan(lengths),
        }
    }

    async fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError> {
        match self {
            Self::Tract(backend) => backend.forward(batch).await,
            #[cfg(feature = "encoder")]
            Self::Encoder(backend) => backend.forward(batch).await,
            #[cfg(feature = "gpu")]
            Self::Gpu(backend) => backend.forward(batch).await,
        }
    }
}

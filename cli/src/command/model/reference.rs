//! Reference backend, which computes a model to see whether it is sound: tract, and the encoder in f32 in a build
//! without it.

use anyhow::Result;
use closeread_embed::{Backend, ModelSpec};

/// Loads the model.
#[cfg(feature = "tract")]
pub(super) fn reference(spec: &ModelSpec, onnx: &[u8]) -> Result<impl Backend + use<>> {
    Ok(closeread_tract::TractBackend::new(spec, onnx)?)
}

/// Loads the model.
#[cfg(not(feature = "tract"))]
pub(super) fn reference(spec: &ModelSpec, onnx: &[u8]) -> Result<impl Backend + use<>> {
    use closeread_embed::encoder::{BertBackend, EncoderOptions, Precision, reads};
    anyhow::ensure!(
        reads(onnx),
        closeread_runner::light::lacking(
            "tract, which computes embedding models of other families than BERT's",
            "tract"
        )
    );
    let options = EncoderOptions { precision: Some(Precision::F32), instructions: None, calibration: None };
    Ok(BertBackend::from_onnx(spec, onnx, options)?)
}

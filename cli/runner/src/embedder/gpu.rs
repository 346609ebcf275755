//! A model on a graphics processor, and the encoder that goes on when that fails.

use crate::models::{Installed, ONNX};
use closeread_embed::encoder::{BertBackend, EncoderOptions, Precision};
use closeread_embed::{EmbedError, Fallback};
use closeread_gpu::{Adapter, GpuError, GpuModel, Wanted};
use std::sync::Once;
use tracing::info;

/// Names the adapter, and is the only way to one in software.
const VARIABLE: &str = "CLOSEREAD_GPU";

/// Finds the adapter that computes.
pub(super) fn find() -> Result<Adapter, GpuError> {
    let named = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    pollster::block_on(Adapter::find(&named.map_or(Wanted::Hardware, Wanted::Named)))
}

/// The adapter that computes, or `None` and the reason on stderr.
pub(super) fn adapter() -> Option<Adapter> {
    static SAID: Once = Once::new();
    let found = find();
    if let Err(error) = &found {
        SAID.call_once(|| info!("--backend gpu: {error} ({VARIABLE}=NAME asks for one by name); the encoder computes"));
    }
    found.ok()
}

/// A model on a graphics processor; when that fails, the encoder goes on.
pub(super) type GpuBackend = Fallback<GpuModel, BertBackend>;

/// Loads a model onto the adapter; where the device refuses it, into the encoder for good.
pub(super) fn load(
    model: &Installed,
    onnx: &[u8],
    adapter: &Adapter,
    precision: closeread_gpu::Precision,
) -> Result<GpuBackend, EmbedError> {
    let first = match pollster::block_on(GpuModel::load(adapter, &model.spec, onnx, precision)) {
        Err(GpuError::Embed(error)) => return Err(error),
        loaded => loaded.map_err(|error| error.to_string()),
    };
    let model = model.clone();
    Fallback::new(first, Box::new(move |reason| encoder(&model, reason)))
}

/// The encoder in the precision of the graphics processor, with the reason on stderr.
fn encoder(model: &Installed, reason: &str) -> Result<BertBackend, EmbedError> {
    info!("{reason}; the encoder goes on in f32, nothing is lost");
    let options = EncoderOptions { precision: Some(Precision::F32), ..EncoderOptions::default() };
    let onnx = model.file(ONNX).map_err(|error| EmbedError::Load(format!("{error:#}")))?;
    BertBackend::from_onnx(&model.spec, &onnx, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_embed::{EmbeddingModel, Role, Vectors};
    use pollster::block_on;

    #[test]
    #[ignore = "needs a graphics processor or the Vulkan driver lavapipe"]
    fn needs_vulkan_the_encoder_finishes_what_a_lost_device_began() {
        let adapter = block_on(Adapter::find(&Wanted::Any)).expect("there is an adapter, one in software at least");
        let shipped = Installed::shipped().expect("shipped");
        let tokenizer = shipped.file(crate::models::TOKENIZER).expect("shipped");
        let backend = load(&shipped, &shipped.file(ONNX).expect("shipped"), &adapter, closeread_gpu::Precision::F32)
            .expect("loads");
        let encoder = EmbeddingModel::new(shipped.spec.clone(), &tokenizer, backend).expect("loads");
        let texts = ["Ana lit the lamp.", "The boats stayed in the harbour.", "Nobody paid the ferryman."];
        let query = block_on(encoder.encode(Role::Query, &["Who was not paid?"])).expect("embeds").vectors;
        let before = block_on(encoder.encode(Role::Passage, &texts)).expect("embeds").vectors;
        assert_eq!(encoder.backend().reason(), None, "the graphics processor computed");
        encoder.backend().first().expect("the device takes the model that ships").release();
        let after = block_on(encoder.encode(Role::Passage, &texts)).expect("the encoder goes on").vectors;
        assert!(encoder.backend().reason().is_some_and(|reason| reason.contains("was lost")));
        let scores = |vectors: &Vectors| -> Vec<f32> {
            let dot = |row: &[f32]| row.iter().zip(query.row(0)).map(|(a, b)| a * b).sum();
            vectors.rows().map(dot).collect()
        };
        let (before, after) = (scores(&before), scores(&after));
        let best = |scores: &[f32]| (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        assert_eq!((best(&before), best(&after)), (Some(2), Some(2)));
        assert!(before.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-5), "{before:?} {after:?}");
    }
}

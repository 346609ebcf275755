//! A model on a graphics processor, and the encoder that goes on when that fails.

use super::backend::AnyBackend;
use crate::models::{Installed, ONNX};
use anyhow::Context;
use closeread_embed::encoder::{BertBackend, EncoderOptions, Precision};
use closeread_embed::{Backend, EmbedError, Unit, Vectors};
use closeread_gpu::{Adapter, GpuError, GpuModel, Wanted};
use std::sync::{Mutex, Once, OnceLock, PoisonError};
use tracing::info;

/// Names the adapter, and is the only way to one in software.
const VARIABLE: &str = "CLOSEREAD_GPU";

/// The adapter that computes, or `None` and the reason on stderr.
pub(super) fn adapter() -> Option<Adapter> {
    static SAID: Once = Once::new();
    let named = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    let wanted = named.map_or(Wanted::Hardware, Wanted::Named);
    let found = Adapter::find_now(&wanted);
    if let Err(error) = &found {
        SAID.call_once(|| info!("--backend gpu: {error} ({VARIABLE}=NAME asks for one by name); the encoder computes"));
    }
    found.ok()
}

/// A model on a graphics processor; when that fails, the encoder goes on.
#[derive(Debug)]
pub(super) struct WithStandIn {
    model: Installed,
    gpu: GpuModel,
    stand_in: OnceLock<BertBackend>,
    /// So that the stand-in is loaded once.
    loading: Mutex<()>,
}

impl WithStandIn {
    /// Loads the model onto the adapter; where the device refuses it, into the encoder for good.
    pub(super) fn load(model: &Installed, adapter: &Adapter) -> anyhow::Result<AnyBackend> {
        match GpuModel::load_now(adapter, &model.spec, &model.file(ONNX)?, None) {
            Ok(gpu) => {
                let both = Self { model: model.clone(), gpu, stand_in: OnceLock::new(), loading: Mutex::new(()) };
                Ok(AnyBackend::Gpu(both))
            }
            Err(error) if error.is_of_device() => Ok(AnyBackend::Encoder(stand_in(model, &error)?)),
            Err(error) => Err(error).context("backend `gpu-f32`"),
        }
    }

    /// The encoder from now on; loaded when it is first needed.
    fn replace(&self, reason: &GpuError) -> Result<&BertBackend, EmbedError> {
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(encoder) = self.stand_in.get() {
            return Ok(encoder);
        }
        let encoder = stand_in(&self.model, reason)?;
        Ok(self.stand_in.get_or_init(|| encoder))
    }
}

/// The encoder in the precision of the graphics processor, with the reason on stderr.
fn stand_in(model: &Installed, reason: &GpuError) -> Result<BertBackend, EmbedError> {
    info!("{reason}; the encoder goes on in f32, nothing is lost");
    let options = EncoderOptions { precision: Some(Precision::F32), ..EncoderOptions::default() };
    let onnx = model.file(ONNX).map_err(|error| EmbedError::Load(format!("{error:#}")))?;
    BertBackend::from_onnx(&model.spec, &onnx, options)
}

impl Backend for WithStandIn {
    fn plan(&self, lengths: &[usize]) -> Vec<Unit> {
        self.stand_in.get().map_or_else(|| self.gpu.plan(lengths), |encoder| encoder.plan(lengths))
    }

    fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError> {
        if let Some(encoder) = self.stand_in.get() {
            return encoder.forward(batch);
        }
        match self.gpu.forward_now(batch) {
            Ok(vectors) => Ok(vectors),
            Err(GpuError::Embed(error)) => Err(error),
            Err(error) => self.replace(&error)?.forward(batch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_embed::{EmbeddingModel, Role};

    #[test]
    #[ignore = "needs a graphics processor or the Vulkan driver lavapipe"]
    fn needs_vulkan_the_encoder_finishes_what_a_lost_device_began() {
        let adapter = Adapter::find_now(&Wanted::Any).expect("there is an adapter, one in software at least");
        let shipped = Installed::shipped().expect("shipped");
        let tokenizer = shipped.file(crate::models::TOKENIZER).expect("shipped");
        let AnyBackend::Gpu(backend) = WithStandIn::load(&shipped, &adapter).expect("loads") else {
            panic!("the device takes the model that ships");
        };
        let encoder = EmbeddingModel::new(shipped.spec.clone(), &tokenizer, backend).expect("loads");
        let texts = ["Ana lit the lamp.", "The boats stayed in the harbour.", "Nobody paid the ferryman."];
        let query = encoder.encode(Role::Query, &["Who was not paid?"]).expect("embeds").vectors;
        let before = encoder.encode(Role::Passage, &texts).expect("embeds").vectors;
        assert!(encoder.backend().stand_in.get().is_none(), "the graphics processor computed");
        encoder.backend().gpu.release();
        let after = encoder.encode(Role::Passage, &texts).expect("the encoder goes on").vectors;
        assert!(encoder.backend().stand_in.get().is_some());
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

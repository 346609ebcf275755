//! A model on a graphics processor, and the encoder that goes on when that fails.

use crate::models::{Installed, ONNX};
use anyhow::Context;
use closeread_core::embed::encoder::{EncoderBackend, EncoderOptions, Precision};
use closeread_core::embed::{Backend, EmbedError, Unit, Vectors};
use closeread_gpu::{Adapter, GpuError, GpuModel, Wanted};
use std::sync::{Mutex, Once, OnceLock, PoisonError};

/// Names the adapter, and is the only way to one in software.
const VARIABLE: &str = "CLOSEREAD_GPU";

/// The adapter that computes, or `None` and the reason on stderr.
pub(super) fn adapter() -> Option<Adapter> {
    static SAID: Once = Once::new();
    let named = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    let wanted = named.map_or(Wanted::Hardware, Wanted::Named);
    let found = Adapter::find_now(&wanted);
    if let Err(error) = &found {
        SAID.call_once(|| {
            eprintln!("--backend gpu: {error} ({VARIABLE}=NAME asks for one by name); the encoder computes")
        });
    }
    found.ok()
}

/// A model that is on a graphics processor as long as that works.
#[derive(Debug)]
pub(super) struct WithStandIn {
    model: Installed,
    gpu: Option<GpuModel>,
    stand_in: OnceLock<EncoderBackend>,
    /// So that the stand-in is loaded once.
    loading: Mutex<()>,
}

impl WithStandIn {
    pub(super) fn load(model: &Installed, adapter: &Adapter) -> anyhow::Result<Self> {
        let loaded = GpuModel::load_now(adapter, &model.spec, &model.file(ONNX)?, None);
        let (gpu, failed) = match loaded {
            Ok(gpu) => (Some(gpu), None),
            Err(error) if error.is_of_device() => (None, Some(error)),
            Err(error) => return Err(error).context("backend `gpu-f32`"),
        };
        let both = Self { model: model.clone(), gpu, stand_in: OnceLock::new(), loading: Mutex::new(()) };
        if let Some(error) = failed {
            both.replace(&error)?;
        }
        Ok(both)
    }

    /// The encoder, in the same precision; loaded when it is first needed, with the reason on stderr.
    fn replace(&self, reason: &GpuError) -> Result<&EncoderBackend, EmbedError> {
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(encoder) = self.stand_in.get() {
            return Ok(encoder);
        }
        eprintln!("{reason}; the encoder goes on in f32, nothing is lost");
        let options = EncoderOptions { precision: Some(Precision::F32), instructions: None };
        let onnx = self.model.file(ONNX).map_err(|error| EmbedError::Load(format!("{error:#}")))?;
        let encoder = EncoderBackend::from_onnx(&self.model.spec, &onnx, options)?;
        Ok(self.stand_in.get_or_init(|| encoder))
    }
}

impl Backend for WithStandIn {
    fn plan(&self, lengths: &[usize]) -> Vec<Unit> {
        match (&self.gpu, self.stand_in.get()) {
            (Some(gpu), None) => gpu.plan(lengths),
            (_, encoder) => encoder.map_or_else(Vec::new, |encoder| encoder.plan(lengths)),
        }
    }

    fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError> {
        match (&self.gpu, self.stand_in.get()) {
            (Some(gpu), None) => match gpu.forward_now(batch) {
                Ok(vectors) => Ok(vectors),
                Err(GpuError::Embed(error)) => Err(error),
                Err(error) => self.replace(&error)?.forward(batch),
            },
            (_, Some(encoder)) => encoder.forward(batch),
            (None, None) => {
                Err(EmbedError::Load("neither a graphics processor nor the encoder has the model".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_core::embed::{Encoder, Role};

    #[test]
    fn the_encoder_finishes_what_a_lost_device_began() {
        let Ok(adapter) = Adapter::find_now(&Wanted::Any) else {
            eprintln!("skipped: a device that is lost needs a Vulkan driver (mesa-vulkan-drivers)");
            return;
        };
        let shipped = Installed::shipped().expect("shipped");
        let tokenizer = shipped.file(crate::models::TOKENIZER).expect("shipped");
        let backend = WithStandIn::load(&shipped, &adapter).expect("loads");
        let encoder = Encoder::new(shipped.spec.clone(), &tokenizer, backend).expect("loads");
        let texts = ["Ana lit the lamp.", "The boats stayed in the harbour.", "Nobody paid the ferryman."];
        let query = encoder.encode(Role::Query, &["Who was not paid?"]).expect("embeds").vectors;
        let before = encoder.encode(Role::Passage, &texts).expect("embeds").vectors;
        assert!(encoder.backend().stand_in.get().is_none(), "the graphics processor computed");
        encoder.backend().gpu.as_ref().expect("loaded").release();
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

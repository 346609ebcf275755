//! A model of the BERT family as numbers: what an encoder of our own needs of its files.
//!
//! Read from the ONNX files that [`crate::onnx`] writes, or from the published `config.json` and
//! `model.safetensors`. Whoever computes the model packs these for itself: [`crate::encoder`] for the processor,
//! package closeread-gpu for graphics processors.

mod layers;
mod onnx_file;
mod published;
mod tables;
mod values;

pub use closeread_kernels::Activation;
pub use layers::{Checkpoint, Classifier, Dense, Layer, Norm};
pub use tables::{Table, Tables};
pub use values::Values;

use super::EmbedError;

impl Checkpoint {
    /// Reads an ONNX file that closeread wrote, with weights of any of its formats.
    ///
    /// # Errors
    /// [`EmbedError::Load`]: the file is damaged, or from elsewhere.
    pub fn from_onnx(onnx: &[u8]) -> Result<Self, EmbedError> {
        onnx_file::read(onnx).map_err(|problem| {
            EmbedError::Load(format!(
                "model.onnx: {problem}; closeread's encoder reads the files that `closeread model` writes, any other \
                 runs on tract"
            ))
        })
    }

    /// Returns whether closeread wrote this ONNX file, for an encoder of a kind that can be read.
    pub fn is_ours(onnx: &[u8]) -> bool {
        onnx_file::is_ours(onnx)
    }

    /// Reads a model as it is published.
    ///
    /// # Errors
    /// [`EmbedError::Load`] with what [`crate::onnx::convert`] would say.
    pub fn from_published(config_json: &[u8], safetensors: &[u8]) -> Result<Self, EmbedError> {
        published::read(config_json, safetensors).map_err(|error| EmbedError::Load(error.to_string()))
    }

    /// Reads a model that scores pairs of texts as it is published, with the head that does so.
    ///
    /// # Errors
    /// As [`Checkpoint::from_published`], and if the head is missing or has more than one output.
    pub(crate) fn with_classifier(config_json: &[u8], safetensors: &[u8]) -> Result<(Self, Classifier), EmbedError> {
        published::read_classifier(config_json, safetensors).map_err(|error| EmbedError::Load(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::tiny;
    use crate::onnx::WeightFormat;
    use crate::onnx::convert;

    #[test]
    fn an_onnx_file_gives_back_what_it_was_made_from() {
        for (act, activation) in
            [("gelu", Activation::Gelu), ("gelu_new", Activation::GeluTanh), ("relu", Activation::Relu)]
        {
            let (config, weights) = tiny::published(&tiny::Shape { act, ..tiny::Shape::default() });
            let published = Checkpoint::from_published(&config, &weights).expect("reads");
            assert_eq!(published.activation, activation);
            let onnx = convert(&config, &weights, WeightFormat::F32).expect("converts");
            assert!(Checkpoint::from_onnx(&onnx).expect("reads") == published, "{act}");
        }
    }

    #[test]
    fn eight_bit_weights_stay_as_they_are_stored() {
        let (config, weights) = tiny::published(&tiny::Shape::default());
        let exact = Checkpoint::from_published(&config, &weights).expect("reads");
        let onnx = convert(&config, &weights, WeightFormat::W8).expect("converts");
        let stored = Checkpoint::from_onnx(&onnx).expect("reads");
        let (Values::F32(exact), Values::Int8 { values, scales }) =
            (&exact.layers[0].up.weight, &stored.layers[0].up.weight)
        else {
            panic!("f32 published, 8-bit stored");
        };
        for (idx, (exact, value)) in exact.iter().zip(values).enumerate() {
            let scale = scales[idx % scales.len()];
            assert!((exact - f32::from(*value) * scale).abs() <= scale * 0.5001);
        }
        let half = convert(&config, &weights, WeightFormat::F16).expect("converts");
        assert!(matches!(Checkpoint::from_onnx(&half).expect("reads").tables.words.values, Values::F32(_)));
    }

    #[test]
    fn a_damaged_file_is_refused_and_never_a_panic() {
        let (config, weights) = tiny::published(&tiny::Shape::default());
        let onnx = convert(&config, &weights, WeightFormat::W8).expect("converts");
        for n_bytes in 0..onnx.len() {
            let message = Checkpoint::from_onnx(&onnx[..n_bytes]).expect_err("refused").to_string();
            assert!(message.contains("on tract"), "{message}");
        }
        for at in 0..onnx.len().min(4000) {
            let mut damaged = onnx.clone();
            damaged[at] ^= 0x55;
            // Some flips only change a number or a name that nothing reads; none may panic.
            let _ = Checkpoint::from_onnx(&damaged);
        }
    }
}

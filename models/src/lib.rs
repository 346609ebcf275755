//! The embedding models that ship, as the files of their folders.

#![no_std]
#![forbid(unsafe_code)]

/// [all-MiniLM-L6-v2](https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2) with 8-bit weights. Licence: its
/// folder's `LICENSE`, Apache-2.0.
pub mod all_minilm_l6_v2 {
    /// Its name.
    pub const NAME: &str = "all-MiniLM-L6-v2";
    /// `model.onnx`: the graph with its weights, as closeread writes it; empty in a build of the package of a registry, which
    /// is too small for them. [`MANIFEST`] has its hash.
    #[cfg(has_weights)]
    pub static ONNX: &[u8] = include_bytes!("../all-MiniLM-L6-v2/model.onnx");
    /// `model.onnx`, which this build is without: the package of a registry is too small for it. [`MANIFEST`] has its hash.
    #[cfg(not(has_weights))]
    pub static ONNX: &[u8] = &[];
    /// `tokenizer.json`, as published.
    pub static TOKENIZER: &[u8] = include_bytes!("../all-MiniLM-L6-v2/tokenizer.json");
    /// `model.toml`: the description.
    pub static SPEC: &str = include_str!("../all-MiniLM-L6-v2/model.toml");
    /// `manifest.json`: hashes, source and recipe.
    pub static MANIFEST: &str = include_str!("../all-MiniLM-L6-v2/manifest.json");
    /// `calibration.json`: largest magnitudes of its channels, for 8-bit integers.
    pub static CALIBRATION: &[u8] = include_bytes!("../all-MiniLM-L6-v2/calibration.json");
}

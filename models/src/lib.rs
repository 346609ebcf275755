//! The embedding models that ship, as the files of their folders.

#![forbid(unsafe_code)]

/// [all-MiniLM-L6-v2](https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2) with 8-bit weights. Licence: its
/// folder's `LICENSE`, Apache-2.0.
pub mod all_minilm_l6_v2 {
    #[cfg(has_weights)]
    use std::sync::LazyLock;

    /// Its name.
    pub const NAME: &str = "all-MiniLM-L6-v2";
    /// Whether this build has [`onnx`]. The package of a registry is too small for it, and WebAssembly gets it from elsewhere.
    pub const HAS_WEIGHTS: bool = cfg!(has_weights);

    /// `model.onnx`: the graph with its weights, as closeread writes it; empty without [`HAS_WEIGHTS`]. [`MANIFEST`] has its
    /// hash. It is unpacked when it is first asked for, which takes some 50 ms of a 2.4 GHz processor.
    ///
    /// # Panics
    /// Never: the build packed it.
    pub fn onnx() -> &'static [u8] {
        #[cfg(has_weights)]
        {
            static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/model.onnx.zst"));
            const N_BYTES: usize = include_bytes!("../all-MiniLM-L6-v2/model.onnx").len();
            static ONNX: LazyLock<Vec<u8>> =
                LazyLock::new(|| zstd::bulk::decompress(PACKED, N_BYTES).expect("packed by build.rs"));
            &ONNX
        }
        #[cfg(not(has_weights))]
        &[]
    }

    /// `tokenizer.json`, as published.
    pub static TOKENIZER: &[u8] = include_bytes!("../all-MiniLM-L6-v2/tokenizer.json");
    /// `model.toml`: the description.
    pub static SPEC: &str = include_str!("../all-MiniLM-L6-v2/model.toml");
    /// `manifest.json`: hashes, source and recipe.
    pub static MANIFEST: &str = include_str!("../all-MiniLM-L6-v2/manifest.json");
    /// `calibration.json`: largest magnitudes of its channels, for 8-bit integers.
    pub static CALIBRATION: &[u8] = include_bytes!("../all-MiniLM-L6-v2/calibration.json");
}

//! The books of a run, each once by hash, compressed.

use closeread_core::text::TextStore;
use std::fs;
use std::path::PathBuf;

/// The folder `texts` of a run.
#[derive(Debug)]
pub(crate) struct StoredTexts {
    /// Where it lies.
    pub(crate) folder: PathBuf,
}

impl TextStore for StoredTexts {
    fn text(&self, hash: &str) -> Result<String, String> {
        let path = self.folder.join(format!("{hash}.txt.zst"));
        let packed = fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let damaged = |error: &dyn std::fmt::Display| format!("{} is damaged: {error}", path.display());
        let bytes = zstd::decode_all(packed.as_slice()).map_err(|error| damaged(&error))?;
        String::from_utf8(bytes).map_err(|error| damaged(&error))
    }
}

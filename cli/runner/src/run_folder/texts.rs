//! The books of a run, each once by hash, compressed.

use anyhow::{Context, Result};
use closeread_books::{Book, TextStore};
use closeread_files::write_atomically;
use std::fs;
use std::path::PathBuf;

/// How hard a book is compressed. From 7 on zstd sets aside twice the memory, 10 MB for a book, to save 2% more.
const COMPRESSION: i32 = 6;

/// The folder `texts` of a run.
#[derive(Debug)]
pub struct StoredTexts {
    /// Where it lies.
    pub folder: PathBuf,
}

impl StoredTexts {
    /// Stores the text of a book, if it is not there.
    pub fn put(&self, book: &Book) -> Result<()> {
        let file = self.folder.join(format!("{}.txt.zst", book.hash()));
        if !file.exists() {
            let text = book.open()?;
            // In one piece: what zstd sets aside goes by the length that it is told.
            let packed =
                zstd::bulk::compress(text.source().as_bytes(), COMPRESSION).context("cannot compress a book")?;
            write_atomically(&file, &packed)?;
        }
        Ok(())
    }
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

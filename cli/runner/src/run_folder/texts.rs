//! The books of a run, each once by hash, compressed.

use anyhow::{Context, Result};
use closeread_books::{Book, MAX_BOOK_BYTES, TextStore};
use closeread_files::write_atomically;
use closeread_text::hash::sha256;
use std::io::Read;
use std::path::PathBuf;
use tracing::warn;

/// How hard a book is compressed. From 7 on zstd sets aside twice the memory, 10 MB for a book, to save 2% more.
const COMPRESSION: i32 = 6;

/// The folder `texts` of a run.
#[derive(Debug)]
pub struct StoredTexts {
    /// Where it lies.
    pub folder: PathBuf,
}

impl StoredTexts {
    /// Stores the text of a book, if it is not there or what is there is damaged.
    pub fn put(&self, book: &Book) -> Result<()> {
        let file = self.file(book.hash());
        if file.exists() {
            match self.text(book.hash()) {
                Ok(_) => return Ok(()),
                Err(_) => warn!("{} is damaged and is written anew", file.display()),
            }
        }
        let text = book.open()?;
        // In one piece: what zstd sets aside goes by the length that it is told.
        let packed = zstd::bulk::compress(text.source().as_bytes(), COMPRESSION).context("cannot compress a book")?;
        write_atomically(&file, &packed)
    }

    /// Where the text with this hash lies, or would.
    pub(crate) fn file(&self, hash: &str) -> PathBuf {
        self.folder.join(format!("{hash}.txt.zst"))
    }
}

impl TextStore for StoredTexts {
    fn text(&self, hash: &str) -> Result<String, String> {
        let path = self.file(hash);
        let packed =
            closeread_files::read_file(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        unpack(&packed, hash).map_err(|why| {
            format!("{} is damaged: {why}; give the run's command again, which writes it anew", path.display())
        })
    }
}

/// The text with this hash; a text that grows beyond what a book may have is given up before it fills the memory.
fn unpack(packed: &[u8], hash: &str) -> Result<String, String> {
    let mut text = String::new();
    let unpacked = zstd::stream::read::Decoder::new(packed)
        .and_then(|decoder| decoder.take(MAX_BOOK_BYTES as u64 + 1).read_to_string(&mut text));
    unpacked.map_err(|error| error.to_string())?;
    match text.len() <= MAX_BOOK_BYTES && sha256(text.as_bytes()) == hash {
        true => Ok(text),
        false => Err("it holds another text".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_books::ReadOptions;
    use std::fs;

    #[test]
    fn finding_06_a_damaged_text_is_told_and_written_anew() {
        let dir = tempfile::tempdir().unwrap();
        let texts = StoredTexts { folder: dir.path().to_owned() };
        let book = Book::new("b", "B", "It rained for a week. ".repeat(500), &ReadOptions::default()).unwrap();
        texts.put(&book).unwrap();
        let file = texts.file(book.hash());
        let whole = fs::read(&file).unwrap();
        let other = zstd::bulk::compress(b"Another text.", COMPRESSION).unwrap();
        for damaged in [&whole[..whole.len() / 2], b"", b"no archive", &other] {
            fs::write(&file, damaged).unwrap();
            let error = texts.text(book.hash()).unwrap_err();
            assert!(error.contains("is damaged: ") && error.contains("give the run's command again"), "{error}");
            texts.put(&book).unwrap();
            assert_eq!(fs::read(&file).unwrap(), whole);
        }
    }

    #[test]
    fn finding_09_a_text_that_unpacks_without_end_is_given_up() {
        let mut bomb = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        let zeros = vec![b'a'; 1 << 20];
        for _ in 0..=MAX_BOOK_BYTES >> 20 {
            std::io::Write::write_all(&mut bomb, &zeros).unwrap();
        }
        let bomb = bomb.finish().unwrap();
        assert!(bomb.len() < 1 << 20);
        assert_eq!(unpack(&bomb, ""), Err("it holds another text".to_owned()));
    }
}

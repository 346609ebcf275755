//! The books of a run, each once by hash, compressed.

use anyhow::{Context, Result, bail};
use closeread_books::{Book, BookText, MAX_BOOK_BYTES, TextError};
use closeread_files::write_atomically;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use tracing::warn;

/// Level of compression of a book. From 7 on zstd sets aside twice the memory, 10 MB for a book, to save 2% more.
const COMPRESSION: i32 = 6;
const OTHER_TEXT: &str = "it holds another text";

/// The folder `texts` of a run.
#[derive(Debug)]
pub struct StoredTexts {
    /// Path of the folder.
    pub folder: PathBuf,
}

impl StoredTexts {
    /// Stores the text of a book, which `open` gives, if it is not there or what is there is damaged.
    pub fn put(&self, book: &Book, open: impl FnOnce(&Book) -> Result<Arc<BookText>, TextError>) -> Result<()> {
        let file = self.file(book.hash());
        if file.exists() {
            match self.open(book) {
                Ok(_) => return Ok(()),
                Err(_) => warn!("{} is damaged and is written anew", file.display()),
            }
        }
        let text = open(book)?;
        // In one piece: what zstd sets aside goes by the length that it is told.
        let packed = zstd::bulk::compress(text.source().as_bytes(), COMPRESSION).context("cannot compress a book")?;
        write_atomically(&file, &packed)
    }

    /// The text of a book.
    pub(crate) fn open(&self, book: &Book) -> Result<BookText, TextError> {
        let source = self.unchecked(book.hash()).map_err(|why| book.gone(why))?;
        book.read_again(source).map_err(|_| book.gone(self.damaged(book.hash(), OTHER_TEXT)))
    }

    /// Returns the text with this hash, as a book that is made of it; the error is a message for people.
    pub(crate) fn book(&self, hash: &str, of: impl FnOnce(String) -> Result<Book, TextError>) -> Result<Book> {
        let book = of(self.unchecked(hash).map_err(anyhow::Error::msg)?)?;
        if book.hash() != hash {
            bail!(self.damaged(hash, OTHER_TEXT));
        }
        Ok(book)
    }

    /// Returns what is stored under this hash.
    fn unchecked(&self, hash: &str) -> Result<String, String> {
        let path = self.file(hash);
        let packed =
            closeread_files::read_file(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        unpack(&packed).map_err(|why| self.damaged(hash, &why))
    }

    fn damaged(&self, hash: &str, why: &str) -> String {
        let path = self.file(hash);
        format!("{} is damaged: {why}; give the run's command again, which writes it anew", path.display())
    }

    /// Returns where the text with this hash lies, or would.
    pub(crate) fn file(&self, hash: &str) -> PathBuf {
        self.folder.join(format!("{hash}.txt.zst"))
    }
}

/// A text that grows beyond what a book may have is given up before it fills the memory.
fn unpack(packed: &[u8]) -> Result<String, String> {
    let mut text = String::new();
    let unpacked = zstd::stream::read::Decoder::new(packed)
        .and_then(|decoder| decoder.take(MAX_BOOK_BYTES as u64 + 1).read_to_string(&mut text));
    unpacked.map_err(|error| error.to_string())?;
    if text.len() <= MAX_BOOK_BYTES { Ok(text) } else { Err(OTHER_TEXT.to_owned()) }
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
        texts.put(&book, Book::text).unwrap();
        let file = texts.file(book.hash());
        let whole = fs::read(&file).unwrap();
        let other = zstd::bulk::compress(b"Another text.", COMPRESSION).unwrap();
        for damaged in [&whole[..whole.len() / 2], b"", b"no archive", &other] {
            fs::write(&file, damaged).unwrap();
            let error = texts.open(&book).unwrap_err().to_string();
            assert!(error.contains("is damaged: ") && error.contains("give the run's command again"), "{error}");
            texts.put(&book, Book::text).unwrap();
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
        assert_eq!(unpack(&bomb), Err("it holds another text".to_owned()));
    }
}

//! Catalogs of benchmark folders: what each document is and where it lies, so that a part of a run reads its own books alone.
//!
//! A catalog is a claim. A part reads its own books and holds them to it, and `merge` joins only parts that claim the same of all books:
//! so every book that is asked about was read by a part. Sizes and times of files say only when a catalog is worth making anew.

use crate::cache::{CATALOGS, cache_folder};
use crate::input::{self, Books, InputOptions, Stamp};
use crate::kept_index::file;
use anyhow::{Context, Result};
use closeread_books::Book;
use closeread_eval::{Content, Document, Problem};
use closeread_text::hash::sha256_of_parts;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use tracing::debug;

/// Version of what is written.
const FORMAT: &str = "catalog 2";

/// The documents of a folder.
pub(super) struct Catalog {
    /// The `documents.jsonl`.
    path: PathBuf,
    options: InputOptions,
    kept: Kept,
}

/// What is kept of the documents.
#[derive(Serialize, Deserialize)]
struct Kept {
    stamp: Stamp,
    entries: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    book: Book,
    /// Number of its line, from 1, and the bytes of the line.
    line: usize,
    bytes: Range<usize>,
    /// The file with its text, from the folder on; `None` for a text inside the line.
    file: Option<(PathBuf, Stamp)>,
    /// Notes on its text, such as what an EPUB leaves out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Fields that closeread does not know.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    other: Map<String, Value>,
}

impl Catalog {
    /// Opens the catalog of a `documents.jsonl` that is read with these options; `None` if there is none, or one of other files.
    pub(super) fn open(path: &Path, options: &InputOptions) -> Option<Self> {
        let (place, key) = place(path, options)?;
        let kept = match file::open(&place, &key) {
            Ok(bytes) => serde_json::from_slice::<Kept>(bytes?.bytes()),
            Err(why) => {
                debug!("the catalog {} is not used: {why}", place.display());
                return None;
            }
        };
        let kept = kept.ok()?;
        let is_as_it_was =
            |(file, stamp): &(PathBuf, Stamp)| Stamp::of(&path.with_file_name("").join(file)) == Some(*stamp);
        let are_there = || kept.entries.iter().filter_map(|entry| entry.file.as_ref()).all(is_as_it_was);
        let is_fresh = Stamp::of(path) == Some(kept.stamp) && are_there();
        is_fresh.then(|| Self { path: path.to_owned(), options: options.clone(), kept })
    }

    /// Keeps the catalog of documents that were read without a problem, from the bytes of a file that had this stamp before.
    ///
    /// # Errors
    /// If the system has no place for it, or it cannot be written.
    pub(super) fn keep(
        (path, bytes, stamp): (&Path, &[u8], Stamp),
        options: &InputOptions,
        documents: &[Document],
        books: &Books,
    ) -> Result<()> {
        let (place, key) = place(path, options).context("this system has no cache folder")?;
        let lines = lines(bytes);
        let other: HashMap<&str, &Map<String, Value>> =
            documents.iter().map(|it| (it.id.as_str(), &it.other)).collect();
        let folder = path.with_file_name("");
        let entries = books.iter().filter_map(|(book, report)| {
            let line = report.line?;
            let file = report.path.strip_prefix(&folder).unwrap_or(&report.path).to_owned();
            let other = other.get(book.id.as_str()).map_or_else(Map::new, |other| (*other).clone());
            let book = book.clone().let_go();
            Some(Entry {
                book,
                line,
                bytes: lines.get(line - 1)?.clone(),
                file: report.stamp.map(|stamp| (file, stamp)),
                notes: report.notes.clone(),
                other,
            })
        });
        let kept = serde_json::to_vec(&Kept { stamp, entries: entries.collect() })?;
        if file::open(&place, &key).is_ok_and(|there| there.is_some_and(|there| there.bytes() == kept)) {
            return Ok(());
        }
        file::write(&place, &key, |to| {
            to(&kept);
            Ok(())
        })?;
        Ok(())
    }

    /// Returns the documents without their texts, and the books.
    pub(super) fn claims(&self) -> (Vec<Document>, Vec<Book>) {
        let claim = |entry: &Entry| {
            let Entry { book, other, .. } = entry;
            let (id, title, content) = (book.id.clone(), book.title.clone(), Content::Text(String::new()));
            (Document { id, title, language: None, content, other: other.clone() }, book.clone())
        };
        self.kept.entries.iter().map(claim).unzip()
    }

    /// Returns the notes on the documents' texts.
    pub(super) fn notes(&self) -> impl Iterator<Item = Problem> {
        self.kept.entries.iter().flat_map(|entry| {
            let file = entry.file.as_ref().map_or(&self.path, |(file, _)| file);
            entry.notes.iter().map(|note| on_text(&self.path, Some(entry.line), &entry.book, file, note))
        })
    }

    /// Reads the books with these ids; `None` if one is not as the catalog has it.
    pub(super) fn read(&self, ids: &HashSet<&str>) -> Option<Books> {
        let mut file = File::open(&self.path).ok()?;
        let mut read = |entry: &Entry| {
            let mut line = vec![0; entry.bytes.len()];
            file.seek(SeekFrom::Start(entry.bytes.start as u64)).ok()?;
            file.read_exact(&mut line).ok()?;
            input::read_document(&self.path, entry.line, &line, &self.options).filter(|(book, _)| *book == entry.book)
        };
        self.kept.entries.iter().filter(|entry| ids.contains(entry.book.id.as_str())).map(&mut read).collect()
    }
}

/// A note on the text of a document, which its file gave.
pub(super) fn on_text(path: &Path, line: Option<usize>, book: &Book, file: &Path, note: &str) -> Problem {
    let message = format!("document `{}`: {}: {note}", book.id, file.display());
    Problem::note(&path.display().to_string(), line, None, message)
}

/// The catalog's file and its key, which is of everything that says how documents are read.
fn place(path: &Path, options: &InputOptions) -> Option<(PathBuf, String)> {
    let name = path.canonicalize().ok()?;
    let options = format!("{options:?}");
    let parts = [
        FORMAT.as_bytes(),
        env!("CARGO_PKG_VERSION").as_bytes(),
        name.as_os_str().as_encoded_bytes(),
        options.as_bytes(),
    ];
    let key = sha256_of_parts(parts);
    Some((cache_folder()?.join(CATALOGS).join(&key[..2]).join(format!("{key}.catalog")), key))
}

/// The bytes of each line, without a byte order mark.
fn lines(bytes: &[u8]) -> Vec<Range<usize>> {
    let content = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut start = bytes.len() - content.len();
    let line = |line: &[u8]| {
        let range = start..start + line.len();
        start = range.end + 1;
        range
    };
    content.split(|byte| *byte == b'\n').map(line).collect()
}

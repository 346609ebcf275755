//! Published rows of which each holds a whole corpus: read some at a time, their texts put aside, so that a set may be larger
//! than the memory of the machine.

use crate::cache::cache_folder;
use crate::input::InputOptions;
use crate::texts::BookTexts;
use anyhow::{Context, Result};
use closeread_books::{Book, ReadOptions};
use closeread_data::{Adapter, Dataset};
use closeread_eval::rows::{MAX_ROW_BYTES, too_long};
use closeread_eval::{Content, Document, InputFile, Problem, ProblemList};
use closeread_files::{MAX_FILE_BYTES, open_file};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Bytes of rows that are read together, where a file has more; a longer row is read alone.
const READ_TOGETHER: usize = 32 << 20;

/// Returns whether the files of a data set are read in parts.
pub(super) fn in_parts(adapter: &Adapter, file: &Path) -> bool {
    let is_lines = file.extension().is_some_and(|extension| extension == "jsonl");
    let is_large = || std::fs::metadata(file).is_ok_and(|file| file.len() > READ_TOGETHER as u64);
    is_lines && adapter.in_parts && is_large()
}

/// A data set that is read part by part: what was read so far.
pub(super) struct Corpora {
    dataset: Dataset,
    books: Vec<Book>,
    documents: HashSet<String>,
    items: HashSet<String>,
    texts: BookTexts,
}

impl Corpora {
    /// Begins without a document.
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            dataset: Dataset::default(),
            books: Vec::new(),
            documents: HashSet::new(),
            items: HashSet::new(),
            texts: BookTexts::put_aside(put_aside_in()?),
        })
    }

    /// Reads a file, which `name` names in problems.
    pub(super) fn read(&mut self, adapter: &Adapter, name: &str, path: &Path, options: &InputOptions) -> Result<()> {
        let unreadable = || format!("cannot read --data {}", path.display());
        let file = open_file(path, u64::MAX).with_context(unreadable)?;
        for part in Parts::new(name, BufReader::new(file)) {
            self.add((adapter.read)(&[part.with_context(unreadable)?]), name, options)?;
        }
        Ok(())
    }

    /// Adds what was read from the file `name`; a text that is there already is not stored again.
    pub(super) fn add(&mut self, part: Dataset, name: &str, options: &InputOptions) -> Result<()> {
        let Dataset { documents, items, problems } = part;
        self.dataset.problems.extend(problems);
        let seen = &mut self.documents;
        let new = documents.into_iter().filter(|document| seen.insert(document.id.clone())).collect();
        for book in books_of(new, options, &mut self.dataset.problems) {
            self.texts.put(&book)?;
            self.books.push(book.let_go());
        }
        for mut item in items {
            let id = item.id.clone();
            let mut n = 1;
            while !self.items.insert(item.id.clone()) {
                n += 1;
                item.id = format!("{id}#{n}");
            }
            if n > 1 {
                let message = format!("the id occurs again: this item is called `{}`", item.id);
                self.dataset.problems.push(Problem::note(name, None, Some(&id), message));
            }
            self.dataset.items.push(item);
        }
        Ok(())
    }

    /// Returns the whole data set, the books without their texts, and where these were put.
    pub(super) fn finish(self) -> (Dataset, Vec<Book>, BookTexts) {
        (self.dataset, self.books, self.texts)
    }
}

/// Makes a temporary folder beside what is remembered from run to run: the system's own may be memory.
fn put_aside_in() -> Result<tempfile::TempDir> {
    let folder = cache_folder().unwrap_or_else(|| PathBuf::from("."));
    std::fs::create_dir_all(&folder)
        .and_then(|()| tempfile::Builder::new().prefix("texts-").tempdir_in(&folder))
        .with_context(|| format!("cannot put texts aside in {}", folder.display()))
}

/// A file of lines as files of fewer lines, each with as many empty lines before its own as the whole has there, so that
/// lines keep their numbers.
struct Parts<'n, R> {
    name: &'n str,
    lines: R,
    n_lines: usize,
}

impl<'n, R: BufRead> Parts<'n, R> {
    fn new(name: &'n str, lines: R) -> Self {
        Self { name, lines, n_lines: 0 }
    }

    /// Reads the next lines; returns nothing at the end, and where blank lines alone are left.
    fn more(&mut self) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![b'\n'; self.n_lines];
        let before = bytes.len();
        let mut is_end = false;
        loop {
            let n_read = (&mut self.lines).take(MAX_ROW_BYTES as u64 + 1).read_until(b'\n', &mut bytes)?;
            if n_read == 0 {
                is_end = true;
                break;
            }
            if n_read > MAX_ROW_BYTES {
                let why = format!("line {}: {}", self.n_lines + 1, too_long(n_read));
                return Err(std::io::Error::new(ErrorKind::FileTooLarge, why));
            }
            self.n_lines += 1;
            let is_list = self.n_lines == 1 && bytes.trim_ascii_start().starts_with(b"[");
            if is_list {
                (&mut self.lines).take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
            }
            if bytes.len() - before >= READ_TOGETHER {
                break;
            }
        }
        if is_end && bytes[before..].trim_ascii().is_empty() {
            bytes.clear();
        }
        Ok(bytes)
    }
}

impl<R: BufRead> Iterator for Parts<'_, R> {
    type Item = std::io::Result<InputFile>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.more() {
            Ok(bytes) if bytes.is_empty() => None,
            Ok(bytes) => Some(Ok(InputFile { name: self.name.to_owned(), bytes })),
            Err(error) => Some(Err(error)),
        }
    }
}

/// The texts of a data set as books; those that are none are problems.
pub(super) fn books_of(documents: Vec<Document>, options: &InputOptions, problems: &mut ProblemList) -> Vec<Book> {
    let mut books = Vec::new();
    for document in documents {
        let Content::Text(text) = document.content else {
            problems.push(Problem::dropped(&document.id, None, None, "its text was not loaded"));
            continue;
        };
        let given = document.language.as_deref().and_then(|code| code.parse().ok());
        let options = ReadOptions {
            language: options.language.or(given),
            keep_frame: options.keep_frame,
            keep_wraps: options.keep_wraps,
        };
        match Book::new(document.id.clone(), document.title, text, &options) {
            Ok(book) => books.push(book),
            Err(error) => problems.push(Problem::dropped(&document.id, None, None, error.to_string())),
        }
    }
    books
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_all_lines_under_their_numbers() {
        let long = "x".repeat(READ_TOGETHER - 1);
        let text = format!("{{\"a\":1}}\n{long}\n\nlast");
        let parts: Vec<InputFile> = Parts::new("f.jsonl", text.as_bytes()).map(Result::unwrap).collect();
        let lines = |part: &InputFile| -> Vec<(usize, usize)> {
            let lines = part.bytes.split(|&b| b == b'\n').zip(1..);
            lines.filter(|(line, _)| !line.is_empty()).map(|(line, number)| (number, line.len())).collect()
        };
        assert_eq!(parts.iter().map(lines).collect::<Vec<_>>(), [vec![(1, 7), (2, long.len())], vec![(4, 4)]]);
        let blank = format!("{{\"a\":1}}\n{long}\n\n \n");
        assert_eq!(Parts::new("f.jsonl", blank.as_bytes()).count(), 1, "blank lines at the end are no part");
        let list = format!("[{long}\n,{long}\n]");
        assert_eq!(Parts::new("f.jsonl", list.as_bytes()).count(), 1, "a list is read whole");
        assert_eq!(Parts::new("f.jsonl", "".as_bytes()).count(), 0);
    }
}

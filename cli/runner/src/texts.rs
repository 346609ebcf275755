//! The texts of a run's books: a book that does not hold its text has it read from where it lies, while somebody reads it.

use crate::input::TextFile;
use crate::run_folder::texts::StoredTexts;
use closeread_books::{Book, BookText, TextError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tempfile::TempDir;

/// The places of texts, by the hash of their book. Trials that read a book at the same time share its text.
#[derive(Debug, Default)]
pub struct BookTexts {
    files: HashMap<String, TextFile>,
    stored: Option<StoredTexts>,
    /// The folder of texts that were put aside; it goes with this value.
    _aside: Option<TempDir>,
    open: Mutex<HashMap<String, Arc<Mutex<Weak<BookText>>>>>,
}

impl BookTexts {
    /// Texts that were left in the files of `books`.
    pub(crate) fn left_in(files: impl IntoIterator<Item = (String, TextFile)>) -> Self {
        Self { files: files.into_iter().collect(), ..Self::default() }
    }

    /// Texts in the folder of a run.
    pub fn stored(texts: StoredTexts) -> Self {
        Self { stored: Some(texts), ..Self::default() }
    }

    /// Texts in a folder that goes when the last who reads them does.
    pub(crate) fn put_aside(folder: TempDir) -> Self {
        let stored = StoredTexts { folder: folder.path().to_owned() };
        Self { stored: Some(stored), _aside: Some(folder), ..Self::default() }
    }

    /// Puts the text of a book, which holds it, into that folder.
    pub fn put(&self, book: &Book) -> anyhow::Result<()> {
        self.stored.as_ref().map_or(Ok(()), |stored| stored.put(book, |book| self.open(book)))
    }

    /// The text of a book: its own if it holds it, else read from where it lies and held to the book's hash.
    ///
    /// # Errors
    /// [`TextError::Gone`] if it is not there any more, or another.
    pub fn open(&self, book: &Book) -> Result<Arc<BookText>, TextError> {
        if let Ok(text) = book.text() {
            return Ok(text);
        }
        let shared = Arc::clone(locked(&self.open).entry(book.hash().to_owned()).or_default());
        let mut shared = locked(&shared);
        if let Some(text) = shared.upgrade() {
            return Ok(text);
        }
        let text = match (self.files.get(book.hash()), &self.stored) {
            (Some(file), _) => book.read_again(file.text().map_err(|problem| book.gone(problem))?)?,
            (None, Some(stored)) => stored.open(book)?,
            (None, None) => return book.text(),
        };
        let text = Arc::new(text);
        *shared = Arc::downgrade(&text);
        Ok(text)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{InputOptions, read_books};
    use std::fs;

    #[test]
    fn a_text_is_shared_while_it_is_read_let_go_of_then_and_named_when_it_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key.txt");
        fs::write(&path, "Ana hid the key.").unwrap();
        let options = InputOptions { leave_on_disk: true, ..InputOptions::default() };
        let (mut books, problems) = read_books(&path, &options);
        assert_eq!(problems, []);
        let (book, report) = books.remove(0);
        assert!(book.text().is_err(), "its text was left in its file");
        let texts = BookTexts::left_in(report.left_in.map(|file| (book.hash().to_owned(), file)));
        let text = texts.open(&book).unwrap();
        assert_eq!(text.source(), "Ana hid the key.");
        assert!(Arc::ptr_eq(&text, &texts.open(&book).unwrap()), "those who read at once share it");
        fs::remove_file(&path).unwrap();
        assert!(texts.open(&book).is_ok(), "somebody holds it still");
        drop(text);
        let gone = texts.open(&book).unwrap_err().to_string();
        assert!(
            gone.starts_with("book `key` cannot be read again: ") && gone.contains("there is no such file"),
            "{gone}"
        );
        fs::write(&path, "Ben found it.").unwrap();
        assert!(texts.open(&book).unwrap_err().to_string().contains("has changed since it was read first"));
        assert!(BookTexts::default().open(&book).unwrap_err().to_string().contains("is not in memory"));
    }
}

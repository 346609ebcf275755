//! Indexes of books that `closeread index` keeps: one file for the words of a set of books, one for its vectors by a model.
//!
//! They are found by what they were made of, mapped and not read, and held to a hash when they are opened. Rankings by a kept index
//! are those by one that was just made, bit for bit.

pub(crate) mod file;

use crate::cache::cache_folder;
use crate::embedder::Embedder;
use anyhow::{Context, Result};
use closeread_books::chunk::Chunker;
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, BookText};
use closeread_retrieve::{KEPT_FORMAT, KeptBytes, KeptVectors, PassageIndex, VectorBlocks};
use closeread_text::hash::PartsHash;
use std::fs::{File, OpenOptions, TryLockError, create_dir_all, remove_file};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tracing::{debug, info, warn};

/// Name of the indexes' folder in the cache.
pub const INDEXES: &str = "indexes";

/// The folder of kept indexes, or none where the system has no place for it.
#[derive(Debug, Clone)]
pub struct KeptIndexes {
    folder: Option<PathBuf>,
}

/// A lock on making what is kept under a key; it ends with the value, or with the process.
#[derive(Debug)]
pub struct Turn {
    path: PathBuf,
    _lock: File,
}

impl Turn {
    /// Ends the turn once the value is kept.
    pub fn done(self) {
        // A file that stays is in nobody's way.
        let _ = remove_file(&self.path);
    }
}

/// The way in which books are cut.
#[derive(Debug, Clone, Copy)]
pub struct Cut<'a> {
    /// Chunker that cuts the books.
    pub chunker: Chunker,
    /// Most tokens that a passage may have.
    pub max_tokens: usize,
    /// Tokenizer that counts them.
    pub tokenizer: &'a Tokenizer,
}

/// The key of an index: SHA-256, in hex, of what it was made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IndexKey(String);

impl IndexKey {
    /// Makes the key of the words of books: of their texts as they are read, how they are cut, and this version of
    /// closeread, because another may cut otherwise.
    pub fn of_words(books: &[Arc<Book>], cut: Cut<'_>) -> Self {
        let mut hash = PartsHash::default();
        let Cut { chunker, max_tokens, tokenizer } = cut;
        let (format, most) = (KEPT_FORMAT.to_string(), max_tokens.to_string());
        let version = env!("CARGO_PKG_VERSION");
        for part in ["words", version, &format, chunker.name(), &most, tokenizer.fingerprint()] {
            hash.part(&[part]);
        }
        for book in books {
            let body = format!("{} {} {}", book.body().start, book.body().end, book.keeps_wraps());
            hash.part(&[book.hash(), " ", book.language.code(), " ", &body]);
        }
        Self(hash.finish())
    }

    /// Makes the key of the vectors of the passages of such an index.
    pub fn of_vectors(&self, embedder: &Embedder) -> Self {
        let mut hash = PartsHash::default();
        ["vectors", &self.0, &embedder.fingerprint()].iter().for_each(|part| hash.part(&[part]));
        Self(hash.finish())
    }
}

impl KeptIndexes {
    /// Keeps indexes in `indexes` in `CLOSEREAD_CACHE`, or in the user's cache folder.
    pub fn of_user() -> Self {
        Self { folder: cache_folder().map(|folder| folder.join(INDEXES)) }
    }

    /// Keeps indexes in a given folder.
    #[cfg(test)]
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()) }
    }

    /// The folder, if there is one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The index of books without vectors: the kept one, or one that is made now. One that is there and cannot be used is said so,
    /// and replaced.
    ///
    /// # Errors
    /// What `open` fails with.
    pub fn words<E>(
        &self,
        key: &IndexKey,
        books: &[Arc<Book>],
        cut: Cut<'_>,
        open: impl FnMut(&Book) -> Result<Arc<BookText>, E>,
    ) -> Result<PassageIndex, E> {
        if let Some(index) = self.kept_words(key, books) {
            return Ok(index);
        }
        let index = PassageIndex::new(books.to_vec(), cut.chunker, cut.max_tokens, cut.tokenizer, open)?;
        if self.is_there(key) {
            replaced(self.keep_words(key, &index).map(drop));
        }
        Ok(index)
    }

    /// The index of books that is kept under a key, without vectors.
    pub fn kept_words(&self, key: &IndexKey, books: &[Arc<Book>]) -> Option<PassageIndex> {
        self.read(key, |bytes| PassageIndex::of_bytes(books.to_vec(), bytes))
    }

    /// Returns the vectors that are kept under a key for `n_passages` passages.
    pub fn kept_vectors(&self, key: &IndexKey, dimension: usize, n_passages: usize) -> Option<KeptVectors> {
        let vectors = self.read(key, KeptVectors::of_bytes)?;
        let fits = vectors.len() == n_passages && (vectors.is_empty() || vectors.dimension() == dimension);
        fits.then_some(vectors)
    }

    /// Waits until no other process makes what is kept under a key.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub async fn turn(&self, key: &IndexKey) -> Result<Turn> {
        let path = self.path(key)?.with_extension("lock.tmp");
        let folder = path.parent().context("an index lies in a folder")?;
        create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = opened.with_context(|| format!("{} cannot be written", path.display()))?;
        let mut is_said = false;
        while matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            if !std::mem::replace(&mut is_said, true) {
                info!("another closeread embeds the same books: its index is waited for");
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Ok(Turn { path, _lock: lock })
    }

    /// Keeps an index without its vectors; says how many bytes it takes.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn keep_words(&self, key: &IndexKey, index: &PassageIndex) -> Result<u64> {
        file::write(&self.path(key)?, &key.0, |to| {
            to(&index.to_bytes());
            Ok(())
        })
    }

    /// Keeps vectors of which `n_cut` are of cut texts.
    ///
    /// # Errors
    /// If they cannot be read or written.
    pub(crate) fn keep_vectors(
        &self,
        key: &IndexKey,
        dimension: usize,
        vectors: &dyn VectorBlocks,
        n_cut: usize,
    ) -> Result<u64> {
        file::write(&self.path(key)?, &key.0, |to| KeptVectors::write(dimension, vectors, n_cut, to))
    }

    /// Keeps vectors in the place of a file that could not be used; that this fails costs time, not results.
    pub fn replace_vectors(&self, key: &IndexKey, dimension: usize, vectors: &dyn VectorBlocks, n_cut: usize) {
        if self.is_there(key) {
            replaced(self.keep_vectors(key, dimension, vectors, n_cut).map(drop));
        }
    }

    /// Bytes of the file that is kept under a key; none if there is none.
    pub fn n_bytes(&self, key: &IndexKey) -> u64 {
        self.path(key).and_then(|path| Ok(path.metadata()?.len())).unwrap_or(0)
    }

    fn is_there(&self, key: &IndexKey) -> bool {
        self.path(key).is_ok_and(|path| path.is_file())
    }

    fn path(&self, IndexKey(key): &IndexKey) -> Result<PathBuf> {
        let folder = self
            .folder
            .as_ref()
            .context("there is no place for indexes: this system has no cache folder; name one in CLOSEREAD_CACHE")?;
        Ok(folder.join(&key[..2]).join(format!("{key}.index")))
    }

    /// Returns what `of_bytes` makes of the file of a key; nothing, and a warning, where that is damaged or something
    /// else.
    fn read<T, E: ToString>(&self, key: &IndexKey, of_bytes: impl FnOnce(KeptBytes) -> Result<T, E>) -> Option<T> {
        let path = self.path(key).ok()?;
        let found = match file::open(&path, &key.0) {
            Ok(None) => return None,
            Ok(Some(bytes)) => of_bytes(bytes).map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        match found {
            Ok(read) => {
                debug!("the kept index {} is used", path.display());
                Some(read)
            }
            Err(why) => {
                warn!("the kept index {} is not used: {why}; it is made anew", path.display());
                None
            }
        }
    }
}

fn replaced(kept: Result<()>) {
    if let Err(error) = kept {
        warn!("the index that was made anew is not kept: {error:#}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_books::ReadOptions;
    use closeread_embed::Vectors;
    use closeread_retrieve::Retriever;

    const TEXTS: [&str; 3] =
        ["The tide came in. Nobody was on the pier.", "Ana paid 1,200 marks. Ben paid none.", "Rain."];

    fn books(options: &ReadOptions) -> Vec<Arc<Book>> {
        let book = |(i, text): (usize, &&str)| Book::new(format!("b{i}"), "", text.to_string(), options).unwrap();
        TEXTS.iter().enumerate().map(book).map(Arc::new).collect()
    }

    fn cut(tokenizer: &Tokenizer) -> Cut<'_> {
        Cut { chunker: Chunker::Dos, max_tokens: 8, tokenizer }
    }

    #[test]
    fn a_key_is_of_everything_that_an_index_depends_on() {
        let (tokenizer, options) = (Tokenizer::cl100k(), ReadOptions::default());
        let other = Tokenizer::o200k();
        let (all, key) = (books(&options), |books: &[Arc<Book>], cut| IndexKey::of_words(books, cut));
        let wraps = books(&ReadOptions { keep_wraps: true, ..options });
        let french = books(&ReadOptions { language: Some("fr".parse().unwrap()), ..options });
        let mut turned = all.clone();
        turned.reverse();
        let own = cut(&tokenizer);
        let keys = [
            key(&all, own),
            key(&all[1..], own),
            key(&turned, own),
            key(&wraps, own),
            key(&french, own),
            key(&all, Cut { max_tokens: 9, ..own }),
            key(&all, Cut { chunker: Chunker::Sentences, ..own }),
            key(&all, cut(&other)),
        ];
        for (n, key) in keys.iter().enumerate() {
            assert!(!keys[..n].contains(key), "key {n} is that of another index");
        }
        assert_eq!(key(&all, own), key(&books(&options), own), "the same books");
    }

    #[test]
    fn a_damaged_or_foreign_file_is_never_used_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, tokenizer) = (KeptIndexes::in_folder(folder.path()), Tokenizer::cl100k());
        let books = books(&ReadOptions::default());
        let key = IndexKey::of_words(&books, cut(&tokenizer));
        let made = kept.words(&key, &books, cut(&tokenizer), Book::text).unwrap();
        assert!(!kept.is_there(&key), "only `closeread index` keeps one");
        assert_eq!(kept.keep_words(&key, &made).unwrap(), kept.n_bytes(&key));
        let path = kept.path(&key).unwrap();
        let whole = std::fs::read(&path).unwrap();
        let foreign = IndexKey::of_words(&books[1..], cut(&tokenizer));
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert!(kept.kept_words(&key, &books).is_none(), "byte {at} flipped");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(kept.kept_words(&key, &books).is_none(), "cut off after {at} bytes");
        }
        let again = kept.words(&key, &books, cut(&tokenizer), Book::text).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole, "it was replaced");
        assert_eq!(again.to_bytes(), kept.kept_words(&key, &books).unwrap().to_bytes());
        let elsewhere = kept.path(&foreign).unwrap();
        std::fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
        std::fs::copy(&path, &elsewhere).unwrap();
        assert!(kept.kept_words(&foreign, &books[1..]).is_none(), "the index of other books, renamed");
    }

    #[test]
    fn kept_vectors_rank_as_those_in_memory_and_fit_their_passages() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, tokenizer) = (KeptIndexes::in_folder(folder.path()), Tokenizer::cl100k());
        let books = books(&ReadOptions::default());
        let key = IndexKey::of_words(&books, cut(&tokenizer));
        let mut index = kept.words(&key, &books, cut(&tokenizer), Book::text).unwrap();
        let n = index.passages().len();
        let vectors = Vectors::new(2, (0..2 * n).map(|i| (i * 7 % 5) as f32 - 2.0).collect());
        kept.keep_vectors(&key, 2, &vectors, 1).unwrap();
        assert!(kept.kept_vectors(&key, 2, n + 1).is_none() && kept.kept_vectors(&key, 3, n).is_none());
        let found = kept.kept_vectors(&key, 2, n).unwrap();
        assert_eq!(found.n_cut(), 1);
        index.put_vectors(vectors).unwrap();
        let expected = index.ranking(Retriever::Dense, "", Some(&[1.0, 0.5])).unwrap();
        index.put_kept_vectors(found).unwrap();
        assert_eq!(index.ranking(Retriever::Dense, "", Some(&[1.0, 0.5])).unwrap(), expected);
    }
}

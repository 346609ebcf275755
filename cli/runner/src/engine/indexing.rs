//! Indexes that are made before any run and kept for all of them.

use super::book_indexes::{cut_of, embed};
use super::grouping::groups;
use super::plan::{PlannedCell, retriever_for};
use crate::benchmark::Benchmark;
use crate::embedder::Embedder;
use crate::kept_index::{Cut, IndexKey, KeptIndexes};
use crate::progress::Progress;
use anyhow::Result;
use closeread_books::Book;
use closeread_books::chunk::Chunker;
use closeread_books::tokens::Tokenizer;
use closeread_retrieve::{PassageIndex, Retriever};
use serde::Serialize;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

/// A file that is kept: the words of the passages of some books, or their vectors.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeptFile {
    /// Chunker that cuts the books.
    pub chunker: Chunker,
    /// Most tokens that a passage may have.
    pub passage_tokens: usize,
    /// Name of the model that made the vectors; `None` for words.
    pub embedder: Option<String>,
    /// Number of books.
    pub books: usize,
    /// Number of passages.
    pub passages: usize,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Seconds that it took to make; 0 if the file was there.
    pub seconds: f64,
    /// Whether the file was made now.
    pub made: bool,
}

/// Makes and keeps what a run of these cells would search, where it is not kept yet, one file after the other; a kill loses the file
/// that is being made, and of vectors only those of the book that is being embedded.
///
/// # Errors
/// If a text cannot be read, a model fails, or a file cannot be written.
pub async fn keep_indexes(
    benchmark: &Benchmark,
    cells: &[PlannedCell],
    tokenizer: &Tokenizer,
    asked: Option<Retriever>,
    kept: &KeptIndexes,
) -> Result<Vec<KeptFile>> {
    let mut ways: Vec<(Cut<'_>, Vec<&PlannedCell>)> = Vec::new();
    for cell in cells {
        let Some(passages) = cell.method.passages() else { continue };
        let cut = cut_of(passages, tokenizer);
        match ways.iter_mut().find(|(known, _)| (known.chunker, known.max_tokens) == (cut.chunker, cut.max_tokens)) {
            Some((_, cells)) => cells.push(cell),
            None => ways.push((cut, vec![cell])),
        }
    }
    let groups = groups(&benchmark.items);
    let n_books: usize = groups.iter().map(|(documents, _)| documents.len()).sum();
    let progress = Progress::new("books indexed", n_books * ways.len());
    let mut files = Vec::new();
    for (documents, _) in groups {
        let books = benchmark.books_of(documents);
        for (cut, cells) in &ways {
            let maker = IndexMaker { benchmark, kept, cut: *cut, books: &books, progress: &progress };
            let key = IndexKey::of_words(&books, *cut);
            let (mut index, words) = maker.words(&key)?;
            files.push(words);
            let mut embedded = HashSet::new();
            for cell in cells {
                let embedder = cell.encoder.as_ref().map(|encoder| encoder.embedder());
                let retriever = retriever_for(&books, asked, embedder.map(|embedder| &**embedder));
                let Some(embedder) = embedder.filter(|_| retriever.needs_vectors()) else { continue };
                if embedded.insert(embedder.fingerprint()) {
                    let file;
                    (index, file) = maker.vectors(&key, index, embedder).await?;
                    files.push(file);
                }
            }
        }
    }
    progress.finish();
    Ok(files)
}

/// Makes the index of some books, cut in one way.
struct IndexMaker<'a> {
    benchmark: &'a Benchmark,
    kept: &'a KeptIndexes,
    cut: Cut<'a>,
    books: &'a [Arc<Book>],
    progress: &'a Progress,
}

impl IndexMaker<'_> {
    fn words(&self, key: &IndexKey) -> Result<(PassageIndex, KeptFile)> {
        if let Some(index) = self.kept.kept_words(key, self.books) {
            self.progress.advance(self.books.len());
            let file = self.file(key, None, index.passages().len(), None);
            return Ok((index, file));
        }
        let started = Instant::now();
        let Cut { chunker, max_tokens, tokenizer } = self.cut;
        let open = |book: &Book| {
            self.progress.tick();
            self.benchmark.texts.open(book)
        };
        let made = PassageIndex::new(self.books.to_vec(), chunker, max_tokens, tokenizer, open)?;
        self.kept.keep_words(key, &made)?;
        let file = self.file(key, None, made.passages().len(), Some(started));
        // From here on it is read from the file, so that its memory is free for vectors.
        Ok((self.kept.kept_words(key, self.books).unwrap_or(made), file))
    }

    async fn vectors(
        &self,
        words: &IndexKey,
        index: PassageIndex,
        embedder: &Arc<Embedder>,
    ) -> Result<(PassageIndex, KeptFile)> {
        let (key, n_passages) = (words.of_vectors(embedder), index.passages().len());
        let is_kept = || self.kept.kept_vectors(&key, embedder.dimension(), n_passages).is_some();
        let there = || self.file(&key, Some(embedder.name()), n_passages, None);
        if is_kept() {
            return Ok((index, there()));
        }
        // Another process may have made it meanwhile.
        let turn = self.kept.turn(&key).await?;
        if is_kept() {
            turn.done();
            return Ok((index, there()));
        }
        let started = Instant::now();
        let (index, collected, n_cut) = embed(embedder, index, &self.benchmark.texts).await?;
        self.progress.paused(started);
        self.kept.keep_vectors(&key, embedder.dimension(), collected.blocks(), n_cut)?;
        turn.done();
        let file = self.file(&key, Some(embedder.name()), n_passages, Some(started));
        Ok((index, file))
    }

    fn file(&self, key: &IndexKey, embedder: Option<String>, passages: usize, started: Option<Instant>) -> KeptFile {
        KeptFile {
            chunker: self.cut.chunker,
            passage_tokens: self.cut.max_tokens,
            embedder,
            books: self.books.len(),
            passages,
            bytes: self.kept.n_bytes(key),
            seconds: started.map_or(0.0, |started| started.elapsed().as_secs_f64()),
            made: started.is_some(),
        }
    }
}

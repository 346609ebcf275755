//! The books an item is about, cut into passages and ready to be searched.

use super::{Bm25, Ranking, Retriever, WordRule, cosine_ranking, reciprocal_rank_fusion};
use crate::chunk::{Chunker, Pieces};
use crate::embed::Vectors;
use crate::text::sentence::Rules;
use crate::text::tokens::Tokenizer;
use crate::text::{Book, FlowSpan, Span, sentence};
use std::sync::Arc;

/// One or more books in reading order, with their passages numbered through.
#[derive(Debug, Clone)]
pub struct Shelf {
    books: Vec<Arc<Book>>,
    passages: Vec<Passage>,
    n_tokens: Vec<usize>,
    bm25: Bm25,
    vectors: Option<Vectors>,
}

/// A passage of one of the books: offsets only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Number of its book on the shelf.
    pub book: usize,
    /// Bytes of the book's file.
    pub span: Span,
    pieces: Pieces,
}

/// Why a shelf cannot rank.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShelfError {
    /// Embeddings are wanted and none were put in.
    #[error("retriever `{0}` needs embeddings of the passages, and this shelf has none")]
    NoVectors(&'static str),
}

/// The sentences of a book, by the rules of its language.
pub fn sentences(book: &Book) -> Vec<FlowSpan> {
    sentence::split(book.flow().text(), Rules::for_code(book.language.code()))
}

impl Shelf {
    /// Cuts the books and indexes the passages for BM25; embeddings come later by [`Shelf::put_vectors`].
    pub fn new(books: Vec<Arc<Book>>, chunker: Chunker, max_tokens: usize, tokenizer: &Tokenizer) -> Self {
        let mut passages = Vec::new();
        for (idx, book) in books.iter().enumerate() {
            let flow = book.flow();
            let pieces = chunker.pieces(flow.text(), &sentences(book), tokenizer, max_tokens);
            passages.extend(pieces.into_iter().map(|pieces| Passage {
                book: idx,
                span: flow.to_source(pieces.cover()),
                pieces,
            }));
        }
        let n_tokens = passages.iter().map(|p| p.pieces.n_tokens).collect();
        let chinese = books.iter().any(|b| b.language.code() == "zh");
        let rule = if chinese { WordRule::ChinesePairs } else { WordRule::Letters };
        let text = |p: &Passage| p.pieces.joined(books[p.book].flow().text());
        let bm25 = Bm25::new(rule, passages.iter().map(text));
        Self { books, passages, n_tokens, bm25, vectors: None }
    }

    /// Adds one vector a passage, in order.
    ///
    /// # Panics
    /// If there is not one vector for each passage.
    pub fn put_vectors(&mut self, vectors: Vectors) {
        assert_eq!(vectors.len(), self.passages.len(), "one vector a passage");
        self.vectors = Some(vectors);
    }

    /// The books, in reading order.
    pub fn books(&self) -> &[Arc<Book>] {
        &self.books
    }

    /// The passages, in document order.
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// Tokens of each passage's text.
    pub fn n_tokens(&self) -> &[usize] {
        &self.n_tokens
    }

    /// The passages' vectors, where they were put in.
    pub fn vectors(&self) -> Option<&Vectors> {
        self.vectors.as_ref()
    }

    /// What a word is in these books.
    pub fn word_rule(&self) -> WordRule {
        self.bm25.rule()
    }

    /// The passage as a model sees it: its sentences joined by one space, wraps undone.
    pub fn text(&self, idx: usize) -> String {
        let passage = &self.passages[idx];
        passage.pieces.joined(self.books[passage.book].flow().text())
    }

    /// Every passage by how well it matches the query, best first.
    ///
    /// `query_vector` is the query's embedding; only [`Retriever::Bm25`] does without.
    ///
    /// # Errors
    /// [`ShelfError::NoVectors`] if embeddings are needed and missing.
    pub fn ranking(
        &self,
        retriever: Retriever,
        query: &str,
        query_vector: Option<&[f32]>,
    ) -> Result<Ranking, ShelfError> {
        let dense = || match (&self.vectors, query_vector) {
            (Some(vectors), Some(query)) => Ok(cosine_ranking(query, vectors.rows())),
            _ => Err(ShelfError::NoVectors(retriever.name())),
        };
        Ok(match retriever {
            Retriever::Dense => dense()?,
            Retriever::Bm25 => self.bm25.ranking(query),
            Retriever::Hybrid => {
                let mut words = self.bm25.ranking(query);
                words.retain(|ranked| ranked.score > 0.0);
                reciprocal_rank_fusion(self.passages.len(), &[&words, &dense()?])
            }
        })
    }
}

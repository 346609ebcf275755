//! Subjects of questions: a book with the article about it, in parts.

use crate::stage::Unit;
use closeread_books::Book;
use closeread_books::chunk::Chunker;
use closeread_retrieve::{PassageIndex, Retriever};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Parameters of [`sagascale`](super::sagascale).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SagaScale {
    /// Fewest tokens of a segment; the paper says nothing of it.
    pub least_tokens: usize,
    /// Tokens of a passage of the book. The paper names no length here; 512 is that of its evaluation.
    pub passage_tokens: usize,
    /// Passages that a sub-query brings: 3 in the paper.
    pub top_k: usize,
    /// Most pairs to take from one context, for a model that never says `END`; the paper names no limit.
    pub most_pairs: usize,
    /// Share of the highest score of a book that a question's popularity must reach: 0.0001 in the paper.
    pub popularity: f64,
    /// Separator between a question's keywords in the search for all of them.
    pub keyword_join: String,
}

impl Default for SagaScale {
    fn default() -> Self {
        let passage_tokens = Chunker::Window.default_max_tokens();
        let keyword_join = " ".to_owned();
        Self { least_tokens: 50, passage_tokens, top_k: 3, most_pairs: 10, popularity: 0.0001, keyword_join }
    }
}

/// A section of an article.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Heading of the section; empty for what stands before the first.
    pub heading: String,
    /// Text of the section, without those of its subsections, which are segments of their own.
    pub text: String,
}

/// A book with the article about it.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The book that questions are about.
    pub book: Arc<Book>,
    /// Index of the book, cut into passages of [`SagaScale::passage_tokens`], with vectors where `retriever` needs
    /// them.
    pub passage_index: PassageIndex,
    /// Retriever that ranks the passages.
    pub retriever: Retriever,
    /// The sections of the article, in its order, none without text.
    pub segments: Vec<Segment>,
}

/// A segment of a book's article.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(super) document: String,
    pub(super) segment: Segment,
}

/// Returns every segment of every article, named `BOOK-01` and so on.
pub(crate) fn parts(subjects: &[Subject]) -> Vec<Unit<Part>> {
    let of = |subject: &Subject| {
        let document = subject.book.id.clone();
        let segments = subject.segments.clone().into_iter().enumerate();
        segments.map(move |(at, segment)| Unit {
            id: format!("{document}-{:02}", at + 1),
            input: Part { document: document.clone(), segment },
        })
    };
    subjects.iter().flat_map(of).collect()
}

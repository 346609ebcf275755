//! A book as a method sees it: what `closeread chunk` and `closeread search` print, natively and in the page.

use crate::index::Shelf;
use crate::retrieve::Selection;
use serde::{Deserialize, Serialize};

/// All passages of a book.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Listing {
    /// In document order.
    pub passages: Vec<ListedPassage>,
}

/// The passages that a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Sum of the passages' tokens.
    pub tokens: usize,
    /// In the order asked for.
    pub passages: Vec<ListedPassage>,
}

/// One passage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedPassage {
    /// Number in document order, from 0.
    pub index: usize,
    /// First byte in the file as decoded to UTF-8.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Score under the retriever; absent where nothing was searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Tokens of `text`.
    pub tokens: usize,
    /// What a model would see: the sentences joined by one space, wraps undone.
    pub text: String,
}

impl Listing {
    /// Every passage on the shelf.
    pub fn of(shelf: &Shelf) -> Self {
        Self { passages: listed(shelf, (0..shelf.passages().len()).map(|idx| (idx, None))) }
    }
}

impl Found {
    /// The passages of a selection, in its order.
    pub fn of(shelf: &Shelf, selection: &Selection) -> Self {
        let passages = selection.passages.iter().map(|ranked| (ranked.idx, Some(ranked.score)));
        Self { tokens: selection.n_tokens, passages: listed(shelf, passages) }
    }
}

fn listed(shelf: &Shelf, passages: impl Iterator<Item = (usize, Option<f64>)> + Clone) -> Vec<ListedPassage> {
    let texts = shelf.texts(passages.clone().map(|(index, _)| index));
    let listed = passages.zip(texts).map(|((index, score), text)| {
        let span = shelf.passages()[index].span;
        ListedPassage { index, start: span.start, end: span.end, score, tokens: shelf.n_tokens()[index], text }
    });
    listed.collect()
}

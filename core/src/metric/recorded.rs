//! What a record holds of scores.

use super::evidence::{cited_recall, context_recall};
use super::{Metric, score};
use crate::benchmark::Item;
use crate::record::{Context, Outcome};
use crate::text::{Book, Span};
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// What a trial showed of the books.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown<'a> {
    /// What the reader was given.
    pub context: Option<&'a Context>,
    /// Sentences that the reader cited, where it was asked for them: they count instead.
    pub cited: Option<&'a [String]>,
}

/// The scores of a trial as its record holds them: [`score`], and the recall of the evidence where it is known. `gold`
/// spans come with the index of their book in `books`, the books of the item.
pub fn recorded_scores<B: Borrow<Book>>(
    item: &Item,
    outcome: &Outcome,
    shown: Shown<'_>,
    gold: Option<&[(usize, Span)]>,
    books: &[B],
) -> BTreeMap<String, f64> {
    let language = books.first().map_or("en", |book| book.borrow().language.code());
    let mut scores = score(item, outcome, language);
    let recall = gold.and_then(|gold| match shown {
        Shown { cited: Some(cited), .. } => cited_recall(gold, cited, books),
        Shown { context: Some(context), .. } => context_recall(gold, context, books),
        Shown { cited: None, context: None } => None,
    });
    scores.extend(recall.map(|recall| (Metric::EvidenceRecall.name().to_owned(), recall)));
    scores
}

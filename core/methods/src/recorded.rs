//! What a record holds of scores.

use crate::record::Context;
use closeread_books::Book;
use closeread_eval::evidence::recall_over;
use closeread_eval::{Item, Outcome, score};
use closeread_metrics::Metric;
use closeread_text::{Folding, Language, Locator, Span};
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
    let language = books.first().map_or(Language::ENGLISH, |book| book.borrow().language);
    let mut scores = score(item, outcome, language);
    let recall = gold.and_then(|gold| match shown {
        Shown { cited: Some(cited), .. } => cited_recall(gold, cited, books),
        Shown { context: Some(context), .. } => context_recall(gold, context, books),
        Shown { cited: None, context: None } => None,
    });
    scores.extend(recall.map(|recall| (Metric::EvidenceRecall.name().to_owned(), recall)));
    scores
}

/// [`recall_over`] the passages that a reader was given; `gold` spans come with the index of their book in `books`.
///
/// A passage of a document that is not among `books` counts for nothing.
fn context_recall<B: Borrow<Book>>(gold: &[(usize, Span)], context: &Context, books: &[B]) -> Option<f64> {
    let place = |id: &str| books.iter().position(|book| book.borrow().id == id);
    let passages = context.passages.iter();
    let retrieved: Vec<(usize, Span)> = passages
        .filter_map(|passage| Some((place(&passage.document)?, Span::new(passage.start, passage.end))))
        .collect();
    // Only what holds evidence is opened.
    let texts: Vec<_> = (0..books.len())
        .map(|idx| gold.iter().any(|(book, _)| *book == idx).then(|| books[idx].borrow().source()))
        .collect();
    let texts: Vec<&str> = texts.iter().map(|text| text.as_deref().unwrap_or("")).collect();
    recall_over(gold, &retrieved, &texts)
}

/// [`recall_over`] the sentences that a reader cited, each where its words first stand in one of the books, white space and
/// typography aside; one that no book holds counts for nothing. `gold` spans come with the index of their book.
fn cited_recall<B: Borrow<Book>>(gold: &[(usize, Span)], cited: &[String], books: &[B]) -> Option<f64> {
    let open: Vec<_> = books.iter().map(|book| book.borrow().source()).collect();
    let texts: Vec<&str> = open.iter().map(|text| &**text).collect();
    let locators: Vec<Locator<'_>> = texts.iter().map(|text| Locator::new(text)).collect();
    let place = |sentence: &String| {
        let mut places = locators.iter().enumerate();
        places.find_map(|(book, locator)| Some((book, locator.locate(sentence, Folding::Typography).span()?)))
    };
    recall_over(gold, &cited.iter().filter_map(place).collect::<Vec<_>>(), &texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_books::ReadOptions;
    use closeread_eval::PassageRef;

    #[test]
    fn a_citation_counts_where_a_book_holds_it() {
        let book = |id: &str, text: &str| Book::new(id, "", text.to_owned(), &ReadOptions::default()).unwrap();
        let books = [book("a", "Rain fell. He said “no”\nand left."), book("b", "Snow fell.")];
        let gold = [(0, Span::new(11, 37)), (1, Span::new(0, 10))];
        let cited = |sentences: &[&str]| {
            let sentences: Vec<String> = sentences.iter().map(|s| (*s).to_owned()).collect();
            cited_recall(&gold, &sentences, &books)
        };
        assert_eq!(cited(&["He said \"no\" and left.", "Snow fell."]), Some(1.0));
        assert_eq!(cited(&["Snow fell.", "Nobody wrote this."]), Some(9.0 / 27.0));
        assert_eq!(cited(&[]), Some(0.0));
        assert_eq!(cited_recall(&[], &["Snow fell.".to_owned()], &books), None);
    }

    #[test]
    fn a_context_is_measured_by_the_books_its_passages_stand_in() {
        let book = |id: &str, text: &str| Book::new(id, "", text.to_owned(), &ReadOptions::default()).unwrap();
        let books = [book("x", "Ana came in."), book("y", "Bo left.")];
        let passage = |document: &str, start, end| PassageRef { document: document.into(), start, end, score: None };
        let passages = vec![passage("y", 0, 8), passage("x", 0, 3), passage("z", 0, 9)];
        let context = Context { retriever: None, n_tokens: 9, passages };
        assert_eq!(context_recall(&[(0, Span::new(0, 8))], &context, &books), Some(3.0 / 7.0));
        assert_eq!(context_recall(&[(1, Span::new(0, 2))], &context, &books), Some(1.0));
        assert_eq!(context_recall(&[], &context, &books), None);
    }
}

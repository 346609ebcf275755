//! Scores that a record holds.

use crate::record::Context;
use closeread_books::{Book, BookText};
use closeread_eval::evidence::recall_over;
use closeread_eval::{Item, Outcome, score};
use closeread_metrics::Metric;
use closeread_text::{Folding, Language, Locator, Span};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The parts of the books that a trial showed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown<'a> {
    /// Context that the model was given.
    pub context: Option<&'a Context>,
    /// Sentences that the model cited, where it was asked for them: they count instead of the context.
    pub cited: Option<&'a [String]>,
}

/// The scores of a trial as its record holds them: [`score`], and the recall of the evidence where it is known. `gold`
/// spans come with the index of their book in `books`, the books of the item, of which `open` gives the texts.
///
/// # Errors
/// What `open` fails with: the recall cannot be told.
pub fn recorded_scores<B: Borrow<Book>, E>(
    item: &Item,
    outcome: &Outcome,
    shown: Shown<'_>,
    gold: Option<&[(usize, Span)]>,
    books: &[B],
    open: impl Fn(&Book) -> Result<Arc<BookText>, E>,
) -> Result<BTreeMap<String, f64>, E> {
    let language = books.first().map_or(Language::ENGLISH, |book| book.borrow().language);
    let mut scores = score(item, outcome, language);
    let recall = match (gold, shown) {
        (Some(gold), Shown { cited: Some(cited), .. }) => cited_recall(gold, cited, books, open)?,
        (Some(gold), Shown { context: Some(context), .. }) => context_recall(gold, context, books, open)?,
        (None, _) | (_, Shown { cited: None, context: None }) => None,
    };
    scores.extend(recall.map(|recall| (Metric::EvidenceRecall.name().to_owned(), recall)));
    Ok(scores)
}

/// Returns [`recall_over`] the passages that a model was given; `gold` spans come with the index of their book in
/// `books`.
///
/// A passage of a document that is not among `books` counts for nothing.
fn context_recall<B: Borrow<Book>, E>(
    gold: &[(usize, Span)],
    context: &Context,
    books: &[B],
    open: impl Fn(&Book) -> Result<Arc<BookText>, E>,
) -> Result<Option<f64>, E> {
    let place = |id: &str| books.iter().position(|book| book.borrow().id == id);
    let passages = context.passages.iter();
    let retrieved: Vec<(usize, Span)> = passages
        .filter_map(|passage| Some((place(&passage.document)?, Span::stated(passage.start, passage.end)?)))
        .collect();
    // Only what holds evidence is opened.
    let holds_evidence = |idx: usize| gold.iter().any(|(book, _)| *book == idx);
    let texts = (0..books.len()).map(|idx| holds_evidence(idx).then(|| open(books[idx].borrow())).transpose());
    let texts: Vec<Option<Arc<BookText>>> = texts.collect::<Result<_, E>>()?;
    let texts: Vec<&str> = texts.iter().map(|text| text.as_ref().map_or("", |text| text.source())).collect();
    Ok(recall_over(gold, &retrieved, &texts))
}

/// [`recall_over`] the sentences that a reader cited, each where its words first stand in one of the books, white space and
/// typography aside; one that no book holds counts for nothing. `gold` spans come with the index of their book.
fn cited_recall<B: Borrow<Book>, E>(
    gold: &[(usize, Span)],
    cited: &[String],
    books: &[B],
    open: impl Fn(&Book) -> Result<Arc<BookText>, E>,
) -> Result<Option<f64>, E> {
    let open: Vec<Arc<BookText>> = books.iter().map(|book| open(book.borrow())).collect::<Result<_, E>>()?;
    let texts: Vec<&str> = open.iter().map(|text| text.source()).collect();
    let locators: Vec<Locator<'_>> = texts.iter().map(|text| Locator::new(text)).collect();
    let place = |sentence: &String| {
        let mut places = locators.iter().enumerate();
        places.find_map(|(book, locator)| Some((book, locator.locate(sentence, Folding::Typography).span()?)))
    };
    Ok(recall_over(gold, &cited.iter().filter_map(place).collect::<Vec<_>>(), &texts))
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
            cited_recall(&gold, &sentences, &books, Book::text).unwrap()
        };
        assert_eq!(cited(&["He said \"no\" and left.", "Snow fell."]), Some(1.0));
        assert_eq!(cited(&["Snow fell.", "Nobody wrote this."]), Some(9.0 / 27.0));
        assert_eq!(cited(&[]), Some(0.0));
        assert_eq!(cited_recall(&[], &["Snow fell.".to_owned()], &books, Book::text), Ok(None));
    }

    #[test]
    fn a_context_is_measured_by_the_books_its_passages_stand_in() {
        let book = |id: &str, text: &str| Book::new(id, "", text.to_owned(), &ReadOptions::default()).unwrap();
        let books = [book("x", "Ana came in."), book("y", "Bo left.")];
        let passage = |document: &str, start, end| PassageRef { document: document.into(), start, end, score: None };
        let passages = vec![passage("y", 0, 8), passage("x", 0, 3), passage("z", 0, 9)];
        let context = Context { retriever: None, reranked: None, n_tokens: 9, passages };
        let recall = |gold: &[(usize, Span)]| context_recall(gold, &context, &books, Book::text);
        assert_eq!(recall(&[(0, Span::new(0, 8))]), Ok(Some(3.0 / 7.0)));
        assert_eq!(recall(&[(1, Span::new(0, 2))]), Ok(Some(1.0)));
        assert_eq!(recall(&[]), Ok(None));
    }

    #[test]
    fn only_texts_with_evidence_are_opened_and_one_that_is_gone_is_an_error() {
        let book = |id: &str| Book::new(id, "", "Ana came in.".to_owned(), &ReadOptions::default()).unwrap();
        let books = [book("here"), book("gone").let_go()];
        let context = Context { retriever: None, reranked: None, n_tokens: 0, passages: Vec::new() };
        let recall = |of: usize| context_recall(&[(of, Span::new(0, 8))], &context, &books, Book::text);
        assert_eq!(recall(0), Ok(Some(0.0)));
        assert!(recall(1).unwrap_err().to_string().starts_with("book `gone` cannot be read again"));
    }
}

//! Positions in a book, in tokens.

use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, BookText, TextError};
use closeread_eval::Item;
use closeread_text::Span;
use std::collections::BTreeMap;

/// The tokens of a book: how many, and which one begins where.
///
/// Counted is the body of the file as decoded, without frame, its line breaks as they are: that is what offsets of
/// evidence count in. A prompt shows the body with its wraps undone, which can differ by some tokens a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenPlaces {
    body: Span,
    /// The byte of the body at which each token ends, ascending; in half the bytes, since a corpus has millions.
    ends: Vec<u32>,
}

impl TokenPlaces {
    /// Counts the tokens of a book, which holds its text.
    ///
    /// # Errors
    /// [`TextError::Gone`] if it does not.
    pub fn of(book: &Book, tokenizer: &Tokenizer) -> Result<Self, TextError> {
        Ok(Self::of_text(book, &*book.text()?, tokenizer))
    }

    /// Counts the tokens of a book, whose text this is.
    pub fn of_text(book: &Book, text: &BookText, tokenizer: &Tokenizer) -> Self {
        let body = book.body();
        let ends = tokenizer.token_ends(&text.source()[body.range()]);
        let ends = ends.into_iter().map(|end| u32::try_from(end).expect("a book has at most MAX_BOOK_BYTES")).collect();
        Self { body, ends }
    }

    /// Length of the book in tokens.
    pub fn n_tokens(&self) -> usize {
        self.ends.len()
    }

    /// The number of the token, from 0, that holds the byte `at` of the book's file; its length if it lies behind.
    pub(crate) fn token_at(&self, at: usize) -> usize {
        let at = at.saturating_sub(self.body.start);
        self.ends.partition_point(|end| *end as usize <= at)
    }
}

/// Tokens of the item's documents together; `None` if one of them is not there.
pub(super) fn book_tokens(item: &Item, books: &BTreeMap<String, TokenPlaces>) -> Option<usize> {
    item.documents.iter().map(|id| books.get(id).map(TokenPlaces::n_tokens)).sum()
}

/// Returns where each piece of evidence whose place is known starts, in tokens from the start of the item's first
/// document.
pub(super) fn evidence_tokens(item: &Item, books: &BTreeMap<String, TokenPlaces>) -> Vec<usize> {
    let place = |evidence: &closeread_eval::Evidence| {
        let document = match &evidence.document {
            Some(id) => item.documents.iter().position(|document| document == id)?,
            None => (item.documents.len() == 1).then_some(0)?,
        };
        let before = item.documents[..document].iter().map(|id| books.get(id).map(TokenPlaces::n_tokens));
        let before: usize = before.sum::<Option<usize>>()?;
        Some(before + books.get(&item.documents[document])?.token_at(evidence.start?))
    };
    item.evidence.iter().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::item;
    use closeread_books::ReadOptions;
    use closeread_eval::Evidence;

    fn places(text: &str) -> TokenPlaces {
        let book = Book::new("b", "B", text.to_owned(), &ReadOptions::default()).unwrap();
        TokenPlaces::of(&book, &Tokenizer::cl100k()).unwrap()
    }

    #[test]
    fn a_byte_has_the_number_of_its_token() {
        let places = places("\u{feff}one two three");
        assert_eq!(places.n_tokens(), 3);
        let at = |byte: usize| places.token_at(byte);
        // The byte order mark takes the bytes 0 to 2; a token begins with its space.
        assert_eq!([at(0), at(3), at(5), at(6), at(7), at(10), at(15), at(99)], [0, 0, 0, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn lengths_and_positions_are_those_of_all_documents_together() {
        let mut asked = item("a", "one");
        asked.documents.push("two".to_owned());
        let evidence = |document: Option<&str>, start| Evidence {
            document: document.map(str::to_owned),
            quote: String::new(),
            start,
            end: None,
        };
        asked.evidence = vec![evidence(Some("two"), Some(2)), evidence(None, Some(0)), evidence(Some("two"), None)];
        let books = BTreeMap::from([("one".to_owned(), places("a b c d")), ("two".to_owned(), places("e f g"))]);
        assert_eq!((book_tokens(&asked, &books), evidence_tokens(&asked, &books)), (Some(7), vec![4 + 1]));
        assert_eq!(book_tokens(&item("b", "nowhere"), &books), None);
    }
}

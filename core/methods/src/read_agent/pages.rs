//! Pages that ReadAgent keeps of books, each with its gist.

use super::words::count_words;
use crate::{Host, MethodError, Session, Stop};
use closeread_books::Book;
use closeread_eval::PassageRef;
use closeread_text::Span;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The pages of all books of an item, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Pages {
    /// The pages. No page has text of two books.
    pub pages: Vec<Page>,
}

/// A page and what is remembered of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Page {
    /// Number of the book, from 0.
    pub book: usize,
    /// First byte in the book's file as decoded to UTF-8.
    pub start: usize,
    /// End in bytes: one past the last byte.
    pub end: usize,
    /// Number of words of the page's text.
    pub words: usize,
    /// The page's text made short, white space at the ends removed; may be empty.
    pub gist: String,
}

impl Page {
    pub(super) fn reference(&self, books: &[Arc<Book>]) -> PassageRef {
        let document = books[self.book].id.clone();
        PassageRef { document, start: self.start, end: self.end, score: None }
    }
}

impl Pages {
    /// The texts of the pages `chosen` as they stand in the books, wraps undone.
    pub(super) async fn texts<H: Host>(
        &self,
        session: &Session<'_, H>,
        chosen: impl IntoIterator<Item = usize>,
    ) -> Result<Vec<String>, Stop> {
        let (mut texts, mut open) = (Vec::new(), None);
        for page in chosen {
            let Page { book, start, end, .. } = self.pages[page];
            let text = match open.take() {
                Some((number, text)) if number == book => text,
                _ => session.text(session.books().get(book).ok_or_else(of_others)?).await?,
            };
            let span = Span::stated(start, end).and_then(|span| text.flow().from_source(span)).ok_or_else(of_others)?;
            texts.push(text.flow().text()[span.range()].to_owned());
            open = Some((book, text));
        }
        Ok(texts)
    }

    /// Returns the memory when the pages `chosen` are read again: the gists in their order, a page's text in the place
    /// of its gist.
    pub(super) async fn memory<H: Host>(
        &self,
        session: &Session<'_, H>,
        chosen: &[usize],
    ) -> Result<Vec<String>, Stop> {
        let gists: Vec<&str> = self.pages.iter().map(|page| page.gist.as_str()).collect();
        let texts = self.texts(session, chosen.iter().copied()).await?;
        let texts: BTreeMap<usize, String> = chosen.iter().copied().zip(texts).collect();
        Ok(expand(&gists, chosen, |page| texts[&page].clone()))
    }

    /// The share of the books' words that `memory` saves, in 0..=1 unless gists are longer than their pages.
    pub(super) fn compression(&self, memory: &[String]) -> f64 {
        let whole: usize = self.pages.iter().map(|page| page.words).sum();
        let kept: usize = memory.iter().map(|part| count_words(part)).sum();
        if whole == 0 { 0.0 } else { 1.0 - kept as f64 / whole as f64 }
    }

    /// The parts of a memory as a prompt shows them, one below the other; under the heading of its document where there
    /// are several, and each behind its page's number where the prompt asks for numbers.
    pub(super) fn shown(&self, memory: &[String], numbered: bool) -> String {
        let several = self.pages.last().is_some_and(|page| page.book > 0);
        let mut lines = Vec::new();
        let mut book = None;
        for (number, (page, part)) in self.pages.iter().zip(memory).enumerate() {
            if several && book.replace(page.book) != Some(page.book) {
                lines.push(format!("# Document {}:", page.book + 1));
            }
            if numbered {
                lines.push(format!("<Page {number}>"));
            }
            lines.push(part.clone());
        }
        lines.join("\n")
    }
}

fn of_others() -> MethodError {
    MethodError::Unprepared("a page is of other books".to_owned())
}

/// The gists of all pages, those of `chosen` replaced by the text of their page.
pub fn expand(gists: &[&str], chosen: &[usize], text: impl Fn(usize) -> String) -> Vec<String> {
    let part = |(page, gist): (usize, &&str)| if chosen.contains(&page) { text(page) } else { (*gist).to_owned() };
    gists.iter().enumerate().map(part).collect()
}

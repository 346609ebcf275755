//! Chunks: sentences packed up to 4K tokens (section 3.1.1).

use super::Unit;
use crate::stage::BuildError;
use closeread_books::chunk::Chunker;
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, TextError};
use closeread_retrieve::PassageIndex;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A stretch of a book.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Id of the book.
    pub document: String,
    /// Number of the chunk in the book, from 0.
    pub index: usize,
    /// First byte in the book's file as decoded to UTF-8.
    pub start: usize,
    /// End in bytes: one past the last byte.
    pub end: usize,
    /// Length of the chunk in tokens.
    pub tokens: usize,
}

/// The chunks of all books, which hold their texts, in their order, named `BOOK-001` and so on.
///
/// # Errors
/// [`TextError::Gone`] if a book does not hold its text.
pub fn chunks(books: &[Arc<Book>], tokenizer: &Tokenizer, chunk_tokens: usize) -> Result<Vec<Unit<Chunk>>, TextError> {
    let mut units = Vec::new();
    for book in books {
        let alone = vec![Arc::clone(book)];
        let passage_index = PassageIndex::new(alone, Chunker::Sentences, chunk_tokens, tokenizer, Book::text)?;
        for (index, (passage, &tokens)) in passage_index.passages().iter().zip(passage_index.n_tokens()).enumerate() {
            let (document, start, end) = (book.id.clone(), passage.span.start, passage.span.end);
            let id = format!("{document}-{:03}", index + 1);
            units.push(Unit { id, input: Chunk { document, index, start, end, tokens } });
        }
    }
    Ok(units)
}

/// Refuses a chunk that is no stretch of its book: a person may have edited it, and a model would be asked about nothing.
pub(super) fn check(id: &str, chunk: &Chunk, book: &Book) -> Result<(), BuildError> {
    let Chunk { document, start, end, .. } = chunk;
    let text = book.text()?;
    if text.source().get(*start..*end).is_some_and(|chunk| !chunk.trim().is_empty()) {
        return Ok(());
    }
    Err(BuildError::Store(format!(
        "stage `chunks`: `{id}` is bytes {start}..{end} of `{document}`, which has {}; correct the line, or remove it",
        book.n_bytes()
    )))
}

/// The stretch of a book that a chunk is, as it is read.
pub(super) fn chunk_text(book: &Book, chunk: &Chunk) -> Result<String, TextError> {
    let text = book.text()?;
    let flow = text.flow();
    let span = closeread_text::Span { start: chunk.start, end: chunk.end.max(chunk.start) };
    Ok(flow.from_source(span).map_or_else(String::new, |span| flow.text()[span.range()].to_owned()))
}

//! Questions to people: whether a document states an extracted value, whether a paraphrase asks the same.
//!
//! The share of extracted values that people agree with at first is the paper's check of the extraction (94.13% of 1,000 in
//! one domain, 98.97% in another).

use super::answer::Answered;
use super::column::Schema;
use super::extract::Agreed;
use crate::Question;
use crate::stage::Unit;
use closeread_books::{Book, TextError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes around a quote that a person reads.
const AROUND: usize = 1_200;
/// Bytes of a document whose quote is not found in it.
const WHOLE: usize = 8_000;

/// Makes one question a cell.
pub(super) fn extraction(
    agreed: &[Unit<Agreed>],
    schema: &Schema,
    books: &BTreeMap<String, &Arc<Book>>,
) -> Result<Vec<Question>, TextError> {
    let mut questions = Vec::new();
    for Unit { id, input } in agreed {
        let Some(book) = input.reading.documents.first().and_then(|document| books.get(document)) else { continue };
        let text = book.text()?;
        for (column, (cell, votes)) in schema.columns.iter().zip(input.reading.cells.iter().zip(&input.fields)) {
            let value = cell.to_string();
            let shown = if value.is_empty() { "not stated".to_owned() } else { format!("{value} {}", column.unit) };
            questions.push(Question {
                id: format!("{id}/{}", column.key),
                group: "extraction, first agreement".to_owned(),
                about: format!("{id}/{}", column.key),
                context: around(text.source(), &votes.quote),
                shows: vec![format!("{}: {}", column.title, shown.trim())],
                asks: "Does the document say so?".to_owned(),
                expected: true,
            });
        }
    }
    Ok(questions)
}

/// The text around a quote; much of the text where it does not stand in it.
fn around(text: &str, quote: &str) -> String {
    let (start, end) = match text.find(quote).filter(|_| !quote.is_empty()) {
        Some(at) => (at.saturating_sub(AROUND), at + quote.len() + AROUND),
        None => (0, WHOLE),
    };
    let start = (start..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let end = (0..=end.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    text[start..end].to_owned()
}

/// Makes one question a paraphrase that differs from its template.
pub(super) fn paraphrases(answered: &[Unit<Answered>]) -> Vec<Question> {
    let changed = answered.iter().filter(|unit| unit.input.asked.question != unit.input.asked.query.question);
    changed
        .map(|Unit { id, input }| Question {
            id: format!("{id}/paraphrase"),
            group: "paraphrase".to_owned(),
            about: id.clone(),
            context: String::new(),
            shows: vec![input.asked.query.question.clone(), input.asked.question.clone()],
            asks: "Do both ask for exactly the same?".to_owned(),
            expected: true,
        })
        .collect()
}

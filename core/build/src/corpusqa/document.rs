//! Documents, and whether they are rich enough in tables and numbers (section 3, step 1).

use super::CorpusQa;
use crate::line::End;
use crate::stage::{Made, Unit};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, TextError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Facts of a document: id, hash, length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Id of the document.
    pub document: String,
    /// SHA-256 of the text.
    pub sha256: String,
    /// Length of the text in tokens.
    pub tokens: usize,
    /// Numbers in it, of any length.
    pub numbers: usize,
    /// Lines of tables in it.
    pub table_rows: usize,
}

impl Source {
    /// Returns the facts of a book, which holds its text.
    ///
    /// # Errors
    /// [`TextError::Gone`] if it does not.
    pub fn of(book: &Book, tokenizer: &Tokenizer) -> Result<Self, TextError> {
        let text = book.text()?;
        let text = text.source();
        Ok(Self {
            document: book.id.clone(),
            sha256: book.hash().to_owned(),
            tokens: tokenizer.count(text),
            numbers: numbers(text),
            table_rows: text.lines().filter(|line| is_table_row(line)).count(),
        })
    }

    /// Numbers in a thousand tokens.
    pub fn density(&self) -> f64 {
        1000.0 * self.numbers as f64 / self.tokens.max(1) as f64
    }
}

/// Makes one unit a document.
///
/// # Errors
/// As [`Source::of`].
pub fn sources(books: &[Arc<Book>], tokenizer: &Tokenizer) -> Result<Vec<Unit<Source>>, TextError> {
    books.iter().map(|book| Ok(Unit { id: book.id.clone(), input: Source::of(book, tokenizer)? })).collect()
}

/// Drops what is short or has too little to extract.
pub(super) fn rich(source: &Source, parameters: &CorpusQa) -> Made<Source> {
    let CorpusQa { least_tokens, least_density, least_table_rows, .. } = *parameters;
    Made::of(if source.tokens < least_tokens {
        End::dropped("short", format!("{} tokens of at least {least_tokens}", source.tokens))
    } else if source.density() < least_density {
        End::dropped("few numbers", format!("{:.1} in 1,000 tokens, of at least {least_density}", source.density()))
    } else if source.table_rows < least_table_rows {
        End::dropped("few tables", format!("{} lines of tables, of at least {least_table_rows}", source.table_rows))
    } else {
        End::Kept { value: source.clone() }
    })
}

/// Numbers of a text: digits with the separators between them count once, Chinese numerals not at all.
fn numbers(text: &str) -> usize {
    let mut n = 0;
    let mut inside = false;
    for c in text.chars() {
        let is_digit = c.is_numeric() && (c.is_ascii_digit() || ('\u{ff10}'..='\u{ff19}').contains(&c));
        n += usize::from(is_digit && !inside);
        inside = is_digit || inside && matches!(c, '.' | ',' | '，');
    }
    n
}

/// A line of a table: cells between bars or tabs, columns of figures set apart by blanks, as old filings print them, or a row of
/// HTML, as converters of PDFs write it into Markdown.
fn is_table_row(line: &str) -> bool {
    let line = line.trim();
    let rule = !line.chars().any(char::is_alphanumeric);
    if rule {
        return false;
    }
    let columns = line.split("  ").filter(|cell| !cell.trim().is_empty());
    let figures = columns.filter(|cell| cell.chars().any(|c| c.is_ascii_digit())).count();
    line.matches('|').count() >= 2 || line.matches('\t').count() >= 2 || figures >= 2 || line.contains("<tr")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_once_with_their_separators() {
        assert_eq!(numbers("1,234.5 in 2024, and 3"), 3);
        assert_eq!(numbers("３４亿 and none"), 1);
        assert_eq!(numbers(""), 0);
    }

    #[test]
    fn tables_are_told_from_prose_and_rules() {
        for row in ["| a | 1 |", "a\tb\t3", "Net sales      1,234     1,100", "<table><tr><td>a</td></tr>"] {
            assert!(is_table_row(row), "{row}");
        }
        for line in ["| --- | --- |", "It was 3  o'clock.", "", "a | b"] {
            assert!(!is_table_row(line), "{line}");
        }
    }
}

//! A book: its text as it stands in the file, and as it is read.

use super::frame::Frame;
use super::language::{self, Language};
use super::{Flow, Span};
use crate::hash::sha256;

/// One text that questions are asked about, with everything that is known of it before it is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Book {
    /// Unique name among the books of a run.
    pub id: String,
    /// Title as a prompt shows it; may be empty.
    pub title: String,
    /// Given, or detected from the body.
    pub language: Language,
    source: String,
    flow: Flow,
    hash: String,
}

/// How a text is made a [`Book`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The language of the text; `None` detects it.
    pub language: Option<Language>,
    /// Keep Project Gutenberg's header and trailer as part of the book.
    pub keep_frame: bool,
    /// Keep every line break, in a hard-wrapped text too.
    pub keep_wraps: bool,
}

/// Why a text is no book.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// No character that shows.
    #[error("book `{id}` is empty: expected text, found nothing but white space; give a file with the book's text")]
    Empty {
        /// The book's id.
        id: String,
    },
    /// Nothing between header and trailer.
    #[error(
        "book `{id}` is empty: nothing stands between its Project Gutenberg header and trailer; \
         get the whole file, or read it with its frame (--keep-frame)"
    )]
    OnlyFrame {
        /// The book's id.
        id: String,
    },
}

impl Book {
    /// Reads `source`, the whole decoded text of a file, frame, line ends and byte order mark included.
    ///
    /// # Errors
    /// [`TextError`] if no visible character is left to read.
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        source: String,
        options: &ReadOptions,
    ) -> Result<Self, TextError> {
        let id = id.into();
        if !has_text(&source) {
            return Err(TextError::Empty { id });
        }
        let body = if options.keep_frame { Frame::none(&source).body } else { Frame::find(&source).body };
        if !has_text(&source[body.range()]) {
            return Err(TextError::OnlyFrame { id });
        }
        let flow = if options.keep_wraps { Flow::with_wraps(&source, body) } else { Flow::of(&source, body) };
        let language = options.language.unwrap_or_else(|| language::detect(flow.text()));
        let hash = sha256(source.as_bytes());
        Ok(Self { id, title: title.into(), language, source, flow, hash })
    }

    /// The whole file as decoded to UTF-8: what every [`Span`] counts bytes of.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The part of [`Book::source`] that is the book: frame and byte order mark set aside.
    pub fn body(&self) -> Span {
        self.flow.body()
    }

    /// The body as it is read, wraps undone.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// SHA-256 of [`Book::source`], 64 lower-case hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// True if something of `text` shows in print.
pub(super) fn has_text(text: &str) -> bool {
    text.chars().any(|c| !c.is_whitespace() && !c.is_control() && !super::flow::is_invisible(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Result<Book, TextError> {
        Book::new("b", "B", source.to_owned(), &ReadOptions::default())
    }

    #[test]
    fn the_hash_is_of_the_whole_decoded_text() {
        let book = read("abc").expect("text");
        assert_eq!(book.hash(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_byte_order_mark_is_source_but_not_body() {
        let book = read("\u{FEFF}Call me Ishmael.").expect("text");
        assert_eq!((book.source().len(), book.body()), (19, Span::new(3, 19)));
        assert_eq!(book.flow().text(), "Call me Ishmael.");
    }

    #[test]
    fn nothing_to_read_is_an_error_that_says_so() {
        assert_eq!(read(" \r\n\u{3000}\u{FEFF}\n"), Err(TextError::Empty { id: "b".into() }));
        let framed = "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n*** END OF THE PROJECT GUTENBERG EBOOK X ***\n";
        assert_eq!(read(framed), Err(TextError::OnlyFrame { id: "b".into() }));
        let kept = ReadOptions { keep_frame: true, ..ReadOptions::default() };
        assert!(Book::new("b", "", framed.to_owned(), &kept).is_ok());
    }

    #[test]
    fn a_given_language_wins_over_the_detected_one() {
        let options = ReadOptions { language: Some(Language::CHINESE), ..ReadOptions::default() };
        let book = Book::new("b", "", "Call me Ishmael.".into(), &options).expect("text");
        assert_eq!(book.language, Language::CHINESE);
    }
}

//! A book: its text as it stands in the file, and as it is read.

use super::Flow;
use super::frame::{Frame, MAX_LINES_AND_RUN};
use super::language;
use super::line::lines;
use closeread_text::Language;
use closeread_text::Span;
use closeread_text::hash::sha256;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Most bytes that a book's text may have, 128 MiB: many times the longest, and what a machine's memory holds several
/// times.
pub const MAX_BOOK_BYTES: usize = 128 << 20;

/// A handle of one text that questions are asked about: everything that is known of it before it is cut, and its text
/// where it was read just now.
///
/// Elsewhere the text is loaded while somebody reads it, so that a corpus can be larger than the memory of the machine:
/// [`Book::let_go`], [`Book::read_again`]. It is serialized without its text.
#[derive(Clone, Serialize, Deserialize)]
pub struct Book {
    /// Unique name among the books of a run.
    pub id: String,
    /// Title as a prompt shows it; may be empty.
    pub title: String,
    /// Language of the book, given or detected from the body.
    pub language: Language,
    hash: String,
    n_bytes: usize,
    body: Span,
    keep_wraps: bool,
    #[serde(skip)]
    text: Option<Arc<BookText>>,
}

/// The text of a book: the text with the book's hash and no other.
#[derive(Debug, PartialEq, Eq)]
pub struct BookText {
    hash: String,
    /// Source of the text; nothing where the file flows as it stands: one copy of a book is enough.
    source: Option<String>,
    flow: Flow,
}

/// The options by which a text is made a [`Book`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The language of the text; `None` detects it.
    pub language: Option<Language>,
    /// Whether Project Gutenberg's header and trailer are kept as part of the book.
    pub keep_frame: bool,
    /// Whether every line break is kept, in a hard-wrapped text too.
    pub keep_wraps: bool,
}

/// The reason why a text is no book.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The text has no character that shows.
    #[error("book `{id}` is empty: expected text, found nothing but white space; give a file with the book's text")]
    Empty {
        /// Id of the book.
        id: String,
    },
    /// The text has nothing between header and trailer.
    #[error(
        "book `{id}` is empty: nothing stands between its Project Gutenberg header and trailer; \
         get the whole file, or read it with its frame"
    )]
    OnlyFrame {
        /// Id of the book.
        id: String,
    },
    /// The text has more than [`MAX_BOOK_BYTES`].
    #[error("book `{id}` has {} MiB of text: expected at most {} MiB; split it into several documents", n_bytes >> 20, MAX_BOOK_BYTES >> 20)]
    TooLarge {
        /// Id of the book.
        id: String,
        /// Number of bytes of the text.
        n_bytes: usize,
    },
    /// The text has more lines than a text can have.
    #[error(
        "book `{id}` has {n_lines} lines: expected at most {MAX_LINES_AND_RUN}; is it a table or a log? give a text"
    )]
    TooManyLines {
        /// Id of the book.
        id: String,
        /// Number of lines.
        n_lines: usize,
    },
    /// The text has one word, one stretch of white space or of marks that is megabytes long.
    #[error(
        "book `{id}` has {} MiB {what} at byte {at}: expected at most {} MiB; is it binary data? give a text",
        n_bytes >> 20, MAX_LINES_AND_RUN >> 20
    )]
    EndlessRun {
        /// Id of the book.
        id: String,
        /// Kind of stretch, such as a word.
        what: &'static str,
        /// Byte at which the stretch begins.
        at: usize,
        /// Number of bytes of the stretch.
        n_bytes: usize,
    },
    /// The text was read once and cannot be read again.
    #[error("book `{id}` cannot be read again: {problem}")]
    Gone {
        /// Id of the book.
        id: String,
        /// Reason in words, for people.
        problem: String,
    },
}

impl Book {
    /// Reads `source`, the whole decoded text of a file, frame, line ends and byte order mark included.
    ///
    /// # Errors
    /// [`TextError`] if no visible character is left to read, or the text is too large.
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        source: String,
        options: &ReadOptions,
    ) -> Result<Self, TextError> {
        let id = id.into();
        check_limits(&id, &source)?;
        if !has_text(&source) {
            return Err(TextError::Empty { id });
        }
        let body = if options.keep_frame { Frame::none(&source).body } else { Frame::find(&source).body };
        if !has_text(&source[body.range()]) {
            return Err(TextError::OnlyFrame { id });
        }
        let (hash, n_bytes) = (sha256(source.as_bytes()), source.len());
        let text = BookText::new(hash.clone(), source, body, options.keep_wraps);
        let language = options.language.unwrap_or_else(|| language::detect(text.flow.text()));
        Ok(Self {
            id,
            title: title.into(),
            language,
            hash,
            n_bytes,
            body,
            keep_wraps: options.keep_wraps,
            text: Some(Arc::new(text)),
        })
    }

    /// Returns the book without its text.
    #[must_use]
    pub fn let_go(self) -> Self {
        Self { text: None, ..self }
    }

    /// Returns the text that the book holds.
    ///
    /// # Errors
    /// [`TextError::Gone`] if it was let go of.
    pub fn text(&self) -> Result<Arc<BookText>, TextError> {
        self.text.clone().ok_or_else(|| self.gone("its text is not in memory"))
    }

    /// Makes the book's text anew of `source`, the whole decoded text of its file.
    ///
    /// # Errors
    /// [`TextError::Gone`] if that is another text than was read first.
    pub fn read_again(&self, source: String) -> Result<BookText, TextError> {
        match sha256(source.as_bytes()) == self.hash {
            true => Ok(BookText::new(self.hash.clone(), source, self.body, self.keep_wraps)),
            false => Err(self.gone("its text has changed since it was read first; start again")),
        }
    }

    /// Returns the error that the book's text cannot be had, and why.
    pub fn gone(&self, problem: impl fmt::Display) -> TextError {
        TextError::Gone { id: self.id.clone(), problem: problem.to_string() }
    }

    /// The part of [`BookText::source`] that is the book: frame and byte order mark set aside.
    pub fn body(&self) -> Span {
        self.body
    }

    /// Returns whether every line break is kept, as [`ReadOptions::keep_wraps`] asks.
    pub fn keeps_wraps(&self) -> bool {
        self.keep_wraps
    }

    /// Length of [`BookText::source`] in bytes.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// SHA-256 of [`BookText::source`], 64 lower-case hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

impl BookText {
    fn new(hash: String, source: String, body: Span, keep_wraps: bool) -> Self {
        let flow = if keep_wraps { Flow::with_wraps(&source, body) } else { Flow::of(&source, body) };
        Self { hash, source: (flow.text() != source).then_some(source), flow }
    }

    /// The whole file as decoded to UTF-8: what every [`Span`] counts bytes of.
    pub fn source(&self) -> &str {
        self.source.as_deref().unwrap_or_else(|| self.flow.text())
    }

    /// The body as it is read, wraps undone.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Returns the hash of the book, as [`Book::hash`].
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// Two books are equal if their texts, read the same way, are: whether they hold them or not.
impl PartialEq for Book {
    fn eq(&self, other: &Self) -> bool {
        let of = |book: &Self| (book.language, book.body, book.keep_wraps);
        (&self.id, &self.title, &self.hash) == (&other.id, &other.title, &other.hash) && of(self) == of(other)
    }
}

impl Eq for Book {}

impl fmt::Debug for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, title, language, hash, n_bytes, body, .. } = self;
        let mut text = f.debug_struct("Book");
        text.field("id", id).field("title", title).field("language", language).field("hash", hash);
        text.field("n_bytes", n_bytes).field("body", body).finish_non_exhaustive()
    }
}

/// Refuses what would take many times its size to be read.
fn check_limits(id: &str, source: &str) -> Result<(), TextError> {
    let id = || id.to_owned();
    if source.len() > MAX_BOOK_BYTES {
        return Err(TextError::TooLarge { id: id(), n_bytes: source.len() });
    }
    if source.len() <= MAX_LINES_AND_RUN {
        return Ok(());
    }
    let kind = |c: char| match c {
        c if c.is_whitespace() => "of white space in one place",
        c if c.is_alphanumeric() => "in one word",
        _ => "of marks in one place",
    };
    let (mut at, mut within) = (0, "");
    for (idx, what) in source.char_indices().map(|(idx, c)| (idx, kind(c))).chain([(source.len(), "")]) {
        if what != within {
            if idx - at > MAX_LINES_AND_RUN {
                return Err(TextError::EndlessRun { id: id(), what: within, at, n_bytes: idx - at });
            }
            (at, within) = (idx, what);
        }
    }
    let n_lines = lines(source, Span::new(0, source.len())).count();
    if n_lines > MAX_LINES_AND_RUN {
        return Err(TextError::TooManyLines { id: id(), n_lines });
    }
    Ok(())
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
        let text = book.text().expect("just read");
        assert_eq!((text.source().len(), book.body()), (19, Span::new(3, 19)));
        assert_eq!(text.flow().text(), "Call me Ishmael.");
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
    fn finding_09_what_takes_many_times_its_size_to_be_read_is_refused() {
        let most = MAX_LINES_AND_RUN;
        let said = |text: String| read(&text).unwrap_err().to_string();
        let run = said(format!("It rained. {} The end.", "a".repeat(most + 1)));
        assert!(run.contains("4 MiB in one word at byte 11") && run.contains("is it binary data?"), "{run}");
        let feeds = said(format!("It rained.{}", "\n".repeat(most + 1)));
        assert!(feeds.contains("4 MiB of white space in one place at byte 10"), "{feeds}");
        let marks = said(".".repeat(most + 1));
        assert!(marks.contains("of marks in one place"), "{marks}");
        let lines = said("a\n".repeat(most + 1));
        assert!(lines.contains("4194305 lines: expected at most 4194304"), "{lines}");
        assert!(
            said("a b\u{3000}".repeat(MAX_BOOK_BYTES / 6 + 1)).contains("128 MiB of text: expected at most 128 MiB")
        );
        assert!(read(&format!("{} end", "a".repeat(most))).is_ok());
    }

    #[test]
    fn a_book_that_lets_go_of_its_text_is_the_same_book_and_gets_the_same_text_again() {
        let source = "\u{FEFF}He went\r\nhome.\r\n\r\nShe did not.";
        let book = read(source).expect("text");
        let handle = book.clone().let_go();
        assert_eq!(handle, book);
        let again = handle.read_again(source.to_owned()).expect("the same text");
        assert_eq!((again.source(), again.hash()), (source, book.hash()));
        assert_eq!(again, *book.text().expect("just read"));
    }

    #[test]
    fn a_text_that_is_gone_or_changed_is_named() {
        let handle = read("Text.").expect("text").let_go();
        let errors = [handle.text().map(drop), handle.read_again("Other.".to_owned()).map(drop)];
        for (error, problem) in errors.into_iter().zip(["is not in memory", "has changed since"]) {
            let message = error.unwrap_err().to_string();
            assert!(message.starts_with("book `b` cannot be read again: ") && message.contains(problem), "{message}");
        }
    }

    #[test]
    fn a_given_language_wins_over_the_detected_one() {
        let options = ReadOptions { language: Some(Language::CHINESE), ..ReadOptions::default() };
        let book = Book::new("b", "", "Call me Ishmael.".into(), &options).expect("text");
        assert_eq!(book.language, Language::CHINESE);
    }
}

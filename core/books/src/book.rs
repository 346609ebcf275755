//! A book: its text as it stands in the file, and as it is read.

use super::Flow;
use super::frame::Frame;
use super::language;
use super::line::lines;
use closeread_text::Language;
use closeread_text::Span;
use closeread_text::hash::sha256;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Most bytes of a book's text, 128 MiB: many times the longest, and what a machine's memory holds several times.
pub const MAX_BOOK_BYTES: usize = 128 << 20;
/// Most lines of a book, and most bytes of one word, one stretch of white space or of marks: what is kept for each line,
/// and for each byte of a word while its tokens are counted, is many times as large.
pub(super) const MAX_LINES_AND_RUN: usize = 4 << 20;

/// One text that questions are asked about, with everything that is known of it before it is cut.
///
/// Its text is in memory, or lies in a [`TextStore`] and is in memory while somebody reads it: so a corpus can be larger
/// than the memory of the machine.
#[derive(Clone)]
pub struct Book {
    /// Unique name among the books of a run.
    pub id: String,
    /// Title as a prompt shows it; may be empty.
    pub title: String,
    /// Given, or detected from the body.
    pub language: Language,
    hash: String,
    n_bytes: usize,
    body: Span,
    keep_wraps: bool,
    text: Place,
}

/// Where the texts of books lie that are not in memory.
pub trait TextStore: fmt::Debug + Send + Sync {
    /// The whole text of the book with this [`Book::hash`].
    ///
    /// # Errors
    /// Why it cannot be had, for people.
    fn text(&self, hash: &str) -> Result<String, String>;
}

/// The text of a book while somebody reads it.
#[derive(Debug, PartialEq, Eq)]
pub struct OpenBook {
    /// Nothing where the file flows as it stands: one copy of a book is enough.
    source: Option<String>,
    flow: Flow,
}

/// [`Book::source`].
#[derive(Debug, Clone)]
pub struct SourceText(Arc<OpenBook>);

/// [`Book::flow`].
#[derive(Debug, Clone)]
pub struct FlowText(Arc<OpenBook>);

#[derive(Clone)]
enum Place {
    Memory(Arc<OpenBook>),
    Store {
        store: Arc<dyn TextStore>,
        /// Those who read it at the same time share it.
        open: Arc<Mutex<Weak<OpenBook>>>,
    },
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
         get the whole file, or read it with its frame"
    )]
    OnlyFrame {
        /// The book's id.
        id: String,
    },
    /// More than [`MAX_BOOK_BYTES`].
    #[error("book `{id}` has {} MiB of text: expected at most {} MiB; split it into several documents", n_bytes >> 20, MAX_BOOK_BYTES >> 20)]
    TooLarge {
        /// The book's id.
        id: String,
        /// Bytes of its text.
        n_bytes: usize,
    },
    /// More lines than a text has.
    #[error(
        "book `{id}` has {n_lines} lines: expected at most {MAX_LINES_AND_RUN}; is it a table or a log? give a text"
    )]
    TooManyLines {
        /// The book's id.
        id: String,
        /// How many.
        n_lines: usize,
    },
    /// One word, one stretch of white space or of marks that goes on for megabytes.
    #[error(
        "book `{id}` has {} MiB {what} at byte {at}: expected at most {} MiB; is it binary data? give a text",
        n_bytes >> 20, MAX_LINES_AND_RUN >> 20
    )]
    EndlessRun {
        /// The book's id.
        id: String,
        /// Of what it consists.
        what: &'static str,
        /// Where it begins.
        at: usize,
        /// Its bytes.
        n_bytes: usize,
    },
    /// It was read once and cannot be read again.
    #[error("book `{id}` cannot be read again: {problem}")]
    Gone {
        /// The book's id.
        id: String,
        /// What the store says.
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
        let text = OpenBook::new(source, body, options.keep_wraps);
        let language = options.language.unwrap_or_else(|| language::detect(text.flow.text()));
        Ok(Self {
            id,
            title: title.into(),
            language,
            hash,
            n_bytes,
            body,
            keep_wraps: options.keep_wraps,
            text: Place::Memory(Arc::new(text)),
        })
    }

    /// The same book, whose text is let go of here and read from `store` whenever it is needed.
    #[must_use]
    pub fn kept_in(mut self, store: Arc<dyn TextStore>) -> Self {
        self.text = Place::Store { store, open: Arc::default() };
        self
    }

    /// The text, in memory as long as the value lives.
    ///
    /// # Errors
    /// [`TextError::Gone`] if its store does not give it back as it was.
    pub fn open(&self) -> Result<Arc<OpenBook>, TextError> {
        let (store, open) = match &self.text {
            Place::Memory(text) => return Ok(Arc::clone(text)),
            Place::Store { store, open } => (store, open),
        };
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = open.upgrade() {
            return Ok(text);
        }
        let gone = |problem| TextError::Gone { id: self.id.clone(), problem };
        let source = store.text(&self.hash).map_err(gone)?;
        if sha256(source.as_bytes()) != self.hash {
            return Err(gone("its text has changed since it was read first; start again".to_owned()));
        }
        let text = Arc::new(OpenBook::new(source, self.body, self.keep_wraps));
        *open = Arc::downgrade(&text);
        Ok(text)
    }

    fn opened(&self) -> Arc<OpenBook> {
        self.open().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The whole file as decoded to UTF-8: what every [`Span`] counts bytes of.
    ///
    /// # Panics
    /// If it lies in a store and [`Book::open`] fails.
    pub fn source(&self) -> SourceText {
        SourceText(self.opened())
    }

    /// The body as it is read, wraps undone.
    ///
    /// # Panics
    /// As [`Book::source`].
    pub fn flow(&self) -> FlowText {
        FlowText(self.opened())
    }

    /// The part of [`Book::source`] that is the book: frame and byte order mark set aside.
    pub fn body(&self) -> Span {
        self.body
    }

    /// Length of [`Book::source`] in bytes.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// SHA-256 of [`Book::source`], 64 lower-case hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

impl OpenBook {
    fn new(source: String, body: Span, keep_wraps: bool) -> Self {
        let flow = if keep_wraps { Flow::with_wraps(&source, body) } else { Flow::of(&source, body) };
        Self { source: (flow.text() != source).then_some(source), flow }
    }

    /// [`Book::source`].
    pub fn source(&self) -> &str {
        self.source.as_deref().unwrap_or_else(|| self.flow.text())
    }

    /// [`Book::flow`].
    pub fn flow(&self) -> &Flow {
        &self.flow
    }
}

impl Deref for SourceText {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.source()
    }
}

impl Deref for FlowText {
    type Target = Flow;

    fn deref(&self) -> &Flow {
        &self.0.flow
    }
}

/// Two books are equal if their texts, read the same way, are: wherever they lie.
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

    #[derive(Debug)]
    struct Given(String);

    impl TextStore for Given {
        fn text(&self, _: &str) -> Result<String, String> {
            if self.0.is_empty() { Err("no such file".to_owned()) } else { Ok(self.0.clone()) }
        }
    }

    #[test]
    fn a_book_in_a_store_is_the_same_book_and_is_open_while_it_is_read() {
        let source = "\u{FEFF}He went\r\nhome.\r\n\r\nShe did not.";
        let book = read(source).expect("text");
        let stored = book.clone().kept_in(Arc::new(Given(source.to_owned())));
        assert_eq!(stored, book);
        assert_eq!((&*stored.source(), stored.flow().text()), (source, book.flow().text()));
        let open = stored.open().expect("the store has it");
        assert!(Arc::ptr_eq(&open, &stored.open().expect("still open")), "those who read at once share it");
    }

    #[test]
    fn a_text_that_is_gone_or_changed_is_named() {
        for (now, problem) in [("", "no such file"), ("Other.", "has changed since")] {
            let stored = read("Text.").expect("text").kept_in(Arc::new(Given(now.to_owned())));
            let message = stored.open().unwrap_err().to_string();
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

//! Why a file is no EPUB that can be read.

/// Why an EPUB archive cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EpubError {
    /// The archive or its table of contents is broken.
    #[error("not a readable EPUB: {reason}; expected a ZIP archive with META-INF/container.xml; get the file anew")]
    Broken {
        /// What went wrong, outermost first.
        reason: String,
    },
    /// It is none.
    #[error("the file is {what}, not an EPUB: {hint}")]
    Other {
        /// What it is.
        what: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// A chapter cannot be read.
    #[error("chapter `{href}` of the EPUB cannot be read: {reason}; get the file anew")]
    Chapter {
        /// Its name in the archive.
        href: String,
        /// What went wrong.
        reason: String,
    },
    /// More than a book can be.
    #[error(
        "the EPUB is too large: {what} would unpack to more than {most}; expected a book; give its text as .txt files"
    )]
    TooLarge {
        /// What of it.
        what: String,
        /// What is read at most.
        most: String,
    },
    /// Its chapters are encrypted.
    #[error("the EPUB is encrypted (DRM): expected readable chapters; get a copy without protection")]
    Encrypted,
    /// No chapter has text.
    #[error("the EPUB holds no text: its {n_chapters} chapters are empty or pictures; give a book with text")]
    NoText {
        /// Chapters in reading order.
        n_chapters: usize,
    },
}

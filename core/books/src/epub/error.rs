//! Errors of a file that is no EPUB, or none that can be read.

/// The reason why an EPUB archive cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EpubError {
    /// The archive or its table of contents is broken.
    #[error("not a readable EPUB: {reason}; expected a ZIP archive with META-INF/container.xml; get the file anew")]
    Broken {
        /// Errors, outermost first.
        reason: String,
    },
    /// The file is no EPUB.
    #[error("the file is {what}, not an EPUB: {hint}")]
    Other {
        /// Kind of file that it is.
        what: &'static str,
        /// Hint on what to do.
        hint: &'static str,
    },
    /// A chapter cannot be read.
    #[error("chapter `{href}` of the EPUB cannot be read: {reason}; get the file anew")]
    Chapter {
        /// Name of the file in the archive.
        href: String,
        /// Message of the error.
        reason: String,
    },
    /// The archive holds more than a book can be.
    #[error(
        "the EPUB is too large: {what} would unpack to more than {most}; expected a book; give its text as .txt files"
    )]
    TooLarge {
        /// Part of the archive that is too large.
        what: String,
        /// Most that is read of it.
        most: String,
    },
    /// The chapters are encrypted.
    #[error("the EPUB is encrypted (DRM): expected readable chapters; get a copy without protection")]
    Encrypted,
    /// The reading order holds no chapter.
    #[error(
        "the EPUB's reading order holds no chapter: {reason}; expected `itemref` in the `spine` of its package; give the book's text as a .txt file"
    )]
    NoChapter {
        /// What was found instead.
        reason: String,
    },
    /// There is no chapter with text.
    #[error("the EPUB holds no text: its {n_chapters} chapters are empty or pictures; give a book with text")]
    NoText {
        /// Number of chapters in reading order.
        n_chapters: usize,
    },
}

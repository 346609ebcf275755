//! Readers that are no language model.

/// What a reader is asked, as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The passages handed over, in the order of the prompt; empty for a closed book.
    pub context: Vec<String>,
    /// The question.
    pub question: String,
    /// The options of a choice; empty for an open question.
    pub options: Vec<String>,
    /// ISO 639-1 code of the text.
    pub language: String,
}

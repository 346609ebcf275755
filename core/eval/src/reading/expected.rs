//! A call as data, for readers that are no language model, and what its response is to hold.

use crate::Task;
use crate::answer::Form;
use closeread_text::Language;

/// The input from which a reader without a language model answers a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractiveInput {
    /// The passages handed over, in the order of the prompt; empty for a closed book.
    pub context: Vec<String>,
    /// The question.
    pub question: String,
    /// The options of a choice; empty for an open question.
    pub options: Vec<String>,
    /// Further questions of the same task on the same context, where one call asks several.
    pub further: Vec<Question>,
    /// The kind of answer that is asked for.
    pub task: Task,
    /// What the response must hold.
    pub expected: Expected,
    /// The language of the text.
    pub language: Language,
}

/// What the response to a call must hold; [`Expected::parse`] reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// An answer, in this form.
    Answer(Form),
    /// A search, `<query>` ... `</query>`, or an answer between tags (SagaScale §4.1).
    Turn {
        /// Whether nothing was found yet, so that an answer could be a guess alone.
        must_search: bool,
    },
    /// A pause between two pages: `Break point: <57>`, one of the labels that stand as options (ReadAgent).
    Break,
    /// Pages to read again: `Page [2, 5]`, at most so many of the passages by their numbers from 0, or `STOP` (ReadAgent).
    Pages(usize),
    /// The parts of a section, and of the memory before it, that are worth remembering (MemAgent).
    Memory,
    /// A page made short (ReadAgent).
    Gist,
    /// A summary of the passages below a node of a tree (RAPTOR).
    Node,
}

impl ExtractiveInput {
    /// A call for a summary of `passages` that is about nothing in particular: what shares most with all of them.
    pub fn summary(passages: Vec<String>, expected: Expected, language: Language) -> Self {
        Self {
            question: passages.join("\n"),
            context: passages,
            options: Vec::new(),
            further: Vec::new(),
            task: Task::Summary,
            expected,
            language,
        }
    }
}

/// One question of a call that asks several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub question: String,
    /// The options of a choice; empty for an open question.
    pub options: Vec<String>,
}

//! Readers that are no language model.

mod extractive;

pub use extractive::answer;

use crate::answer::Form;
use crate::benchmark::Task;

/// The reader's name, as `--model` takes it.
pub const EXTRACTIVE: &str = "builtin/extractive";

/// What a reader is asked, as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The passages handed over, in the order of the prompt; empty for a closed book.
    pub context: Vec<String>,
    /// The question.
    pub question: String,
    /// The options of a choice; empty for an open question.
    pub options: Vec<String>,
    /// Further questions of the same task on the same context, where one call asks several.
    pub further: Vec<Question>,
    /// What kind of answer is asked for.
    pub task: Task,
    /// What the reply is to hold.
    pub want: Want,
    /// ISO 639-1 code of the text.
    pub language: String,
}

/// What a call wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// An answer, in this form.
    Answer(Form),
    /// A search: `<query>` ... `</query>` (SagaScale §4.1).
    Query,
    /// A pause between two pages: `Break point: <57>`, one of the labels that stand as options (ReadAgent).
    Break,
    /// Pages to read again: `Page [2, 5]`, at most so many of the passages by their numbers from 0, or `STOP` (ReadAgent).
    Pages(usize),
}

impl Reading {
    /// A call for a summary of `passages` that is about nothing in particular: what shares most with all of them.
    pub fn summary(passages: Vec<String>, language: &str) -> Self {
        Self {
            question: passages.join("\n"),
            context: passages,
            options: Vec::new(),
            further: Vec::new(),
            task: Task::Summary,
            want: Want::Answer(Form::Marked),
            language: language.to_owned(),
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

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
    /// The form in which the prompt wants it.
    pub form: Form,
    /// ISO 639-1 code of the text.
    pub language: String,
}

/// One question of a call that asks several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub question: String,
    /// The options of a choice; empty for an open question.
    pub options: Vec<String>,
}

//! Logs of other evaluation tools: logs of inspect_ai, samples of lm-evaluation-harness.
//!
//! Both are read into items with gold answers, what a model answered, and the scores that the tool gave.

pub mod inspect;
pub mod lm_eval;

use closeread_eval::rows::{scalar, scalars};
use closeread_eval::{Item, Outcome, Task};
use closeread_text::hash::sha256;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The fields that name the document of an item, the first that is there.
const DOCUMENTS: [&str; 8] =
    ["documents", "document", "document_id", "book", "book_id", "article_id", "context_id", "title"];
/// Characters of a value that may be a label's.
const LABEL: usize = 40;
/// Most bytes of a document's name: what is longer is its text.
const MAX_NAME_BYTES: usize = 200;
/// Most bytes to keep of what was asked: logs repeat the book in every sample, and what a report publishes holds none.
const MAX_QUESTION_BYTES: usize = 1500;

/// One log: a task that a model was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignLog {
    /// The file, as named by the user.
    pub file: String,
    /// Name of the task.
    pub task: String,
    /// The model, as the tool names it.
    pub model: String,
    /// Method and budget by which the model was asked, where closeread wrote the log.
    pub cell: Option<(String, Option<usize>)>,
    /// False where the tool says that the task did not come to its end.
    pub is_complete: bool,
    /// Number of epochs that the task was to have, where the log says so.
    pub epochs: Option<u32>,
    /// The samples, in the order of the log.
    pub samples: Vec<ForeignSample>,
    /// Notes that a reader must know to read the scores, a sentence each.
    pub notes: Vec<String>,
}

/// The result of one sample.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignSample {
    /// The item with its gold.
    pub item: Item,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Outcome of the sample.
    pub outcome: Outcome,
    /// The tool's scores by name, in 0..=1.
    pub scores: BTreeMap<String, f64>,
    /// Tokens of its prompts, where the tool says so; else 0.
    pub prompt_tokens: usize,
    /// Wall time, where the tool says so; else 0.
    pub seconds: f64,
}

/// The reason why a file is no log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {why}")]
pub struct ForeignError {
    /// The file, as named by the user.
    pub file: String,
    /// Message of the error: what is wrong, what was expected, what to do.
    pub why: String,
}

impl ForeignLog {
    /// Adds a score to those of a sample. One that is no number from 0 to 1 takes its name out of the whole log: the others
    /// would make a mean of a part.
    fn keep(&mut self, scores: &mut BTreeMap<String, f64>, name: String, value: Option<f64>) {
        let note = format!("scores of `{name}` are not all from 0 to 1, and are left out");
        match value.filter(|value| (0.0..=1.0).contains(value)) {
            _ if self.notes.contains(&note) => {}
            Some(value) => drop(scores.insert(name, value)),
            None => {
                for sample in &mut self.samples {
                    sample.scores.remove(&name);
                }
                self.notes.push(note);
            }
        }
    }
}

impl ForeignError {
    fn new(file: &str, why: impl Into<String>) -> Self {
        Self { file: file.to_owned(), why: why.into() }
    }
}

/// The documents that an item's fields name. A field may hold the document itself, whose hash is its name then.
fn documents(fields: &Map<String, Value>) -> Vec<String> {
    let mut named = DOCUMENTS.iter().filter_map(|name| fields.get(*name)).map(scalars);
    let named = named.find(|documents| !documents.is_empty()).unwrap_or_default();
    let name = |text: String| if text.len() > MAX_NAME_BYTES { sha256(text.as_bytes()) } else { text };
    named.into_iter().map(name).collect()
}

/// Short texts among an item's fields, which tables may break scores down by.
fn labels(fields: &Map<String, Value>, but: &[&str]) -> BTreeMap<String, String> {
    let is_label = |name: &str, value: &Value| {
        !DOCUMENTS.contains(&name) && !but.contains(&name) && value.as_str().is_some_and(|text| text.len() <= LABEL)
    };
    let some = fields.iter().filter(|(name, value)| is_label(name, value));
    some.filter_map(|(name, value)| Some((name.clone(), scalar(value)?))).collect()
}

/// A choice whose right option is known, or an open question: the end of what was asked, without the book before it.
fn item(id: String, question: String, options: Vec<String>, correct: Option<usize>, answers: Vec<String>) -> Item {
    let task = if options.is_empty() { Task::Generative } else { Task::Choice };
    let end = question.ceil_char_boundary(question.len().saturating_sub(MAX_QUESTION_BYTES));
    let mut item = Item::new(id, String::new(), &question[end..], task);
    item.documents.clear();
    (item.options, item.correct, item.answers) = (options, correct, answers);
    item
}

/// The place of an option that is named by its letter or its text; a small letter is first of all a text.
fn option_of(text: &str, options: &[String]) -> Option<usize> {
    let text = text.trim();
    let by_letter = |first: u8| match text.as_bytes() {
        [letter] => letter.checked_sub(first).map(usize::from).filter(|place| *place < options.len().min(26)),
        _ => None,
    };
    let by_text = || options.iter().position(|option| option.trim() == text);
    by_letter(b'A').or_else(by_text).or_else(|| by_letter(b'a'))
}

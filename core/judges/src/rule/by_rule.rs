//! What the rule says of an answer.

use serde::{Deserialize, Serialize};

/// What the rule says of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByRule {
    /// The form of the gold answer.
    pub form: AnswerForm,
    /// It agrees to the letter of the form.
    pub strict: bool,
    /// It agrees apart from notation: units, thousands, number words, order of lists, case, marks.
    pub tolerant: bool,
}

/// The form of a gold answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// An option.
    Choice,
    /// A number, in digits or words, with a unit or without.
    Number,
    /// A percentage.
    Percentage,
    /// A month, `YYYY-MM`.
    Date,
    /// Several texts.
    List,
    /// Words without a form.
    Text,
}

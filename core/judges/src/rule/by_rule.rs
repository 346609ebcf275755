//! The rule's findings on an answer.

use serde::{Deserialize, Serialize};

/// The rule's findings on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ByRule {
    /// The form of the gold answer.
    pub form: AnswerForm,
    /// Whether the answer agrees to the letter of the form.
    pub strict: bool,
    /// Whether the answer agrees apart from notation: units, thousands, number words, order of lists, case, marks.
    pub tolerant: bool,
}

/// The form of a gold answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// An option of a choice.
    Choice,
    /// A number, in digits or words, with a unit or without.
    Number,
    /// A percentage.
    Percentage,
    /// A month, `YYYY-MM`.
    Date,
    /// Several texts.
    List,
    /// Words in no particular form.
    Text,
}

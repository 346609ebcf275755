//! The answer of a response to one question.

use crate::Outcome;

/// The answer of a response to one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The answer, or why there is none.
    pub outcome: Outcome,
    /// The sentences it cites, where it was asked for them.
    pub evidence: Option<Vec<String>>,
}

impl From<Outcome> for Answer {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, evidence: None }
    }
}

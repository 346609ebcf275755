//! Predictions with their gold answers, from whatever file they came.

use closeread_eval::Outcome;
use closeread_eval::{Item, Problem, ProblemList};
use closeread_metrics::Metric;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Predictions and the items they are scored against: what every prediction format is read into.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Submission {
    /// Every item with its gold answer, in file order; ids are unique.
    pub items: Vec<Item>,
    /// Attempts by the item's id: what the file says of an item. An item without an entry is missing.
    pub attempts: BTreeMap<String, Attempt>,
    /// Rows that could not be used.
    pub problems: Problems,
    /// Rows that were used with a repair, which each note states.
    pub notes: ProblemList,
    /// True for a log that did not come to its end: items can be missing that it does not name.
    pub is_unfinished: bool,
    /// Metrics that the format's own scorer computes, the main metric first.
    pub metrics: Vec<Metric>,
    /// Scores of the format that an item has nothing for, by its id: however its trial ends, that is no 0.
    pub inapplicable: BTreeMap<String, Vec<String>>,
}

impl Submission {
    /// True if there are rows and none can be used: a card of it has zeros that look like a score.
    pub fn is_unusable(&self) -> bool {
        self.attempts.is_empty() && self.problems.iter().next().is_some()
    }
}

/// The attempt at one item, as a file gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Outcome of the trial.
    pub outcome: Outcome,
    /// Passages cited as evidence.
    pub evidence: Vec<String>,
    /// Scores in 0..=1 that only the format can give, by name: another reading of the response (`accuracy_strict`), marks
    /// that people or judges gave. They take the place of a [`Metric`] of the same name and stand beside the others.
    pub given: BTreeMap<String, f64>,
}

/// Rows that could not be used, by what was wrong; each names file, line and item where they are known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Problems {
    /// Further rows for an item that already has one; the first row counts.
    #[cfg_attr(feature = "typescript", ts(as = "Vec<Problem>"))]
    pub duplicate_ids: ProblemList,
    /// Rows for items that the gold file does not have.
    #[cfg_attr(feature = "typescript", ts(as = "Vec<Problem>"))]
    pub unknown_ids: ProblemList,
    /// Rows that are no prediction at all.
    #[cfg_attr(feature = "typescript", ts(as = "Vec<Problem>"))]
    pub malformed_rows: ProblemList,
}

impl Problems {
    /// True if every row could be used.
    pub fn is_empty(&self) -> bool {
        self.duplicate_ids.is_empty() && self.unknown_ids.is_empty() && self.malformed_rows.is_empty()
    }

    /// Returns all problems.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.malformed_rows.iter().chain(self.unknown_ids.iter()).chain(self.duplicate_ids.iter())
    }
}

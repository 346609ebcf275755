//! One trial, as the tables need it.

use crate::Outcome;
use crate::Task;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One trial with everything that a paper's table asks of it.
///
/// An item that was to be tried and has no record is a case that ended [`Ending::Missing`]; with it a table's
/// denominator is the benchmark, not what happened to finish.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Id of the item.
    pub item: String,
    /// What the item's questions cluster by: the ids of its documents.
    pub book: String,
    /// What kind of answer was asked for.
    pub task: Task,
    /// Name of the method.
    pub method: String,
    /// Reader, `provider/model`.
    pub model: String,
    /// Token budget of the retrieved context, where the method has one.
    pub budget: Option<usize>,
    /// Number of the repetition, from 0.
    pub sample: u32,
    /// How the trial ended.
    pub ending: Ending,
    /// Score by metric, in 0..=1.
    pub scores: BTreeMap<String, f64>,
    /// The item's labels.
    pub labels: BTreeMap<String, String>,
    /// Length of the item's documents together, in tokens of the run's tokenizer.
    pub book_tokens: Option<usize>,
    /// Where each piece of gold evidence that was found starts, in tokens from the book's start.
    pub evidence_tokens: Vec<usize>,
    /// Searches the method made; absent for a method that makes none of its own.
    pub tool_calls: Option<usize>,
    /// Tokens the model's window holds.
    pub window: Option<usize>,
    /// Passages in the context; absent where there was no retrieval.
    pub n_passages: Option<usize>,
    /// Documents the item is about.
    pub n_documents: usize,
    /// Wall time of the trial in seconds.
    pub seconds: Option<f64>,
}

impl Case {
    /// A trial that ended with an answer, with nothing that is optional.
    pub fn new(item: impl Into<String>, book: impl Into<String>, method: impl Into<String>) -> Self {
        Self {
            item: item.into(),
            book: book.into(),
            task: Task::Generative,
            method: method.into(),
            model: String::new(),
            budget: None,
            sample: 0,
            ending: Ending::Answered,
            scores: BTreeMap::new(),
            labels: BTreeMap::new(),
            book_tokens: None,
            evidence_tokens: Vec::new(),
            tool_calls: None,
            window: None,
            n_passages: None,
            n_documents: 1,
            seconds: None,
        }
    }

    /// Method, model and budget.
    pub fn configuration(&self) -> Configuration {
        Configuration { method: self.method.clone(), model: self.model.clone(), budget: self.budget }
    }

    /// The trial's score under a metric, in 0..=1, as the policy has it; `None` if it does not count.
    ///
    /// An answer without a score under that metric (it needs a judge, say) never counts, nor does an item without gold.
    pub fn score(&self, metric: &str, policy: FailurePolicy) -> Option<f64> {
        if self.ending == Ending::Unscored || (policy == FailurePolicy::FailuresLeftOut && self.ending.is_failure()) {
            return None;
        }
        let score = self.scores.get(metric).copied().filter(|score| score.is_finite());
        score.or((self.ending != Ending::Answered).then_some(0.0))
    }

    /// The value of a label.
    pub fn label_value(&self, label: &str) -> Option<&str> {
        self.labels.get(label).map(String::as_str)
    }
}

/// What a row of a table is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Configuration {
    /// Name of the method.
    pub method: String,
    /// Reader, `provider/model`.
    pub model: String,
    /// Token budget of the retrieved context, where the method has one.
    pub budget: Option<usize>,
}

/// How a trial ended, without what it said: [`Outcome`], and the two ways in which there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With an answer.
    Answered,
    /// The reader said that its context does not hold the answer.
    NotFound,
    /// The reader spent its searches without an answer.
    Unanswered,
    /// The prompt does not fit the model's window.
    Overflow,
    /// The provider refused the content.
    Blocked,
    /// The reply holds no answer in the agreed form.
    Unparsed,
    /// A call failed for good.
    Failed,
    /// There is no record.
    Missing,
    /// The item has no gold answer, or the method does not answer items of its kind.
    Unscored,
}

impl Ending {
    /// True where the reader never got to answer: the prompt did not fit, was refused, a call failed, nothing was run.
    ///
    /// That it found nothing, gave up or broke the form is the reader's own doing and no failure in this sense.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Overflow | Self::Blocked | Self::Failed | Self::Missing)
    }

    /// True where the reader committed itself to an answer, well-formed or not.
    pub const fn is_attempt(self) -> bool {
        matches!(self, Self::Answered | Self::Unparsed)
    }
}

impl From<&Outcome> for Ending {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Answered { .. } => Self::Answered,
            Outcome::NotFound => Self::NotFound,
            Outcome::Unanswered => Self::Unanswered,
            Outcome::Overflow { .. } => Self::Overflow,
            Outcome::Blocked { .. } => Self::Blocked,
            Outcome::Unparsed { .. } => Self::Unparsed,
            Outcome::Failed { .. } => Self::Failed,
            Outcome::NotAsked { .. } => Self::Unscored,
        }
    }
}

/// What becomes of trials in which the reader never got to answer ([`Ending::is_failure`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailurePolicy {
    /// They count as wrong: SagaScale's Table 3, NovelQA.
    FailuresWrong,
    /// They are left out, of the denominator too: CorpusQA's responses that are missing at inference, ReadAgent's
    /// queries over the limit.
    FailuresLeftOut,
}

impl FailurePolicy {
    /// Both, the default first.
    pub const ALL: [Self; 2] = [Self::FailuresWrong, Self::FailuresLeftOut];

    /// As a table and JSON call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FailuresWrong => "failures_wrong",
            Self::FailuresLeftOut => "failures_left_out",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::case;

    #[test]
    fn the_policy_decides_about_failures_alone() {
        let ended = |ending| Case { ending, ..case("a") };
        let both = |case: &Case| FailurePolicy::ALL.map(|policy| case.score("accuracy", policy));
        assert_eq!(both(&case("a").scored("accuracy", 1.0)), [Some(1.0), Some(1.0)]);
        assert_eq!(both(&ended(Ending::Overflow)), [Some(0.0), None]);
        assert_eq!(both(&ended(Ending::Missing)), [Some(0.0), None]);
        assert_eq!(both(&ended(Ending::NotFound)), [Some(0.0), Some(0.0)]);
        assert_eq!(both(&ended(Ending::Unparsed)), [Some(0.0), Some(0.0)]);
        assert_eq!(both(&ended(Ending::Unscored)), [None, None]);
        assert_eq!(both(&case("a")), [None, None], "answered, but nothing scored it");
        assert_eq!(both(&case("a").scored("accuracy", f64::NAN)), [None, None]);
    }
}

//! One row of the table: how a planned trial ended and what it scored.

use super::{CellKey, MetricName};
use crate::Outcome;
use closeread_metrics::Metric;
use closeread_metrics::bleu::{BleuOrder, BleuSmoothing, BleuStatistics};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A cell of a table, by its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellId(pub(super) usize);

/// An item of a table, by its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId(pub(super) usize);

/// Name of a number that a method reports besides scores, such as `searches`.
pub type Measure = Arc<str>;

/// A planned trial and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation<C = CellId, I = ItemId> {
    /// The cell it belongs to.
    pub cell: C,
    /// The item that was asked.
    pub item: I,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// How the trial ended.
    pub outcome: Ending,
    /// Scores of the trial. A metric without an entry does not apply.
    pub scores: BTreeMap<MetricName, Score>,
    /// Numbers that the method counted.
    pub measures: BTreeMap<Measure, f64>,
    /// Parts that were cut.
    pub marks: Marks,
    /// Calls, tokens, money and time that the trial took.
    pub spent: Spent,
}

/// A finished trial, with its cell by key and its item by id.
pub type Done = Observation<CellKey, String>;

impl<C, I> Observation<C, I> {
    /// A trial that ended so, with nothing else known of it.
    pub fn new(cell: C, item: I, repeat: u32, outcome: Ending) -> Self {
        let (scores, measures) = (BTreeMap::new(), BTreeMap::new());
        Self { cell, item, repeat, outcome, scores, measures, marks: Marks::default(), spent: Spent::default() }
    }
}

/// How a trial ended, without its words, and the ways to have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The trial ended with an answer.
    Answered,
    /// The model said that its context does not hold the answer.
    NotFound,
    /// The model stopped without an answer: its searches are spent, or its response is empty.
    Unanswered,
    /// The response holds no answer in the agreed form.
    Unparsed,
    /// The prompt does not fit the context window.
    Overflow,
    /// The response was cut by its limit of tokens and holds no answer.
    CutShort,
    /// The provider refused the content.
    Blocked,
    /// A call failed for good.
    Failed,
    /// There is no record of the trial.
    Missing,
    /// The item has no gold answer.
    NoGold,
    /// The method does not answer items of this kind.
    NotAsked,
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
            Outcome::CutShort { .. } => Self::CutShort,
            Outcome::Failed { .. } => Self::Failed,
            Outcome::NotAsked { .. } => Self::NotAsked,
        }
    }
}

impl Ending {
    /// Every ending.
    pub const ALL: [Self; 11] = [
        Self::Answered,
        Self::NotFound,
        Self::Unanswered,
        Self::Unparsed,
        Self::Overflow,
        Self::CutShort,
        Self::Blocked,
        Self::Failed,
        Self::Missing,
        Self::NoGold,
        Self::NotAsked,
    ];

    /// Returns the ending's name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::NotFound => "not_found",
            Self::Unanswered => "unanswered",
            Self::Unparsed => "unparsed",
            Self::Overflow => "overflow",
            Self::CutShort => "cut_short",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
            Self::Missing => "missing",
            Self::NoGold => "no_gold",
            Self::NotAsked => "not_asked",
        }
    }

    /// True where the model never got to answer: [`FailurePolicy`](super::FailurePolicy) decides what that counts for.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Overflow | Self::CutShort | Self::Blocked | Self::Failed | Self::Missing)
    }

    /// True where there is nothing to score: neither right nor wrong.
    pub const fn is_never_scored(self) -> bool {
        matches!(self, Self::NoGold | Self::NotAsked)
    }
}

/// A score under one metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// A number, in 0..=1.
    Value(f64),
    /// A share that can be pooled: key facts that a summary states, sentences that are faithful.
    Ratio {
        /// Number of hits.
        hit: u32,
        /// Number that the hits are out of; with 0 there is no share.
        of: u32,
    },
    /// The judges gave no verdict, or none that can be read.
    Unjudged,
    /// Statistics that corpus BLEU adds up.
    Bleu(BleuStatistics),
}

impl Score {
    /// The score of this trial alone; `None` where there is none.
    pub fn value(&self, metric: &MetricName) -> Option<f64> {
        match self {
            Self::Value(value) => Some(*value).filter(|value| value.is_finite()),
            Self::Ratio { hit, of } => (*of > 0).then(|| f64::from(*hit) / f64::from(*of)),
            Self::Unjudged => None,
            Self::Bleu(counts) => Some(bleu(counts, metric)),
        }
    }
}

/// BLEU of what was counted, by the order that the metric's name has; four where it has none.
pub(super) fn bleu(counts: &BleuStatistics, metric: &MetricName) -> f64 {
    let order = metric.known().and_then(Metric::bleu_order).unwrap_or(BleuOrder::Four);
    counts.score(order, BleuSmoothing::None).bleu
}

/// Calls of a trial in which something was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks {
    /// Responses that ended at their limit of tokens.
    pub cut_short: u32,
    /// Prompts that the server seems to have cut without saying so.
    pub server_truncated: u32,
}

/// Calls, tokens, money and time that a trial took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    /// Tokens of its prompts by the run's tokenizer; 0 if none was made.
    pub prompt_tokens: usize,
    /// Wall time, waiting included.
    pub seconds: f64,
}

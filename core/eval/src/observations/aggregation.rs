//! How a mean is made.

use super::{Counting, FailurePolicy, MetricName};
use serde::{Deserialize, Serialize};

/// How a mean is made.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregation {
    /// Of which scores.
    pub metric: MetricName,
    /// What becomes of failures.
    pub policy: FailurePolicy,
    /// What else a protocol counts otherwise.
    pub counting: Counting,
    /// Over what.
    pub unit: Unit,
    /// What weighs alike.
    pub weighting: Weighting,
}

/// What a mean is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// Items: an item's score is the mean over its repeats that count.
    #[default]
    Item,
    /// Pairs of claims: a pair's score is the lowest of its claims'.
    Pair,
    /// Books: a book's score is the mean over its items.
    Book,
}

/// What weighs alike in a mean.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weighting {
    /// Every item, or every unit.
    #[default]
    Item,
    /// Everything that is counted: hits over all observations by their denominators, corpus BLEU. It knows no unit.
    Pooled,
    /// Every value of a label: the mean of its values' means.
    MeanOver(String),
}

impl Aggregation {
    /// The mean over items that closeread prints where nothing else is said: failures are wrong.
    pub fn new(metric: impl Into<MetricName>) -> Self {
        let (policy, counting, unit, weighting) = Default::default();
        Self { metric: metric.into(), policy, counting, unit, weighting }
    }
}

//! Aggregation: how a mean is made.

use super::{Counting, FailurePolicy, MetricName};
use serde::{Deserialize, Serialize};

/// The way to make a mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregation {
    /// The metric whose scores are averaged.
    pub metric: MetricName,
    /// What failures count as.
    pub policy: FailurePolicy,
    /// Exceptions of a protocol in what counts for what.
    pub counting: Counting,
    /// The unit that the mean is taken over.
    pub unit: Unit,
    /// What has equal weight.
    pub weighting: Weighting,
}

/// The unit that a mean is taken over.
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

/// What has equal weight in a mean.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weighting {
    /// Every item has equal weight, or every unit.
    #[default]
    Item,
    /// Everything that is counted has equal weight: hits over all observations by their denominators, corpus BLEU. It
    /// knows no unit.
    Pooled,
    /// Every value of this label has equal weight: the mean of its values' means.
    MeanOver(String),
}

impl Aggregation {
    /// The mean over items that closeread prints where nothing else is said: failures are wrong.
    pub fn new(metric: impl Into<MetricName>) -> Self {
        let (policy, counting, unit, weighting) = Default::default();
        Self { metric: metric.into(), policy, counting, unit, weighting }
    }
}

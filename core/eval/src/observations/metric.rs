//! Names of metrics, and the one order in which they stand.

use closeread_metrics::Metric;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A metric: one of closeread's, or a score that a judge or a file of predictions gives under a name of its own.
///
/// Metrics are equal if their names are, and ordered by [`MetricName::RANK`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
#[serde(from = "String", into = "String")]
pub enum MetricName {
    /// A metric that is computed here.
    Known(Metric),
    /// The name of a score that is given from outside.
    Given(Arc<str>),
}

impl MetricName {
    /// The one order of metrics: the first that some rows have is their main metric, and tables show them so. Other names
    /// follow by alphabet, `hit@3` before `hit@10`; then come the metrics [of the context](Self::is_of_context).
    pub const RANK: [&'static str; 22] = [
        "judged_accuracy",
        "accuracy",
        "pair_accuracy",
        "f1",
        "f1_v2",
        "infinitebench_en_f1",
        "infinitebench_zh_f1",
        "exact_match",
        "accuracy_strict",
        "accuracy_tolerant",
        "recall",
        "faithfulness",
        "recall_faithfulness",
        "rougeL",
        "rougeLsum",
        "rouge1",
        "rouge2",
        "meteor",
        "bleu_1",
        "bleu_2",
        "bleu_3",
        "bleu_4",
    ];

    /// Returns the metric's name, as users write it.
    pub fn name(&self) -> &str {
        match self {
            Self::Known(metric) => metric.name(),
            Self::Given(name) => name,
        }
    }

    /// The metric, if closeread computes it.
    pub fn known(&self) -> Option<Metric> {
        match self {
            Self::Known(metric) => Some(*metric),
            Self::Given(_) => None,
        }
    }

    /// True of a metric that speaks of what the model was shown and not of its answer. It is never the main one.
    pub fn is_of_context(&self) -> bool {
        self.name() == Metric::EvidenceRecall.name()
    }

    fn place(&self) -> (usize, &str, u64, &str) {
        let name = self.name();
        let ranked = Self::RANK.iter().position(|known| *known == name);
        let rank = ranked.unwrap_or(Self::RANK.len() + usize::from(self.is_of_context()));
        let at = name.split_once('@').and_then(|(stem, k)| Some((stem, k.parse().ok()?)));
        let (stem, k) = at.unwrap_or((name, 0));
        (rank, stem, k, name)
    }
}

impl From<Metric> for MetricName {
    fn from(metric: Metric) -> Self {
        Self::Known(metric)
    }
}

impl From<&str> for MetricName {
    fn from(name: &str) -> Self {
        name.parse().map_or_else(|_| Self::Given(name.into()), Self::Known)
    }
}

impl From<String> for MetricName {
    fn from(name: String) -> Self {
        Self::from(name.as_str())
    }
}

impl From<MetricName> for String {
    fn from(name: MetricName) -> Self {
        name.name().to_owned()
    }
}

impl fmt::Display for MetricName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for MetricName {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for MetricName {}

impl Hash for MetricName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl Ord for MetricName {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for MetricName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_metric_has_a_place_of_its_own() {
        for metric in Metric::ALL.map(MetricName::from) {
            assert!(metric.is_of_context() || MetricName::RANK.contains(&metric.name()), "{metric}");
        }
        assert_eq!(BTreeSet::from(MetricName::RANK).len(), MetricName::RANK.len());
    }

    #[test]
    fn what_a_judge_says_comes_first_and_the_context_last() {
        let names = ["evidence_recall", "own", "meteor", "an own", "f1", "judged_accuracy"].map(MetricName::from);
        let ordered: Vec<String> = BTreeSet::from(names).into_iter().map(String::from).collect();
        assert_eq!(ordered, ["judged_accuracy", "f1", "meteor", "an own", "own", "evidence_recall"]);
        assert_eq!(MetricName::Given("f1".into()), MetricName::from(Metric::F1));
        let names = ["hit@10", "mrr", "hit@3", "hit@x", "hit"].map(MetricName::from);
        let ordered: Vec<String> = BTreeSet::from(names).into_iter().map(String::from).collect();
        assert_eq!(ordered, ["hit", "hit@3", "hit@10", "hit@x", "mrr"]);
    }
}

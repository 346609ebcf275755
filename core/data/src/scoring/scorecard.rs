//! The scorecard that scoring gives: the public JSON of `closeread score`.

use super::Problems;
use closeread_eval::observations::{FailurePolicy, Ledger, MetricName};
use closeread_metrics::Words;
use closeread_metrics::stats::Estimate;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;

/// The scores of a submission, with everything they rest on and everything they leave out.
///
/// The same submission gives the same bytes on every platform. Scores and intervals are in 0..=1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Scorecard {
    /// Items of the gold file.
    pub n: usize,
    /// True if no item is missing, and no log was cut off: only then is this the score of a whole run.
    pub complete: bool,
    /// Ledger: how the items ended, and the rows that could not be used.
    pub ledger: ScoredLedger,
    /// The metric that ranks: the first that was asked for, that the format's own scorer leads with, or by
    /// [`MetricName::RANK`]; absent where nothing could be scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main: Option<String>,
    /// Failure policy of `metrics` and `by`.
    pub policy: FailurePolicy,
    /// Score by metric under `policy`.
    #[serde(serialize_with = "in_order")]
    pub metrics: BTreeMap<String, Estimate>,
    /// Scores under every other policy.
    pub policies: BTreeMap<FailurePolicy, PolicyScores>,
    /// Way in which the text metrics cut Chinese.
    pub chinese: Words,
    /// Label, its value, the items that have it.
    pub by: BTreeMap<String, BTreeMap<String, Group>>,
    /// Scores of every item, in the order of the gold file.
    pub items: Vec<ScoredItem>,
    /// Notes that a reader must know: rows used with a repair, metrics that apply to nothing.
    pub notes: Vec<String>,
}

/// Metrics in the order of [`MetricName`].
fn in_order<S: Serializer>(metrics: &BTreeMap<String, Estimate>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut metrics: Vec<(&String, &Estimate)> = metrics.iter().collect();
    metrics.sort_by_key(|(name, _)| MetricName::from(name.as_str()));
    serializer.collect_map(metrics)
}

impl Scorecard {
    /// True if every row could be used and nothing is missing.
    pub fn is_clean(&self) -> bool {
        self.complete && self.ledger.problems.is_empty()
    }

    /// Names of the metrics, the main one first, the others in their order.
    pub fn metric_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.metrics.keys().map(String::as_str).collect();
        names.sort_by_key(|name| (Some(*name) != self.main.as_deref(), MetricName::from(*name)));
        names
    }

    /// The JSON that `closeread score --json` prints, without a line end.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a scorecard holds names, texts and finite numbers")
    }
}

/// A ledger whose counts add up to the items, and the rows that stand in none of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ScoredLedger {
    /// Counts of how the items ended.
    #[serde(flatten)]
    pub counts: Ledger,
    /// Rows that could not be used.
    pub problems: Problems,
}

/// Scores under one policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PolicyScores {
    /// Items that the policy counts and that have something to be scored against.
    pub n: usize,
    /// Score by metric; each has an `n` of its own.
    #[serde(serialize_with = "in_order")]
    pub metrics: BTreeMap<String, Estimate>,
}

/// The items that share a label's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Group {
    /// Number of items.
    pub n: usize,
    /// Ledger of the items.
    pub ledger: Ledger,
    /// Score by metric, failures counted as in the whole.
    #[serde(serialize_with = "in_order")]
    pub metrics: BTreeMap<String, Estimate>,
}

/// The scores of one item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ScoredItem {
    /// Id of the item.
    pub id: String,
    /// Outcome of the item: the field of the ledger that counts it.
    pub outcome: String,
    /// The documents it is about: what intervals cluster by.
    pub documents: Vec<String>,
    /// Labels of the item.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Names question and gold answer: two runs are compared on items that agree in it.
    pub gold: String,
    /// Score by metric, 0 where there is no answer. BLEU is that of the item alone, and a pair's score stands at the
    /// first item of the pair.
    pub scores: BTreeMap<String, f64>,
}

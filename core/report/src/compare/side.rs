//! One side of a comparison: what a cell, or a file of scores, says of each item.

use crate::cells::{Trials, TrialsByItem, cluster, scores};
use crate::{CellKey, EVIDENCE_RECALL, RunView};
use closeread_eval::Item;
use closeread_eval::{Ending, FailurePolicy};
use closeread_text::hash::short_hash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// As the comparison calls it.
    pub name: String,
    /// Every item that the side knows, scored or not; ids are unique.
    pub items: Vec<SideItem>,
}

/// What one side says of one item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SideItem {
    /// Its id.
    pub id: String,
    /// A fingerprint of question, gold answers and options; `None` where the side does not carry them.
    pub gold: Option<String>,
    /// A fingerprint of the quotes of its evidence, where the metric is about them and the side carries them.
    pub evidence: Option<String>,
    /// What its questions cluster by: its documents. Empty where the side does not carry them.
    pub cluster: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Score in 0..=1; `None` if it is missing or the metric does not apply to it.
    pub score: Option<f64>,
    /// True if the reader never got to answer: overflow, refusal, failed call.
    pub failed: bool,
}

impl SideItem {
    /// True unless both carry their gold and it differs.
    pub(super) fn may_be(&self, other: &Self) -> bool {
        let agree = |a: &Option<String>, b: &Option<String>| a.as_ref().zip(b.as_ref()).is_none_or(|(a, b)| a == b);
        agree(&self.gold, &other.gold) && agree(&self.evidence, &other.evidence)
    }
}

impl Side {
    /// A cell of a run under one metric.
    pub fn of_cell(name: impl Into<String>, run: &RunView<'_>, key: &CellKey, metric: &str) -> Self {
        Self::of_trials(name.into(), run, Trials::of(run.records).cell(key), metric)
    }

    /// The same from trials that are sorted into cells already.
    pub(super) fn of_trials(name: String, run: &RunView<'_>, trials: &TrialsByItem<'_>, metric: &str) -> Self {
        let mut by_metric = scores(run.items, trials, FailurePolicy::FailuresWrong);
        let scored: BTreeMap<&str, f64> = by_metric
            .remove(metric)
            .unwrap_or_default()
            .iter()
            .map(|(score, item)| (item.id.as_str(), *score))
            .collect();
        let failed = |item: &Item| {
            let trials = trials.get(item.id.as_str());
            trials.is_some_and(|records| records.iter().any(|r| Ending::from(&r.outcome).is_failure()))
        };
        let items = run.items.iter().map(|item| SideItem {
            id: item.id.clone(),
            gold: Some(item.gold_fingerprint()),
            evidence: (metric == EVIDENCE_RECALL).then(|| evidence_fingerprint(item)).flatten(),
            cluster: cluster(item),
            labels: item.labels.clone(),
            score: scored.get(item.id.as_str()).copied(),
            failed: failed(item),
        });
        Self { name, items: items.collect() }
    }

    /// The same side with gold, books and labels from `items`, for a side that carries none.
    #[must_use]
    pub fn with_gold(mut self, items: &[Item]) -> Self {
        let by_id: BTreeMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
        for one in &mut self.items {
            let Some(item) = by_id.get(one.id.as_str()) else { continue };
            one.gold.get_or_insert_with(|| item.gold_fingerprint());
            if one.cluster.is_empty() {
                one.cluster = cluster(item);
            }
            if one.labels.is_empty() {
                one.labels = item.labels.clone();
            }
        }
        self
    }
}

/// The gold of evidence recall: the quotes, wherever they stand.
fn evidence_fingerprint(item: &Item) -> Option<String> {
    let quotes: Vec<&str> = item.evidence.iter().map(|evidence| evidence.quote.as_str()).collect();
    (!quotes.is_empty()).then(|| short_hash(&serde_json::json!(quotes)))
}

//! Facts of cells and items that are known before anything runs.

use super::MetricName;
use crate::item::cluster;
use crate::{Item, Task};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The name of a line of a table: configuration, method, model, budget and task.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CellKey {
    /// Name of the configuration: empty in a single run, the run's name where runs are pooled.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub configuration: Arc<str>,
    /// Name of the method.
    pub method: Arc<str>,
    /// The model, `provider/model`.
    pub model: Arc<str>,
    /// Token budget of the retrieved context, where the method has one.
    pub budget: Option<usize>,
    /// The kind of answer that was asked for. Items asked both ways are in two cells.
    pub task: Task,
}

impl fmt::Display for CellKey {
    /// Writes the cell as in `int4: dos-rag at 1500 (openai/gpt-4o)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.configuration.is_empty() {
            write!(f, "{}: ", self.configuration)?;
        }
        f.write_str(&self.method)?;
        if let Some(budget) = self.budget {
            write!(f, " at {budget}")?;
        }
        write!(f, " ({})", self.model)
    }
}

/// A cell with what is known of its configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Key that names the cell.
    pub key: CellKey,
    /// Facts that the run states of the cell.
    pub facts: CellFacts,
}

/// Facts of a cell: what papers print of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CellFacts {
    /// Tokens that the model's context window holds.
    pub context_window: Option<usize>,
    /// Whether the model reasons before it answers, where that is known.
    pub reasoning: Option<bool>,
}

/// Facts of an item: of one id with one gold answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemFacts {
    /// Id of the item, unique within a run.
    pub id: String,
    /// Fingerprint of question, gold answers and options; empty where they are not known.
    pub gold: String,
    /// Fingerprint of the gold evidence; empty where there is none or it is not known.
    pub evidence: String,
    /// Ids of the documents it is about.
    pub documents: Vec<String>,
    /// Labels, name and value, that tables break scores down by.
    pub labels: BTreeMap<String, String>,
    /// Length of its documents together, in tokens of the run's tokenizer.
    pub book_tokens: Option<usize>,
    /// Places where each piece of gold evidence that was found starts, in tokens from the start of its document.
    pub evidence_tokens: Vec<usize>,
    /// Number of pieces of gold evidence whose place is not known, such as a summary in the annotator's words.
    pub evidence_unplaced: usize,
    /// How metrics apply to the item; a metric that is not listed applies [`Applies::Once`].
    pub metrics: BTreeMap<MetricName, Applies>,
}

/// How a metric applies to an item, answered or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Applies {
    /// A score weighs 1.
    #[default]
    Once,
    /// The score is a share of this number, such as the key facts of a summary or the tokens of a reference. A trial
    /// that counts as 0 adds them to the denominator where shares are pooled. Of 0 there is no share.
    OutOf(u32),
    /// The score is a share of something that only an answer has, such as its sentences.
    OutOfAnswer,
    /// The metric does not apply: nothing that happens to the item is a 0.
    Not,
}

impl From<&Item> for ItemFacts {
    /// Takes the facts that an item states of itself; every metric applies.
    fn from(item: &Item) -> Self {
        Self {
            id: item.id.clone(),
            gold: item.gold_fingerprint(),
            evidence: item.evidence_fingerprint().unwrap_or_default(),
            documents: item.documents.clone(),
            labels: item.labels.clone(),
            book_tokens: None,
            evidence_tokens: Vec::new(),
            evidence_unplaced: item.evidence.len(),
            metrics: BTreeMap::new(),
        }
    }
}

impl ItemFacts {
    /// Returns how a metric applies to the item.
    pub fn applies(&self, metric: &MetricName) -> Applies {
        match self.metrics.get(metric) {
            Some(Applies::OutOf(0)) => Applies::Not,
            Some(applies) => *applies,
            None => Applies::Once,
        }
    }

    /// Adds how metrics apply by what another run knows: where the two differ, the metric applies.
    pub(super) fn learn(&mut self, metrics: BTreeMap<MetricName, Applies>) {
        for (metric, applies) in metrics {
            let known = self.metrics.entry(metric).or_insert(applies);
            if *known == Applies::Not {
                *known = applies;
            }
        }
    }

    /// Returns the name that intervals cluster by: the set of the item's documents, in any order. An item without
    /// documents is a cluster of its own.
    pub fn cluster(&self) -> String {
        cluster(&self.documents, &self.id)
    }

    /// Returns what must agree for two scores to be of the same item: the gold answer, and for what a model was shown
    /// the gold evidence.
    pub(super) fn gold_under(&self, metric: &MetricName) -> [&str; 2] {
        [&self.gold, if metric.is_of_context() { &self.evidence } else { "" }]
    }

    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::item;
    use super::*;

    #[test]
    fn items_cluster_by_the_set_of_their_documents() {
        let about = |id: &str, documents: &[&str]| {
            let documents = documents.iter().map(|id| (*id).to_owned()).collect();
            ItemFacts { documents, ..item(id) }.cluster()
        };
        assert_eq!(about("a", &["x", "y"]), about("b", &["y", "x", "y"]));
        assert_ne!(about("a", &["x", "y"]), about("a", &["x"]));
        assert_ne!(about("a", &[]), about("b", &[]));
        assert_ne!(about("a", &[]), about("b", &["a"]));
    }

    #[test]
    fn of_nothing_there_is_no_share() {
        let metrics =
            BTreeMap::from([("recall".into(), Applies::OutOf(0)), ("faithfulness".into(), Applies::OutOf(2))]);
        let item = ItemFacts { metrics, ..item("a") };
        assert_eq!(item.applies(&"recall".into()), Applies::Not);
        assert_eq!(item.applies(&"faithfulness".into()), Applies::OutOf(2));
        assert_eq!(item.applies(&"f1".into()), Applies::Once);
    }
}

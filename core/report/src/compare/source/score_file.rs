//! A score file's items, as what a comparison pairs.

use closeread_eval::PAIR;
use closeread_eval::observations::{Applies, CellKey, Done, Ending, ItemFacts, Observation, Score};
use closeread_metrics::Metric;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What a score file lacks that is not complete.
pub(super) const INCOMPLETE: &str = "INCOMPLETE: items are missing, or a log did not come to its end";

/// An entry of `items` in what `closeread score --json` prints.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ScoreFileItem {
    /// Id of the item; each stands there once.
    pub id: String,
    #[serde(default)]
    outcome: Option<String>,
    #[serde(default)]
    gold: Option<String>,
    #[serde(default)]
    documents: Vec<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    scores: Option<BTreeMap<String, f64>>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl ScoreFileItem {
    /// Scores by metric: those of `scores`, or the numbers that stand beside the id.
    pub(super) fn scores(&self) -> BTreeMap<String, f64> {
        let mut scores = self.scores.clone().unwrap_or_else(|| {
            let number = |(name, value): (&String, &Value)| Some((name.clone(), value.as_f64()?));
            self.other.iter().filter_map(number).filter(|(_, score)| (0.0..=1.0).contains(score)).collect()
        });
        // It is made anew of the accuracies, and stands at the first item of a pair alone.
        if scores.contains_key(Metric::Accuracy.name()) || self.labels.contains_key(PAIR) {
            scores.remove(Metric::PairAccuracy.name());
        }
        scores
    }

    /// A score that is not from 0 to 1, with its metric: one in percent, say.
    pub fn out_of_range(&self) -> Option<(String, f64)> {
        const ROUNDING: f64 = 1e-9;
        let is_score = |name: &str| self.scores.is_none() && name.parse::<Metric>().is_ok();
        let beside = self.other.iter().filter(|(name, _)| is_score(name));
        let beside = beside.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
        self.scores().into_iter().chain(beside).find(|(_, score)| !(-ROUNDING..=1.0 + ROUNDING).contains(score))
    }

    /// A metric of the file under which it has no score does not apply.
    pub(super) fn facts(&self, metrics: &BTreeSet<String>) -> ItemFacts {
        let scores = self.scores();
        let absent = metrics.iter().filter(|metric| !scores.contains_key(*metric));
        ItemFacts {
            id: self.id.clone(),
            gold: self.gold.clone().unwrap_or_default(),
            evidence: String::new(),
            documents: self.documents.clone(),
            labels: self.labels.clone(),
            book_tokens: None,
            evidence_tokens: Vec::new(),
            evidence_unplaced: 0,
            metrics: absent.map(|metric| (metric.as_str().into(), Applies::Not)).collect(),
        }
    }

    pub(super) fn done(&self, key: &CellKey) -> Done {
        let named = |ending: &Ending| Some(ending.name()) == self.outcome.as_deref();
        // An unparsed response counts as its score, which a format may give.
        let counts = |ending: &Ending| *ending != Ending::Unparsed;
        let ending = Ending::ALL.into_iter().find(named).filter(counts).unwrap_or(Ending::Answered);
        let scores = self.scores().into_iter().map(|(name, value)| (name.into(), Score::Value(value)));
        Observation { scores: scores.collect(), ..Observation::new(key.clone(), self.id.clone(), 0, ending) }
    }
}

/// Returns a note on two names with different ways to cut Chinese.
pub(super) fn other_words([(a, of_a), (b, of_b)]: [(&str, Option<&str>); 2]) -> Option<String> {
    let differ = of_a.zip(of_b).is_some_and(|(of_a, of_b)| of_a != of_b);
    differ.then(|| {
        format!("{a} and {b} cut Chinese and Japanese into words in different ways: text metrics of such items do not compare")
    })
}

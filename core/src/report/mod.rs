//! A report is a pure function of records: whatever it says can be said again from the run folder.

mod table;

pub use table::{Table, Value};

use crate::benchmark::Item;
use crate::record::{Ledger, Record, TrialKey};
use crate::stats::{Estimate, Observation, estimate};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// What one line of the table is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CellKey {
    /// Name of the method.
    pub method: String,
    /// Reader, `provider/model`.
    pub model: String,
    /// Token budget of the retrieved context, where the method has one.
    pub budget: Option<usize>,
}

/// One line of the table: a method with a model at a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Method, model, budget.
    #[serde(flatten)]
    pub key: CellKey,
    /// Items of the run.
    pub n: usize,
    /// How they ended.
    pub ledger: Ledger,
    /// Mean score by metric, in 0..=1, each with its own number of items.
    pub metrics: BTreeMap<String, Estimate>,
    /// Mean tokens of a prompt, by the run's tokenizer, over the trials that made one.
    pub prompt_tokens_mean: Option<f64>,
    /// Wall time of all its trials together, waiting included.
    pub seconds: f64,
}

/// Name of the metric that says how much of the gold evidence stood in the context.
pub const EVIDENCE_RECALL: &str = "evidence_recall";
/// Name of the metric that wants both claims of a pair right (NoCha).
pub const PAIR_ACCURACY: &str = "pair_accuracy";
/// Name of the metric of choices.
const ACCURACY: &str = "accuracy";

/// The cells of a run in the order of `plan`: every (method, model, budget) that was asked for, finished or not.
///
/// With several samples an item's score is its mean over them. An item without a record is `missing`; one that has
/// nothing to score against is `unscored`.
pub fn cells(plan: &[CellKey], items: &[Item], records: &[Record]) -> Vec<Cell> {
    let mut latest: HashMap<&TrialKey, &Record> = HashMap::new();
    for record in records {
        latest.insert(&record.key, record);
    }
    let mut by_cell: HashMap<CellKey, TrialsByItem<'_>> = HashMap::new();
    for record in records.iter().filter(|r| std::ptr::eq(latest[&r.key], *r)) {
        let TrialKey { item, method, model, budget, .. } = &record.key;
        let key = CellKey { method: method.clone(), model: model.clone(), budget: *budget };
        by_cell.entry(key).or_default().entry(item).or_default().push(record);
    }
    let none = HashMap::new();
    plan.iter().map(|key| cell(key, items, by_cell.get(key).unwrap_or(&none))).collect()
}

/// The trials of each item, by its id.
type TrialsByItem<'a> = HashMap<&'a str, Vec<&'a Record>>;
/// An item's score under one metric.
type Scored<'a> = (f64, &'a Item);

fn cell(key: &CellKey, items: &[Item], records: &TrialsByItem<'_>) -> Cell {
    let mut ledger = Ledger { items: items.len(), ..Ledger::default() };
    let mut scores: BTreeMap<String, Vec<Scored<'_>>> = BTreeMap::new();
    let (mut prompt_tokens, mut n_prompts, mut seconds) = (0usize, 0usize, 0.0);
    for item in items {
        let Some(trials) = records.get(item.id.as_str()) else {
            ledger.missing += 1;
            continue;
        };
        let scored = trials.iter().any(|r| r.scores.keys().any(|metric| metric != EVIDENCE_RECALL));
        if scored {
            ledger.count(&trials[0].outcome);
        } else {
            ledger.unscored += 1;
        }
        for (metric, mean) in mean_scores(trials) {
            scores.entry(metric).or_default().push((mean, item));
        }
        for record in trials {
            seconds += record.seconds;
            prompt_tokens += record.prompt_tokens;
            n_prompts += usize::from(record.prompt_tokens > 0);
        }
    }
    if let Some(pairs) = scores.get(ACCURACY).map(|scores| pair_scores(scores)).filter(|pairs| !pairs.is_empty()) {
        scores.insert(PAIR_ACCURACY.to_owned(), pairs);
    }
    let metrics = scores.into_iter().filter_map(|(metric, scores)| Some((metric, estimated(&scores)?))).collect();
    Cell {
        key: key.clone(),
        n: items.len(),
        ledger,
        metrics,
        prompt_tokens_mean: (n_prompts > 0).then(|| prompt_tokens as f64 / n_prompts as f64),
        seconds,
    }
}

fn mean_scores(trials: &[&Record]) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (f64, usize)> = BTreeMap::new();
    for (metric, score) in trials.iter().flat_map(|r| &r.scores) {
        let (sum, n) = sums.entry(metric.clone()).or_default();
        *sum += score;
        *n += 1;
    }
    sums.into_iter().map(|(metric, (sum, n))| (metric, sum / n as f64)).collect()
}

/// One score a pair of claims: 1 if both are right. A claim whose partner was not run forms no pair.
fn pair_scores<'a>(scores: &[Scored<'a>]) -> Vec<Scored<'a>> {
    let mut pairs: BTreeMap<(&[String], &str), Vec<Scored<'a>>> = BTreeMap::new();
    for &(score, item) in scores {
        if let Some(pair) = item.labels.get("pair") {
            pairs.entry((&item.documents, pair)).or_default().push((score, item));
        }
    }
    let both = |claims: Vec<Scored<'a>>| match claims[..] {
        [(a, item), (b, _)] => Some((a.min(b), item)),
        _ => None,
    };
    pairs.into_values().filter_map(both).collect()
}

fn estimated(scores: &[Scored<'_>]) -> Option<Estimate> {
    let clusters: Vec<String> = scores.iter().map(|(_, item)| item.documents.join("\n")).collect();
    let observations: Vec<Observation<'_>> =
        scores.iter().zip(&clusters).map(|((value, _), cluster)| Observation { value: *value, cluster }).collect();
    estimate(&observations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::Task;
    use crate::record::Outcome;

    fn item(id: &str, pair: Option<&str>) -> Item {
        Item {
            id: id.to_owned(),
            documents: vec!["book".to_owned()],
            question: "?".to_owned(),
            task: Task::Choice,
            answers: Vec::new(),
            options: vec!["True".to_owned(), "False".to_owned()],
            correct: Some(0),
            evidence: Vec::new(),
            key_facts: None,
            labels: pair.map(|p| ("pair".to_owned(), p.to_owned())).into_iter().collect(),
            other: serde_json::Map::new(),
        }
    }

    fn record(id: &str, outcome: Outcome, accuracy: Option<f64>) -> Record {
        Record {
            key: TrialKey {
                item: id.to_owned(),
                method: "m".to_owned(),
                model: "p/x".to_owned(),
                budget: None,
                sample: 0,
            },
            outcome,
            scores: accuracy.map(|a| ("accuracy".to_owned(), a)).into_iter().collect(),
            prompt_tokens: 10,
            context: None,
            calls: Vec::new(),
            seconds: 0.5,
        }
    }

    fn answered() -> Outcome {
        Outcome::Answered { answer: "True".to_owned(), choice: Some(0) }
    }

    fn only_cell(items: &[Item], records: &[Record]) -> Cell {
        cells(&[CellKey { method: "m".to_owned(), model: "p/x".to_owned(), budget: None }], items, records).remove(0)
    }

    #[test]
    fn every_item_is_accounted_for() {
        let items = ["a", "b", "c", "d"].map(|id| item(id, None));
        let failed = Outcome::Failed { error: "x".to_owned() };
        let records =
            [record("a", answered(), Some(1.0)), record("b", failed, Some(0.0)), record("c", answered(), None)];
        let cell = only_cell(&items, &records);
        let expected = Ledger { items: 4, answered: 1, failed: 1, missing: 1, unscored: 1, ..Ledger::default() };
        assert_eq!(cell.ledger, expected);
        assert_eq!(cell.ledger.accounted(), 4);
        assert_eq!((cell.metrics["accuracy"].value, cell.metrics["accuracy"].n), (0.5, 2));
    }

    #[test]
    fn a_later_record_of_the_same_trial_replaces_the_earlier_one() {
        let failed = Outcome::Failed { error: "x".to_owned() };
        let cell = only_cell(&[item("a", None)], &[record("a", failed, Some(0.0)), record("a", answered(), Some(1.0))]);
        assert_eq!((cell.ledger.answered, cell.ledger.failed), (1, 0));
        assert_eq!(cell.metrics["accuracy"].value, 1.0);
    }

    #[test]
    fn a_pair_is_right_when_both_claims_are() {
        let items = [item("a", Some("1")), item("b", Some("1")), item("c", Some("2")), item("d", Some("2"))];
        let records = [("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 0.0)].map(|(id, s)| record(id, answered(), Some(s)));
        let cell = only_cell(&items, &records);
        assert_eq!((cell.metrics["pair_accuracy"].value, cell.metrics["pair_accuracy"].n), (0.5, 2));
    }
}

//! The lines of a report: a method with a model at a budget, its scores and its ledger.

use super::{ACCURACY, EVIDENCE_RECALL, PAIR_ACCURACY};
use crate::paper::dos_rag::{OverRuns, over_runs};
use closeread_eval::Item;
use closeread_eval::Ledger;
use closeread_eval::pair_scores;
use closeread_eval::{Ending, FailurePolicy};
use closeread_methods::record::{Record, TrialKey};
use closeread_metrics::stats::{Estimate, Observation, estimate};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    /// Mean over the trials of what methods measure besides scores, such as `searches`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
    /// With several samples: each metric's standard deviation over the runs' means, in 0..=1 (Stronger Baselines).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deviations: BTreeMap<String, OverRuns>,
}

impl CellKey {
    /// The cell that a trial belongs to.
    pub fn of(key: &TrialKey) -> Self {
        Self { method: key.method.clone(), model: key.model.clone(), budget: key.budget }
    }
}

/// The cells of a run in the order of `plan`: every (method, model, budget) that was asked for, finished or not.
///
/// With several samples an item's score is its mean over them. An item without a record is `missing`; one that has
/// nothing to score against is `unscored`.
pub fn cells(plan: &[CellKey], items: &[Item], records: &[Record]) -> Vec<Cell> {
    let trials = Trials::of(records);
    plan.iter().map(|key| cell(key, items, trials.cell(key))).collect()
}

/// The mean scores of each cell of `plan` without the trials in which the reader never got to answer.
pub fn failures_left_out(plan: &[CellKey], items: &[Item], records: &[Record]) -> Vec<BTreeMap<String, Estimate>> {
    let trials = Trials::of(records);
    let of = |key| estimates(&scores(items, trials.cell(key), FailurePolicy::FailuresLeftOut));
    plan.iter().map(of).collect()
}

/// The trials of each item, by its id, in an order, as sums of numbers depend on it.
pub(super) type TrialsByItem<'a> = BTreeMap<&'a str, Vec<&'a Record>>;
/// An item's score under one metric.
pub(super) type Scored<'a> = (f64, &'a Item);

/// The records of a run by cell and item; of several records of one trial the last counts.
pub(super) struct Trials<'a> {
    by_cell: HashMap<CellKey, TrialsByItem<'a>>,
    none: TrialsByItem<'a>,
}

impl<'a> Trials<'a> {
    pub(super) fn of(records: &'a [Record]) -> Self {
        let mut latest: HashMap<&TrialKey, &Record> = HashMap::new();
        for record in records {
            latest.insert(&record.key, record);
        }
        let mut by_cell: HashMap<CellKey, TrialsByItem<'a>> = HashMap::new();
        for record in records.iter().filter(|r| std::ptr::eq(latest[&r.key], *r)) {
            let trials = by_cell.entry(CellKey::of(&record.key)).or_default();
            trials.entry(&record.key.item).or_default().push(record);
        }
        Self { by_cell, none: BTreeMap::new() }
    }

    pub(super) fn cell(&self, key: &CellKey) -> &TrialsByItem<'a> {
        self.by_cell.get(key).unwrap_or(&self.none)
    }
}

/// True if the item has something to score against: a trial of it carries a score besides evidence recall.
pub(super) fn is_scored(trials: &[&Record]) -> bool {
    trials.iter().any(|r| r.scores.keys().any(|metric| metric != EVIDENCE_RECALL))
}

/// Each item's score under each metric, its mean over the samples, in the order of `items`.
pub(super) fn scores<'a>(
    items: &'a [Item],
    trials: &TrialsByItem<'_>,
    policy: FailurePolicy,
) -> BTreeMap<String, Vec<Scored<'a>>> {
    let mut scores: BTreeMap<String, Vec<Scored<'a>>> = BTreeMap::new();
    for item in items {
        let Some(trials) = trials.get(item.id.as_str()) else { continue };
        let counts = |r: &&&Record| policy == FailurePolicy::FailuresWrong || !Ending::from(&r.outcome).is_failure();
        let counted: Vec<&Record> = trials.iter().filter(counts).copied().collect();
        for (metric, mean) in mean_scores(&counted) {
            scores.entry(metric).or_default().push((mean, item));
        }
    }
    if let Some(pairs) = scores.get(ACCURACY).map(|scores| pair_scores(scores)).filter(|pairs| !pairs.is_empty()) {
        scores.insert(PAIR_ACCURACY.to_owned(), pairs);
    }
    scores
}

/// Mean and interval of each metric.
pub(super) fn estimates(scores: &BTreeMap<String, Vec<Scored<'_>>>) -> BTreeMap<String, Estimate> {
    scores.iter().filter_map(|(metric, scores)| Some((metric.clone(), estimated(scores)?))).collect()
}

fn cell(key: &CellKey, items: &[Item], records: &TrialsByItem<'_>) -> Cell {
    let mut ledger = Ledger { items: items.len(), ..Ledger::default() };
    let (mut prompt_tokens, mut n_prompts, mut seconds) = (0usize, 0usize, 0.0);
    for item in items {
        let Some(trials) = records.get(item.id.as_str()) else {
            ledger.missing += 1;
            continue;
        };
        if is_scored(trials) {
            ledger.count(&trials[0].outcome);
        } else {
            ledger.unscored += 1;
        }
        for record in trials {
            seconds += record.seconds;
            prompt_tokens += record.prompt_tokens;
            n_prompts += usize::from(record.prompt_tokens > 0);
        }
    }
    Cell {
        key: key.clone(),
        n: items.len(),
        ledger,
        metrics: estimates(&scores(items, records, FailurePolicy::FailuresWrong)),
        prompt_tokens_mean: (n_prompts > 0).then(|| prompt_tokens as f64 / n_prompts as f64),
        seconds,
        measures: mean_measures(records.values().flatten()),
        deviations: deviations(items, records),
    }
}

fn mean_measures<'a>(records: impl Iterator<Item = &'a &'a Record>) -> BTreeMap<String, f64> {
    means(records.flat_map(|record| &record.measures))
}

/// Mean and deviation of each metric over the samples; nothing for a single one.
fn deviations(items: &[Item], records: &TrialsByItem<'_>) -> BTreeMap<String, OverRuns> {
    let samples: BTreeSet<u32> = records.values().flatten().map(|record| record.key.sample).collect();
    let mut run_means: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for sample in samples {
        let run: TrialsByItem<'_> = records
            .iter()
            .map(|(item, trials)| (*item, trials.iter().copied().filter(|r| r.key.sample == sample).collect()))
            .collect();
        for (metric, scores) in scores(items, &run, FailurePolicy::FailuresWrong) {
            let mean = scores.iter().map(|(score, _)| score).sum::<f64>() / scores.len().max(1) as f64;
            run_means.entry(metric).or_default().push(mean);
        }
    }
    let over = |(metric, means): (String, Vec<f64>)| Some((metric, over_runs(&means)?));
    run_means.into_iter().filter_map(over).filter(|(_, runs)| runs.n_runs > 1).collect()
}

fn mean_scores(trials: &[&Record]) -> BTreeMap<String, f64> {
    means(trials.iter().flat_map(|r| &r.scores))
}

/// The mean of all values of a name.
fn means<'a>(values: impl Iterator<Item = (&'a String, &'a f64)>) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, (f64, usize)> = BTreeMap::new();
    for (name, value) in values {
        let (sum, n) = sums.entry(name.clone()).or_default();
        *sum += value;
        *n += 1;
    }
    sums.into_iter().map(|(name, (sum, n))| (name, sum / n as f64)).collect()
}

pub(super) fn estimated(scores: &[Scored<'_>]) -> Option<Estimate> {
    let clusters: Vec<String> = scores.iter().map(|(_, item)| cluster(item)).collect();
    let observations: Vec<Observation<'_>> =
        scores.iter().zip(&clusters).map(|((value, _), cluster)| Observation { value: *value, cluster }).collect();
    estimate(&observations)
}

/// The name of what an item's questions cluster by: its documents.
pub(super) fn cluster(item: &Item) -> String {
    item.documents.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use crate::testing::answered;
    use closeread_eval::Outcome;

    fn item(id: &str, pair: Option<&str>) -> Item {
        testing::item(id, "book").label("pair", pair.unwrap_or_default())
    }

    fn record(id: &str, outcome: Outcome, accuracy: Option<f64>) -> Record {
        let scores: Vec<(&str, f64)> = accuracy.map(|a| ("accuracy", a)).into_iter().collect();
        testing::record(&testing::key("m", None), id, outcome, &scores)
    }

    fn only_cell(items: &[Item], records: &[Record]) -> Cell {
        cells(&[testing::key("m", None)], items, records).remove(0)
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
    fn without_its_failures_a_cell_counts_the_rest() {
        let items = ["a", "b", "c"].map(|id| item(id, None));
        let blocked = Outcome::Blocked { reason: "x".to_owned() };
        let records = [record("a", answered(), Some(1.0)), record("b", blocked, Some(0.0))];
        let left_out = failures_left_out(&[testing::key("m", None)], &items, &records).remove(0);
        assert_eq!((left_out["accuracy"].value, left_out["accuracy"].n), (1.0, 1));
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

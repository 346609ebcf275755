//! The lines of a report: what each cell of the table comes to.

use super::plan::{Line, LineKey, lines};
use closeread_eval::observations::{
    Aggregate, Aggregation, Applies, Ending, FailurePolicy, Ledger, MetricName, Observation, Observations, Out,
    OverRepeats, Rows, Unit,
};
use closeread_eval::{PAIR, Task};
use closeread_metrics::Metric;
use closeread_metrics::stats::Estimate;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One line of a report: a method with a model at a budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the line: configuration, method, model, budget.
    #[serde(flatten)]
    pub key: LineKey,
    /// Items that were asked for.
    pub n: usize,
    /// Ledger: how the trials of the line ended.
    pub ledger: Ledger,
    /// Mean score by metric, in 0..=1, each with its own number of items; failures count as wrong.
    pub metrics: BTreeMap<MetricName, Estimate>,
    /// Means under the other failure policy: without the trials in which the model never got to answer.
    pub failures_left_out: BTreeMap<MetricName, Estimate>,
    /// Trials that are in no mean, by metric and reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub out: BTreeMap<MetricName, BTreeMap<Out, usize>>,
    /// Mean tokens of a prompt, by the run's tokenizer, over the trials that made one.
    pub prompt_tokens_mean: Option<f64>,
    /// Wall time of all its trials together, waiting included.
    pub seconds: f64,
    /// Mean over the trials of what methods measure besides scores, such as `searches`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
    /// Repeats, where there are several: the mean of each metric's means over the repeats, and their standard
    /// deviation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub repeats: BTreeMap<MetricName, OverRepeats>,
}

impl Cell {
    /// Number of answers that the metric's judges gave no verdict on.
    pub fn unjudged(&self, metric: &MetricName) -> usize {
        self.out.get(metric).and_then(|out| out.get(&Out::Unjudged)).copied().unwrap_or_default()
    }
}

/// The lines of a table, in its order.
pub fn cells(table: &Observations) -> Vec<Cell> {
    lines(table).iter().map(|line| cell(table, line)).collect()
}

/// Returns how the mean that a table prints under a metric's name is made; failures count as wrong.
pub(super) fn aggregation(metric: &MetricName) -> Aggregation {
    match metric.known() {
        Some(Metric::PairAccuracy) => Aggregation { unit: Unit::Pair, ..Aggregation::new(Metric::Accuracy) },
        _ => Aggregation::new(metric.clone()),
    }
}

/// The metrics under which something can be said of these rows, in their order: those that one of them has a score under,
/// or the main one of cells like theirs; beside these, those of missing trials that are scored otherwise, which count as 0; and
/// `pair_accuracy` where claims have a partner.
pub(super) fn metrics_of(table: &Observations, rows: &Rows) -> Vec<MetricName> {
    let mut metrics = table.metrics(rows);
    if let Some(main) = table.main_metric(rows).filter(|main| !metrics.contains(main)) {
        metrics.push(main);
    }
    let is_scored = |row: &&Observation| row.scores.keys().any(|metric| !metric.is_of_context());
    // What applies to a scored item that has no score under it is no metric of these rows.
    let held: BTreeSet<_> = table.rows(rows).filter(is_scored).flat_map(|row| applying(table, row)).collect();
    let missing = table.rows(rows).filter(|row| row.outcome == Ending::Missing && !held.is_empty());
    let open: BTreeSet<_> = missing.flat_map(|row| applying(table, row)).collect();
    for (_, metric) in open.difference(&held) {
        if metric.known().is_some() && !metrics.contains(metric) {
            metrics.push((*metric).clone());
        }
    }
    let has_pairs = || table.rows(rows).any(|row| table.item(row.item).label(PAIR).is_some());
    if metrics.contains(&Metric::Accuracy.into()) && has_pairs() {
        metrics.push(Metric::PairAccuracy.into());
    }
    metrics.sort();
    metrics
}

/// The metrics of answers that apply to the item of a row, each beside the kind of answer.
fn applying<'t>(table: &'t Observations, row: &'t Observation) -> impl Iterator<Item = (Task, &'t MetricName)> {
    let (item, task) = (table.item(row.item), table.cell(row.cell).key.task);
    let applies = move |metric: &&MetricName| !metric.is_of_context() && item.applies(metric) != Applies::Not;
    item.metrics.keys().filter(applies).map(move |metric| (task, metric))
}

/// The metrics of answers, without what the model was shown.
pub(super) fn answer_metrics(table: &Observations, rows: &Rows) -> Vec<MetricName> {
    metrics_of(table, rows).into_iter().filter(|metric| !metric.is_of_context()).collect()
}

fn cell(table: &Observations, line: &Line) -> Cell {
    let rows = line.rows();
    let (mut metrics, mut failures_left_out) = (BTreeMap::new(), BTreeMap::new());
    let (mut out, mut repeats) = (BTreeMap::new(), BTreeMap::new());
    for metric in metrics_of(table, &rows) {
        let by = aggregation(&metric);
        let Aggregate { estimate, out: reasons, repeats: over, .. } = table.aggregate(&rows, &by);
        let left_out = table.aggregate(&rows, &Aggregation { policy: FailurePolicy::LeftOut, ..by }).estimate;
        metrics.extend(estimate.map(|estimate| (metric.clone(), estimate)));
        failures_left_out.extend(left_out.map(|estimate| (metric.clone(), estimate)));
        repeats.extend(over.filter(|over| over.n > 1).map(|over| (metric.clone(), over)));
        out.extend((!reasons.is_empty()).then_some((metric, reasons)));
    }
    let all: Vec<_> = table.rows(&rows).collect();
    let prompts = all.iter().map(|row| row.spent.prompt_tokens).filter(|tokens| *tokens > 0);
    let (n_prompts, tokens) = prompts.fold((0, 0_usize), |(n, sum), tokens| (n + 1, sum.saturating_add(tokens)));
    Cell {
        key: line.key.clone(),
        n: all.iter().filter(|row| row.repeat == 0).count(),
        ledger: all.iter().map(|row| row.outcome).collect(),
        metrics,
        failures_left_out,
        out,
        prompt_tokens_mean: (n_prompts > 0).then(|| tokens as f64 / f64::from(n_prompts)),
        seconds: all.iter().map(|row| row.spent.seconds).sum(),
        measures: means(all.iter().flat_map(|row| &row.measures)),
        repeats,
    }
}

/// The mean of all values of a name.
fn means<'a>(
    values: impl Iterator<Item = (&'a closeread_eval::observations::Measure, &'a f64)>,
) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    for (name, value) in values {
        let (sum, n) = sums.entry(name).or_default();
        *sum += value;
        *n += 1;
    }
    sums.into_iter().map(|(name, (sum, n))| (name.to_owned(), sum / n as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, answered, key, record};
    use closeread_eval::{Item, Outcome};
    use closeread_methods::record::Record;

    fn item(id: &str, pair: Option<&str>) -> Item {
        let item = testing::item(id, "book");
        match pair {
            Some(pair) => item.label("pair", pair),
            None => item,
        }
    }

    fn trial(id: &str, outcome: Outcome, accuracy: Option<f64>) -> Record {
        let scores: Vec<(&str, f64)> = accuracy.map(|a| ("accuracy", a)).into_iter().collect();
        record(&key("m", None), id, outcome, &scores)
    }

    fn only_cell(items: &[Item], records: &[Record]) -> Cell {
        let plan = [key("m", None)];
        cells(&testing::run(&plan, items, records).observations().unwrap()).remove(0)
    }

    fn accuracy(estimates: &BTreeMap<MetricName, Estimate>) -> (f64, usize) {
        let estimate = &estimates[&Metric::Accuracy.into()];
        (estimate.value, estimate.n)
    }

    #[test]
    fn every_trial_is_accounted_for_and_what_is_missing_is_wrong() {
        let mut items = ["a", "b", "c", "d"].map(|id| item(id, None));
        items[2].correct = None;
        let failed = Outcome::Failed { error: "x".to_owned() };
        let records = [trial("a", answered(), Some(1.0)), trial("b", failed, Some(0.0)), trial("c", answered(), None)];
        let cell = only_cell(&items, &records);
        let ended = [Ending::Answered, Ending::Failed, Ending::NoGold, Ending::Missing];
        assert_eq!((cell.ledger, cell.n), (ended.into_iter().collect(), 4));
        assert_eq!(accuracy(&cell.metrics), (1.0 / 3.0, 3));
        assert_eq!(accuracy(&cell.failures_left_out), (1.0, 1));
        assert_eq!(cell.out[&Metric::Accuracy.into()], BTreeMap::from([(Out::Unscored, 1)]));
    }

    #[test]
    fn a_missing_trial_counts_as_wrong_where_no_other_is_scored_as_it_would_be() {
        let mut open = Item::new("b", "book", "Who?", Task::Generative);
        open.answers = vec!["Ana".to_owned()];
        let items = [item("a", None), open];
        let cell = only_cell(&items, &[trial("a", answered(), Some(1.0))]);
        assert_eq!(accuracy(&cell.metrics), (1.0, 1));
        let f1 = &cell.metrics[&Metric::F1.into()];
        assert_eq!((f1.value, f1.n, cell.metrics.len()), (0.0, 1, 2));
        assert!(!cell.failures_left_out.contains_key(&MetricName::from(Metric::F1)));
        assert!(only_cell(&items, &[]).metrics.is_empty(), "nothing was asked yet");
    }

    #[test]
    fn a_missing_trial_in_another_language_counts_as_wrong_by_its_own_metric() {
        let open = |id: &str, gold: &str| {
            let item = Item::new(id, "book", "Who?", Task::Generative);
            Item { answers: vec![gold.to_owned()], ..item }
        };
        let items = [open("a", "Ana"), open("b", "安娜")];
        let cell = only_cell(&items, &[record(&key("m", None), "a", answered(), &[("f1", 1.0)])]);
        let of = |metric: Metric| cell.metrics.get(&metric.into()).map(|mean| (mean.value, mean.n));
        assert_eq!([of(Metric::F1), of(Metric::InfinitebenchZhF1)], [Some((1.0, 1)), Some((0.0, 1))]);
        assert_eq!(cell.metrics.len(), 2);
    }

    #[test]
    fn a_later_record_of_the_same_trial_replaces_the_earlier_one() {
        let failed = Outcome::Failed { error: "x".to_owned() };
        let cell = only_cell(&[item("a", None)], &[trial("a", failed, Some(0.0)), trial("a", answered(), Some(1.0))]);
        assert_eq!((cell.ledger.of(Ending::Answered), cell.ledger.planned()), (1, 1));
        assert_eq!(accuracy(&cell.metrics), (1.0, 1));
    }

    #[test]
    fn a_pair_is_right_when_both_claims_are() {
        let items = [item("a", Some("1")), item("b", Some("1")), item("c", Some("2")), item("d", Some("2"))];
        let records = [("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 0.0)].map(|(id, s)| trial(id, answered(), Some(s)));
        let cell = only_cell(&items, &records);
        let pairs = &cell.metrics[&Metric::PairAccuracy.into()];
        assert_eq!((pairs.value, pairs.n), (0.5, 2));
    }
}

//! What the papers' tables share: grouping trials, means with intervals, the cells of a table.

use closeread_eval::Task;
use closeread_eval::{Case, Configuration, FailurePolicy};
use closeread_metrics::stats::{Observation, estimate};
use closeread_table::{Table, Value};
use std::collections::BTreeMap;

/// Metrics that speak for a trial, the first that it has.
const MAIN_METRICS: [&str; 11] = [
    "judged_accuracy",
    "accuracy",
    "f1",
    "infinitebench_en_f1",
    "infinitebench_zh_f1",
    "exact_match",
    "recall",
    "rougeL",
    "rougeLsum",
    "meteor",
    "bleu_1",
];
/// Metrics of the context, not of the answer.
const CONTEXT_METRICS: [&str; 1] = ["evidence_recall"];

/// Each item's score, the mean over its samples, with the item's first case; items in order of first appearance.
///
/// The trials are to be of one configuration: cases of the same item are taken for samples of it.
pub fn per_item<'a>(cases: &[&'a Case], metric: &str, policy: FailurePolicy) -> Vec<(&'a Case, f64)> {
    let mut place: BTreeMap<&str, usize> = BTreeMap::new();
    let mut items: Vec<(&'a Case, f64, usize)> = Vec::new();
    for case in cases {
        let Some(score) = case.score(metric, policy) else { continue };
        match place.get(case.item.as_str()) {
            Some(&at) => {
                items[at].1 += score;
                items[at].2 += 1;
            }
            None => {
                place.insert(&case.item, items.len());
                items.push((case, score, 1));
            }
        }
    }
    items.into_iter().map(|(case, sum, n)| (case, sum / n as f64)).collect()
}

/// The mean score over items with its interval; missing, with the reason, where no item counts.
pub fn mean_over_items(cases: &[&Case], metric: &str, policy: FailurePolicy) -> Value {
    let items = per_item(cases, metric, policy);
    score(items.iter().map(|(case, value)| (*value, case.book.as_str())), "no scored items")
}

/// The mean of (score in 0..=1, cluster) with its interval, or what is missing.
pub(super) fn score<'a>(observed: impl Iterator<Item = (f64, &'a str)>, otherwise: &str) -> Value {
    let observations: Vec<Observation<'_>> = observed.map(|(value, cluster)| Observation { value, cluster }).collect();
    match estimate(&observations) {
        Some(estimate) => Value::Score { estimate },
        None => missing(otherwise),
    }
}

/// The trials of one configuration that one metric speaks for.
pub(super) struct Group<'a> {
    pub(super) configuration: Configuration,
    pub(super) metric: String,
    pub(super) cases: Vec<&'a Case>,
}

impl Group<'_> {
    /// Heads of the columns that [`Self::head`] fills.
    pub(super) const COLUMNS: [&'static str; 4] = ["method", "model", "budget", "metric"];

    /// The cells that say which trials a row is about.
    pub(super) fn head(&self) -> Vec<Value> {
        let Configuration { method, model, budget } = &self.configuration;
        let budget = match budget {
            Some(tokens) => Value::Count { count: *tokens as u64 },
            None => text("-"),
        };
        vec![text(method), text(model), budget, text(&self.metric)]
    }

    /// A row: which trials it is about, and what is said of them.
    pub(super) fn row(&self, cells: impl IntoIterator<Item = Value>) -> Vec<Value> {
        self.head().into_iter().chain(cells).collect()
    }

    /// The trials that pass, under the same configuration and metric.
    pub(super) fn filter(&self, keep: impl Fn(&Case) -> bool) -> Vec<&Case> {
        self.cases.iter().copied().filter(|case| keep(case)).collect()
    }
}

/// The trials by configuration and main metric, in order of first appearance.
///
/// The main metric is that of the trials' task and language: a choice has `accuracy`, an open answer
/// `judged_accuracy` if a judge gave it, else `f1`, and so on. Trials for which there is no metric at all are in no group.
pub(super) fn groups(cases: &[Case]) -> Vec<Group<'_>> {
    let mut metrics: BTreeMap<(Task, &str), Option<&str>> = BTreeMap::new();
    for case in cases {
        metrics.entry(kind(case)).or_insert_with_key(|key| main_metric(cases.iter().filter(|c| kind(c) == *key)));
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut place: BTreeMap<(Configuration, &str), usize> = BTreeMap::new();
    for case in cases {
        let Some(metric) = metrics[&kind(case)] else { continue };
        let key = (case.configuration(), metric);
        let at = *place.entry(key.clone()).or_insert_with(|| {
            groups.push(Group { configuration: key.0, metric: metric.to_owned(), cases: Vec::new() });
            groups.len() - 1
        });
        groups[at].cases.push(case);
    }
    groups
}

fn kind(case: &Case) -> (Task, &str) {
    (case.task, case.label_value("language").unwrap_or_default())
}

fn main_metric<'a>(cases: impl Iterator<Item = &'a Case>) -> Option<&'a str> {
    let rank = |name: &str| MAIN_METRICS.iter().position(|known| *known == name).unwrap_or(MAIN_METRICS.len());
    let names = cases.flat_map(|case| case.scores.keys()).filter(|name| !CONTEXT_METRICS.contains(&name.as_str()));
    names.map(String::as_str).min_by_key(|name| (rank(name), *name))
}

/// The values of a label in the trials: as `order` has them, then the others by name.
pub(super) fn values(cases: &[Case], label: &str, order: &[&str]) -> Vec<String> {
    let mut values: Vec<&str> = cases.iter().filter_map(|case| case.label_value(label)).collect();
    let rank = |value: &str| order.iter().position(|known| *known == value).unwrap_or(order.len());
    values.sort_by_key(|value| (rank(value), *value));
    values.dedup();
    values.into_iter().map(str::to_owned).collect()
}

/// A table whose columns are the head of a [`Group`] and `columns`.
pub(super) fn table(
    id: &str,
    title: &str,
    source: &str,
    columns: impl IntoIterator<Item = impl Into<String>>,
) -> Table {
    let head = Group::COLUMNS.into_iter().map(str::to_owned);
    plain_table(id, title, source, head.chain(columns.into_iter().map(Into::into)))
}

/// A table with these columns and no rows yet.
pub(super) fn plain_table(id: &str, title: &str, source: &str, columns: impl IntoIterator<Item = String>) -> Table {
    Table {
        id: id.to_owned(),
        title: title.to_owned(),
        source: source.to_owned(),
        columns: columns.into_iter().collect(),
        rows: Vec::new(),
        notes: Vec::new(),
    }
}

/// The table if it has rows.
pub(super) fn filled(table: Table) -> Option<Table> {
    (!table.rows.is_empty()).then_some(table)
}

/// What must be known where both policies stand side by side or one was chosen.
pub(super) fn policy_note(policy: FailurePolicy) -> String {
    match policy {
        FailurePolicy::FailuresWrong => {
            "policy failures_wrong: overflow, refusals, failed calls and missing items count as wrong".to_owned()
        }
        FailurePolicy::FailuresLeftOut => {
            "policy failures_left_out: overflow, refusals, failed calls and missing items are not in the denominator"
                .to_owned()
        }
    }
}

pub(super) fn text(text: &str) -> Value {
    Value::Text { text: text.to_owned() }
}

pub(super) fn count(count: usize) -> Value {
    Value::Count { count: count as u64 }
}

pub(super) fn missing(reason: &str) -> Value {
    Value::Missing { reason: reason.to_owned() }
}

/// A number that may be absent.
pub(super) fn number(value: Option<f64>, decimals: u8, otherwise: &str) -> Value {
    match value.filter(|value| value.is_finite()) {
        Some(value) => Value::Number { value, decimals },
        None => missing(otherwise),
    }
}

/// A difference or share with its number of items, which may be absent.
pub(super) fn share(value: Option<f64>, n: usize, otherwise: &str) -> Value {
    match value.filter(|value| value.is_finite()) {
        Some(value) => Value::Share { value, n },
        None => missing(otherwise),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::testing::case;

    #[test]
    fn samples_of_an_item_are_one_observation() {
        let samples = [case("a").scored("f1", 1.0), case("a").scored("f1", 0.0), case("b").scored("f1", 1.0)];
        let cases: Vec<&Case> = samples.iter().collect();
        let items = per_item(&cases, "f1", FailurePolicy::FailuresWrong);
        let scores: Vec<(&str, f64)> = items.iter().map(|(case, score)| (case.item.as_str(), *score)).collect();
        assert_eq!(scores, [("a", 0.5), ("b", 1.0)]);
    }

    #[test]
    fn each_task_is_spoken_for_by_its_own_metric() {
        let choice = Case { task: Task::Choice, ..case("a").scored("accuracy", 1.0) };
        let open = case("b").scored("exact_match", 0.0).scored("f1", 0.5).scored("evidence_recall", 1.0);
        let failed = Case { ending: closeread_eval::Ending::Failed, ..case("c") };
        let cases = [choice, open, failed];
        let groups = groups(&cases);
        let found: Vec<(&str, usize)> = groups.iter().map(|g| (g.metric.as_str(), g.cases.len())).collect();
        assert_eq!(found, [("accuracy", 1), ("f1", 2)]);
    }
}

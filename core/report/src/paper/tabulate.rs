//! Shared parts of the papers' tables: the values of a label, what must be said below.

use crate::observed::lacks_verdict;
use closeread_eval::Task;
use closeread_eval::observations::{Ending, FailurePolicy, ItemId, MetricName, Observation, Observations, Rows};
use closeread_table::number::{metric_label, thousands};
use std::collections::{BTreeMap, BTreeSet};

/// The reason why a model or a person that nobody judged has no number beside those that were judged.
pub(super) const NO_SCORE: &str = "no answer has a score";
/// The method or model under which trials of people stand.
pub(super) const HUMAN: &str = "human";

/// The metric that speaks for these rows. Where nothing was answered no row has a score, but the zeros of failures are the
/// same under any metric: `otherwise` then.
pub(super) fn main_metric(table: &Observations, rows: &Rows, otherwise: &str) -> Option<MetricName> {
    table.main_metric(rows).or_else(|| nothing_answered(table, rows).then(|| otherwise.into()))
}

/// True if there are rows and none ended in an answer.
pub(super) fn nothing_answered(table: &Observations, rows: &Rows) -> bool {
    let mut endings = table.rows(rows).map(|row| row.outcome).peekable();
    endings.peek().is_some() && endings.all(|ending| ending != Ending::Answered)
}

/// True if one of these trials has an answer that stands under the metric, or none has an answer. Beside judged runs an
/// unjudged one has none that does: its failures alone would be its mean.
pub(super) fn stands_under<'o>(trials: impl Iterator<Item = &'o Observation>, metric: &MetricName) -> bool {
    let mut answers = trials.filter(|row| row.outcome == Ending::Answered).peekable();
    answers.peek().is_none() || answers.any(|row| row.scores.contains_key(metric))
}

/// The values of a label in the table: as `order` has them, then the others by name.
pub(super) fn values(table: &Observations, label: &str, order: &[&str]) -> Vec<String> {
    let mut values: Vec<&str> = table.items().filter_map(|(_, item)| item.label(label)).collect();
    let rank = |value: &str| order.iter().position(|known| *known == value).unwrap_or(order.len());
    values.sort_by_key(|value| (rank(value), *value));
    values.dedup();
    values.into_iter().map(str::to_owned).collect()
}

/// Note where answers in words were scored without a judge: their metric is no share of right answers.
pub(super) fn without_judge(metric: &MetricName) -> Option<String> {
    let is_share = metric.name().contains("accuracy");
    (!is_share).then(|| format!("scored by {}: there is no judge's verdict", metric_label(metric.name())))
}

/// Note on answers that the judges left without a verdict: they are in no mean.
pub(super) fn unjudged(table: &Observations, rows: &Rows, metric: &MetricName) -> Option<String> {
    let n = table.rows(rows).filter(|row| lacks_verdict(row, metric)).count();
    let label = metric_label(metric.name());
    (n > 0).then(|| format!("{label}: {} without a verdict, in no mean", thousands(n as u64)))
}

/// Note where runs stand side by side that were not asked the same items; a task that only some of them have is no such
/// difference.
pub(super) fn asked_apart(table: &Observations) -> Option<String> {
    type ByRun<'t> = BTreeMap<&'t str, BTreeSet<ItemId>>;
    let (mut all, mut by_task) = (ByRun::new(), BTreeMap::<Task, ByRun<'_>>::new());
    for (id, cell) in table.cells() {
        let items: BTreeSet<ItemId> = table.rows(&Rows::of(id)).map(|row| row.item).collect();
        let run = &*cell.key.configuration;
        by_task.entry(cell.key.task).or_default().entry(run).or_default().extend(&items);
        all.entry(run).or_default().extend(items);
    }
    let differ = |runs: &ByRun<'_>| runs.values().any(|items| Some(items) != runs.values().next());
    let counts: Vec<String> =
        all.iter().map(|(run, items)| format!("{} of {run}", thousands(items.len() as u64))).collect();
    by_task.values().any(differ).then(|| format!("the runs were not asked the same items: {}", counts.join(", ")))
}

/// What ids and titles of tables end in that stand under both failure policies.
pub(super) fn policy_ends(policy: FailurePolicy) -> (&'static str, &'static str) {
    match policy {
        FailurePolicy::Wrong => ("", ""),
        FailurePolicy::LeftOut => ("-left-out", ", failures left out"),
    }
}

/// Note where both failure policies stand side by side or one was chosen.
pub(super) fn policy_note(policy: FailurePolicy) -> String {
    let what = match policy {
        FailurePolicy::Wrong => "count as wrong",
        FailurePolicy::LeftOut => "are not in the denominator",
    };
    format!("policy {}: overflow, responses cut short, refusals, failed calls and missing trials {what}", policy.name())
}

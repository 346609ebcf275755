//! Shared parts of the papers' tables: the values of a label, what must be said below.

use closeread_eval::observations::{Ending, FailurePolicy, MetricName, Observations, Rows};
use closeread_table::number::metric_label;

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

/// Note where both failure policies stand side by side or one was chosen.
pub(super) fn policy_note(policy: FailurePolicy) -> String {
    let what = match policy {
        FailurePolicy::Wrong => "count as wrong",
        FailurePolicy::LeftOut => "are not in the denominator",
    };
    format!("policy {}: overflow, responses cut short, refusals, failed calls and missing trials {what}", policy.name())
}

//! What the papers' tables share: means with intervals, the values of a label, what must be said below.

use closeread_eval::observations::{FailurePolicy, Observations};
use closeread_metrics::stats::{self, estimate};
use closeread_table::{Table, Value};

/// The method or model under which trials of people stand.
pub(super) const HUMAN: &str = "human";

/// The mean of numbers, each with its cluster.
pub(super) fn clustered(observed: impl Iterator<Item = (f64, String)>, otherwise: &str) -> Value {
    let numbers: Vec<(f64, String)> = observed.collect();
    let observations: Vec<stats::Observation<'_>> =
        numbers.iter().map(|(value, cluster)| stats::Observation { value: *value, cluster }).collect();
    Value::score(estimate(&observations).as_ref(), otherwise)
}

/// The values of a label in the table: as `order` has them, then the others by name.
pub(super) fn values(table: &Observations, label: &str, order: &[&str]) -> Vec<String> {
    let mut values: Vec<&str> = table.items().filter_map(|(_, item)| item.label(label)).collect();
    let rank = |value: &str| order.iter().position(|known| *known == value).unwrap_or(order.len());
    values.sort_by_key(|value| (rank(value), *value));
    values.dedup();
    values.into_iter().map(str::to_owned).collect()
}

/// A table with these columns and no rows yet.
pub(super) fn plain_table(id: &str, title: &str, source: &str, columns: impl IntoIterator<Item = String>) -> Table {
    Table {
        id: id.to_owned(),
        title: title.to_owned(),
        source: source.to_owned(),
        columns: columns.into_iter().collect(),
        rows: Vec::new(),
        summary_rows: 0,
        notes: Vec::new(),
    }
}

/// The table if it has rows.
pub(super) fn filled(table: Table) -> Option<Table> {
    (!table.rows.is_empty()).then_some(table)
}

/// What must be known where both policies stand side by side or one was chosen.
pub(super) fn policy_note(policy: FailurePolicy) -> String {
    let what = match policy {
        FailurePolicy::Wrong => "count as wrong",
        FailurePolicy::LeftOut => "are not in the denominator",
    };
    format!("policy {}: overflow, responses cut short, refusals, failed calls and missing trials {what}", policy.name())
}

pub(super) fn text(text: &str) -> Value {
    Value::Text { text: text.to_owned() }
}

pub(super) fn count(count: impl TryInto<u64>) -> Value {
    Value::Count { count: count.try_into().unwrap_or(u64::MAX) }
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

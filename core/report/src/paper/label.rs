//! Scores by label, for benchmarks without a paper of their own.

use super::tabulate::{groups, mean_over_items, table, values};
use closeread_eval::{Case, FailurePolicy};
use closeread_table::Table;

/// A label with more values names items rather than grouping them.
const MAX_VALUES: usize = 24;
/// Labels that join items to one another and are no property to compare by.
const JOINING: [&str; 1] = ["pair"];

/// One table a label, one column a value, the main metric with failures as wrong.
///
/// Labels with a single value and one configuration still get theirs; those with more than 24 values get none.
pub fn tables(cases: &[Case]) -> Vec<Table> {
    let mut labels: Vec<&str> = cases.iter().flat_map(|case| case.labels.keys()).map(String::as_str).collect();
    labels.sort_unstable();
    labels.dedup();
    labels.retain(|label| !JOINING.contains(label));
    labels.into_iter().filter_map(|label| by_label(cases, label)).collect()
}

/// The table of one label; `None` if no case has it, or it has too many values.
pub fn by_label(cases: &[Case], label: &str) -> Option<Table> {
    let values = values(cases, label, &[]);
    if values.is_empty() || values.len() > MAX_VALUES {
        return None;
    }
    let mut table = table(&format!("label-{label}"), &format!("Scores by {label}"), "", values.clone());
    for group in groups(cases) {
        let of = |value: &String| group.filter(|case| case.label_value(label) == Some(value));
        let mean = |value| mean_over_items(&of(value), &group.metric, FailurePolicy::FailuresWrong);
        table.rows.push(group.head().into_iter().chain(values.iter().map(mean)).collect());
    }
    (!table.rows.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::testing::case;

    #[test]
    fn a_label_that_names_each_item_gets_no_table() {
        let cases: Vec<Case> =
            (0..30).map(|i| case(&format!("q{i}")).scored("f1", 0.5).label("uid", &i.to_string())).collect();
        assert!(tables(&cases).is_empty());
        assert_eq!(by_label(&cases[..3], "uid").map(|table| table.columns.len()), Some(4 + 3));
    }
}

//! Pairs of cells of a report that are compared with each other, and the tables of the comparisons.

use super::comparison::{Labels, RunComparison, Side, compare, numbers};
use super::words;
use crate::LineKey;
use crate::cells::answer_metrics;
use crate::plan::{Line, lines};
use crate::tables::Naming;
use closeread_eval::observations::{Observations, Rows};
use closeread_metrics::stats::multiple::holm;
use closeread_table::number::metric_label;
use closeread_table::{Table, Value};
use std::collections::BTreeSet;

/// The comparisons of a report: two cells that differ in one thing alone.
///
/// That is the configuration, the model or the method, and of budgets the neighbouring ones. A method without a budget is
/// compared with the others at their largest.
pub fn cell_comparisons(table: &Observations) -> Vec<RunComparison> {
    let lines = lines(table);
    let keys: Vec<&LineKey> = lines.iter().map(|line| &line.key).collect();
    let naming = Naming::of(keys.iter().copied());
    let side = |line: &Line| Side { name: naming.full_name(&line.key), table, rows: line.rows() };
    let mut comparisons = Vec::new();
    for metric in answer_metrics(table, &Rows::all()) {
        let has = |line: &&Line| answer_metrics(table, &line.rows()).contains(&metric);
        let sides: Vec<&Line> = lines.iter().filter(has).collect();
        for (place, a) in sides.iter().enumerate() {
            for b in &sides[place + 1..] {
                if differ_in_one(&a.key, &b.key, &keys) {
                    let compared = compare(&side(a), &side(b), &metric, &Labels::Named(Vec::new()));
                    comparisons.extend(compared.overall.is_some().then_some(compared));
                }
            }
        }
    }
    comparisons
}

/// Makes one table a metric, p-values corrected over its rows.
pub fn comparison_tables(comparisons: &[RunComparison]) -> Vec<Table> {
    let mut metrics: Vec<&str> = Vec::new();
    for comparison in comparisons {
        if !metrics.contains(&comparison.metric.as_str()) {
            metrics.push(&comparison.metric);
        }
    }
    let mut tables = Vec::new();
    for metric in metrics {
        let columns = ["A", "B", "n", "books", "A scores", "B scores", "B - A", "p", "p (Holm)"].map(str::to_owned);
        let title = format!("Paired differences, {}", metric_label(metric));
        let mut table = Table::new(format!("differences-{metric}"), title, columns.to_vec());
        let rows: Vec<_> =
            comparisons.iter().filter(|c| c.metric == metric).filter_map(|c| Some((c, c.overall.as_ref()?))).collect();
        let corrected = holm(&rows.iter().map(|(_, overall)| overall.p_value).collect::<Vec<_>>());
        let mut told_apart = 0;
        for ((comparison, overall), p_holm) in rows.into_iter().zip(corrected) {
            let mut row = vec![Value::text(&comparison.a), Value::text(&comparison.b)];
            row.extend(numbers(overall));
            row.push(Value::Number { value: p_holm, decimals: 4 });
            table.rows.push(row);
            told_apart += usize::from(p_holm < words::ALPHA);
        }
        table.notes.push(words::told_apart(told_apart, table.rows.len(), metric));
        table.notes.push(format!(
            "Items that both cells scored; {}; p (Holm): corrected over the {} rows",
            words::TEST_RULE,
            table.rows.len()
        ));
        for note in comparisons.iter().filter(|c| c.metric == metric).flat_map(|c| &c.unjudged) {
            if !table.notes.contains(note) {
                table.notes.push(note.clone());
            }
        }
        table.explain_marks();
        tables.push(table);
    }
    tables
}

/// True for two cells that a reader would set side by side.
fn differ_in_one(a: &LineKey, b: &LineKey, all: &[&LineKey]) -> bool {
    let of = |key: &LineKey| (key.configuration.clone(), key.arm.method.clone(), key.arm.model.clone());
    let method = a.arm.method != b.arm.method;
    let differences = [a.configuration != b.configuration, method, a.arm.model != b.arm.model];
    let n_differences = differences.into_iter().filter(|differs| *differs).count();
    if n_differences > 1 {
        return false;
    }
    let budgets = |key: &LineKey| -> BTreeSet<usize> {
        all.iter().filter(|other| of(other) == of(key)).filter_map(|other| other.arm.budget).collect()
    };
    match (a.arm.budget, b.arm.budget) {
        (None, None) => n_differences == 1,
        (Some(x), Some(y)) if x == y => true,
        (Some(x), Some(y)) => {
            let (low, high) = (x.min(y), x.max(y));
            let lies_between = |budget: &usize| low < *budget && *budget < high;
            !(n_differences == 1 || budgets(a).iter().any(lies_between))
        }
        (None, Some(budget)) => method && budgets(b).last() == Some(&budget),
        (Some(budget), None) => method && budgets(a).last() == Some(&budget),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arm;
    use crate::testing::{answered, item, key, record, run};

    #[test]
    fn cells_that_differ_in_one_thing_are_compared() {
        let items = [item("a", "b")];
        let plan: Vec<Arm> = [
            ("closed-book", None),
            ("vanilla-rag", Some(500)),
            ("vanilla-rag", Some(1000)),
            ("vanilla-rag", Some(5000)),
            ("dos-rag", Some(500)),
            ("dos-rag", Some(1000)),
            ("dos-rag", Some(5000)),
        ]
        .map(|(method, budget)| key(method, budget))
        .to_vec();
        let records: Vec<_> = plan.iter().map(|key| record(key, "a", answered(), &[("accuracy", 1.0)])).collect();
        let table = run(&plan, &items, &records).observations().unwrap();
        let names: Vec<String> = cell_comparisons(&table).iter().map(|c| format!("{} / {}", c.a, c.b)).collect();
        assert_eq!(
            names,
            [
                "closed-book / vanilla-rag at 5,000",
                "closed-book / dos-rag at 5,000",
                "vanilla-rag at 500 / vanilla-rag at 1,000",
                "vanilla-rag at 500 / dos-rag at 500",
                "vanilla-rag at 1,000 / vanilla-rag at 5,000",
                "vanilla-rag at 1,000 / dos-rag at 1,000",
                "vanilla-rag at 5,000 / dos-rag at 5,000",
                "dos-rag at 500 / dos-rag at 1,000",
                "dos-rag at 1,000 / dos-rag at 5,000",
            ]
        );
    }
}

//! Which cells of a report are compared with each other, and the tables of it.

use super::{Labels, RunComparison, Side, compare, numbers, words};
use crate::cells::{Trials, scores};
use crate::tables::{Naming, main_metrics};
use crate::{CellKey, RunView};
use closeread_eval::FailurePolicy;
use closeread_metrics::stats::multiple::holm;
use closeread_table::number::metric_label;
use closeread_table::{Table, Value};
use std::collections::BTreeSet;

/// The comparisons of a report: two cells that differ in one thing alone.
///
/// That is the run, the model or the method, and of budgets the neighbouring ones. A method without a budget is
/// compared with the others at their largest.
pub fn cell_comparisons(runs: &[RunView<'_>]) -> Vec<RunComparison> {
    let cells: Vec<(usize, &CellKey)> =
        runs.iter().enumerate().flat_map(|(idx, run)| run.plan.iter().map(move |key| (idx, key))).collect();
    let naming = Naming::of(cells.iter().map(|(run, key)| (runs[*run].name, *key)));
    let trials: Vec<Trials<'_>> = runs.iter().map(|run| Trials::of(run.records)).collect();
    let mut metrics: BTreeSet<String> = BTreeSet::new();
    for (run, trials) in runs.iter().zip(&trials) {
        for key in run.plan {
            metrics.extend(scores(run.items, trials.cell(key), FailurePolicy::FailuresWrong).into_keys());
        }
    }
    let mut comparisons = Vec::new();
    for metric in main_metrics(metrics.iter()) {
        let side = |&(run, key): &(usize, &CellKey)| {
            let name = naming.full_name(runs[run].name, key);
            Side::of_trials(name, &runs[run], trials[run].cell(key), &metric)
        };
        let sides: Vec<Side> = cells.iter().map(side).collect();
        for (a_idx, &a) in cells.iter().enumerate() {
            for (b_idx, &b) in cells.iter().enumerate().skip(a_idx + 1) {
                if differ_in_one(a, b, &cells) {
                    let none = Labels::Named(Vec::new());
                    let compared = compare(&sides[a_idx], &sides[b_idx], &metric, &none);
                    comparisons.extend(compared.overall.is_some().then_some(compared));
                }
            }
        }
    }
    comparisons
}

/// One table a metric, p-values corrected over its rows.
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
        table.explain_marks();
        tables.push(table);
    }
    tables
}

/// True for two cells that a reader would set side by side.
fn differ_in_one(a: (usize, &CellKey), b: (usize, &CellKey), all: &[(usize, &CellKey)]) -> bool {
    let run = a.0 != b.0;
    let (a_key, b_key) = (a.1, b.1);
    let method = a_key.method != b_key.method;
    let model = a_key.model != b_key.model;
    if usize::from(run) + usize::from(method) + usize::from(model) > 1 {
        return false;
    }
    let budgets = |cell: (usize, &CellKey)| -> BTreeSet<usize> {
        let same = |other: &&(usize, &CellKey)| {
            (other.0, &other.1.method, &other.1.model) == (cell.0, &cell.1.method, &cell.1.model)
        };
        all.iter().filter(same).filter_map(|other| other.1.budget).collect()
    };
    match (a_key.budget, b_key.budget) {
        (None, None) => run || method || model,
        (Some(x), Some(y)) if x == y => true,
        (Some(x), Some(y)) => {
            let (low, high) = (x.min(y), x.max(y));
            let lies_between = |budget: &usize| low < *budget && *budget < high;
            !(run || method || model || budgets(a).iter().any(lies_between))
        }
        (None, Some(budget)) => method && budgets(b).last() == Some(&budget),
        (Some(budget), None) => method && budgets(a).last() == Some(&budget),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{answered, item, key, record};
    use std::collections::BTreeMap;

    #[test]
    fn cells_that_differ_in_one_thing_are_compared() {
        let items = [item("a", "b")];
        let plan: Vec<CellKey> = [
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
        let books = BTreeMap::new();
        let run = RunView { name: "r", plan: &plan, items: &items, records: &records, books: &books };
        let names: Vec<String> = cell_comparisons(&[run]).iter().map(|c| format!("{} / {}", c.a, c.b)).collect();
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

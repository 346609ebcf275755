//! closeread's own tables: scores, ledger, both policies, scores by label.

use super::cells::{Scored, Trials, estimated, scores};
use super::{Cell, CellKey, EVIDENCE_RECALL, RunView};
use crate::paper::dos_rag::OverRuns;
use closeread_eval::FailurePolicy;
use closeread_eval::Item;
use closeread_eval::Ledger;
use closeread_methods::{CHUNKS, DOCUMENTS, FEWER_CHUNKS_THAN_DOCUMENTS};
use closeread_metrics::stats::Estimate;
use closeread_table::number::{metric_label, ordered_metrics, percent, thousands};
use closeread_table::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Values that a label may have for a table of its own; one that names single items has more.
pub const MAX_LABEL_VALUES: usize = 20;

/// A cell with the name of the run it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Name of the run.
    pub run: &'a str,
    /// Its cell.
    pub cell: &'a Cell,
}

/// One line a cell: its scores with their intervals, what its prompts cost.
pub fn score_table(lines: &[Line<'_>]) -> Table {
    let naming = Naming::of(lines.iter().map(|line| (line.run, &line.cell.key)));
    let metrics = ordered_metrics(lines.iter().flat_map(|line| line.cell.metrics.keys()));
    let mut columns = naming.heads();
    columns.push("n".to_owned());
    columns.extend(metrics.iter().map(|metric| metric_label(metric)));
    columns.extend(["prompt tokens".to_owned(), "seconds".to_owned()]);
    let mut table = Table::new("scores", "Scores in percent with 95% intervals", columns);
    for Line { run, cell } in lines {
        let mut row = naming.values(run, &cell.key);
        row.push(Value::count(cell.n));
        row.extend(metrics.iter().map(|metric| Value::score(cell.metrics.get(metric), "no item has this metric")));
        row.push(match cell.prompt_tokens_mean {
            Some(value) => Value::Number { value, decimals: 0 },
            None => Value::missing("no prompt was made"),
        });
        row.push(Value::Number { value: cell.seconds, decimals: 1 });
        table.rows.push(row);
    }
    for metric in &metrics {
        let ns: BTreeSet<usize> =
            lines.iter().filter_map(|line| line.cell.metrics.get(metric)).map(|estimate| estimate.n).collect();
        if ns.iter().any(|n| lines.iter().any(|line| line.cell.n != *n)) {
            let ns: Vec<String> = ns.into_iter().map(|n| thousands(n as u64)).collect();
            let items = if ns == ["1"] { "item" } else { "items" };
            table.notes.push(format!("{}: over {} {items}", metric_label(metric), ns.join(" to ")));
        }
    }
    table.notes.extend(outcomes(&naming, lines));
    table.notes.extend(over_runs(&naming, lines, &metrics));
    table.notes.extend(out_of_reach(&naming, lines));
    table.notes.extend(incomplete(lines));
    table.explain_marks();
    table
}

/// What the samples of each cell give, where there are several.
fn over_runs(naming: &Naming, lines: &[Line<'_>], metrics: &[String]) -> Vec<String> {
    let of_line = |Line { run, cell }: &Line<'_>| {
        let spread = |metric: &String| {
            let OverRuns { mean, deviation, n_runs } = cell.deviations.get(metric)?;
            let (mean, deviation) = (percent(*mean), percent((*deviation)?));
            Some(format!("{} {mean} ± {deviation} over {n_runs} runs", metric_label(metric)))
        };
        let spreads: Vec<String> = metrics.iter().filter_map(spread).collect();
        (!spreads.is_empty()).then(|| format!("{}: {}", naming.full_name(run, &cell.key), spreads.join(", ")))
    };
    let mut notes: Vec<String> = lines.iter().filter_map(of_line).collect();
    if !notes.is_empty() {
        notes.push("±: sample standard deviation of the runs' means".to_owned());
    }
    notes
}

/// Where retrieval cannot have seen every document (CorpusQA, Table 4, dagger).
fn out_of_reach(naming: &Naming, lines: &[Line<'_>]) -> Vec<String> {
    let of_line = |Line { run, cell }: &Line<'_>| {
        let share = cell.measures.get(FEWER_CHUNKS_THAN_DOCUMENTS).copied().filter(|share| *share > 0.0)?;
        let mean = |measure: &str| cell.measures.get(measure).copied().unwrap_or_default();
        Some(format!(
            "† {}: fewer chunks than documents in {}% of the trials (mean {:.1} chunks, {:.1} documents): no answer over \
             all documents can be right there",
            naming.full_name(run, &cell.key),
            percent(share),
            mean(CHUNKS),
            mean(DOCUMENTS)
        ))
    };
    lines.iter().filter_map(of_line).collect()
}

/// One line a cell: how its items ended. The parts add up to `items`.
pub fn ledger_table(lines: &[Line<'_>]) -> Table {
    let naming = Naming::of(lines.iter().map(|line| (line.run, &line.cell.key)));
    let mut columns = naming.heads();
    columns.push("items".to_owned());
    columns.extend(parts(&Ledger::default()).map(|(name, _)| name));
    let mut table = Table::new("ledger", "How the items ended", columns);
    for Line { run, cell } in lines {
        let mut row = naming.values(run, &cell.key);
        row.push(Value::count(cell.ledger.items));
        row.extend(parts(&cell.ledger).map(|(_, n)| Value::count(n)));
        table.rows.push(row);
    }
    table.notes.extend(incomplete(lines));
    table
}

/// Each score under both policies: items in which the reader never got to answer counted as wrong, and left out.
///
/// `left_out` has the means of [`failures_left_out`](super::failures_left_out), one entry a line.
pub fn policy_table(lines: &[Line<'_>], left_out: &[&BTreeMap<String, Estimate>]) -> Table {
    let naming = Naming::of(lines.iter().map(|line| (line.run, &line.cell.key)));
    let metrics = main_metrics(lines.iter().flat_map(|line| line.cell.metrics.keys()));
    let mut columns = naming.heads();
    for metric in &metrics {
        let label = metric_label(metric);
        columns.extend([
            format!("{label}, failures wrong"),
            "n".to_owned(),
            format!("{label}, failures left out"),
            "n".to_owned(),
        ]);
    }
    let mut table = Table::new("policies", "Scores under both policies", columns);
    for (Line { run, cell }, left_out) in lines.iter().zip(left_out) {
        let mut row = naming.values(run, &cell.key);
        for metric in &metrics {
            for (estimate, reason) in [
                (cell.metrics.get(metric), "no item has this metric"),
                (left_out.get(metric), "every item of this metric failed"),
            ] {
                row.push(Value::score(estimate, reason));
                row.push(Value::count(estimate.map_or(0, |e| e.n)));
            }
        }
        table.rows.push(row);
    }
    table.notes.push(
        "failures wrong: an item in which the reader never got to answer (overflow, blocked, failed) scores 0, as in \
         the main tables of the five papers"
            .to_owned(),
    );
    table.notes.push(
        "failures left out: these items are not in the denominator; what the reader did not find or could not put \
         into the agreed form stays wrong"
            .to_owned(),
    );
    table.notes.extend(incomplete(lines));
    table.explain_marks();
    table
}

/// A table for each label and metric: a line a cell, a column a value of the label.
///
/// A label with one value says nothing, one with more than [`MAX_LABEL_VALUES`] names items: both are passed over.
pub fn label_tables(runs: &[RunView<'_>]) -> Vec<Table> {
    let naming = Naming::of(runs.iter().flat_map(|run| run.plan.iter().map(|key| (run.name, key))));
    let values = label_values(runs.iter().flat_map(|run| run.items));
    let trials: Vec<Trials<'_>> = runs.iter().map(|run| Trials::of(run.records)).collect();
    let mut cells = Vec::new();
    for (run, trials) in runs.iter().zip(&trials) {
        for key in run.plan {
            cells.push((run.name, key, scores(run.items, trials.cell(key), FailurePolicy::FailuresWrong)));
        }
    }
    let metrics = main_metrics(cells.iter().flat_map(|(_, _, scores)| scores.keys()));
    let mut tables = Vec::new();
    for (label, values) in values.iter().filter(|(_, values)| (2..=MAX_LABEL_VALUES).contains(&values.len())) {
        for metric in &metrics {
            let mut columns = naming.heads();
            columns.extend(values.iter().cloned());
            let title = format!("{} by {label}", metric_label(metric));
            let mut table = Table::new(format!("by-{label}-{metric}"), title, columns);
            let mut ns: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); values.len()];
            for (run, key, scores) in &cells {
                let mut row = naming.values(run, key);
                for (value, ns) in values.iter().zip(&mut ns) {
                    let estimate = labelled(scores.get(metric), label, value);
                    ns.extend(estimate.as_ref().map(|e| e.n));
                    row.push(Value::score(estimate.as_ref(), "no item with this label has this metric"));
                }
                table.rows.push(row);
            }
            if ns.iter().all(BTreeSet::is_empty) {
                continue;
            }
            let counted = values.iter().zip(&ns).filter(|(_, ns)| !ns.is_empty());
            let counts: Vec<String> = counted.map(|(value, ns)| format!("{value} {}", counts(ns))).collect();
            table.notes.push(format!("items: {}", counts.join("; ")));
            table.explain_marks();
            tables.push(table);
        }
    }
    tables
}

/// The labels of the items with their values, in alphabetical order.
pub(super) fn label_values<'a>(items: impl Iterator<Item = &'a Item>) -> BTreeMap<String, Vec<String>> {
    let mut values: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (label, value) in items.flat_map(|item| &item.labels) {
        values.entry(label.clone()).or_default().insert(value);
    }
    values.into_iter().map(|(label, values)| (label, values.into_iter().map(str::to_owned).collect())).collect()
}

/// The mean of a metric over the items whose label has that value.
pub(super) fn labelled(scores: Option<&Vec<Scored<'_>>>, label: &str, value: &str) -> Option<Estimate> {
    let has = |(_, item): &&Scored<'_>| item.labels.get(label).is_some_and(|there| there == value);
    estimated(&scores?.iter().filter(has).copied().collect::<Vec<_>>())
}

/// The metrics of answers, without what retrieval did.
pub(super) fn main_metrics<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    ordered_metrics(names.filter(|name| *name != EVIDENCE_RECALL))
}

/// Which parts of a cell's name are needed to tell the cells of a table apart.
pub(super) struct Naming {
    runs: bool,
    models: bool,
}

impl Naming {
    pub(super) fn of<'a>(cells: impl Iterator<Item = (&'a str, &'a CellKey)>) -> Self {
        let (mut runs, mut models) = (BTreeSet::new(), BTreeSet::new());
        for (run, key) in cells {
            runs.insert(run);
            models.insert(key.model.as_str());
        }
        Self { runs: runs.len() > 1, models: models.len() > 1 }
    }

    pub(super) fn heads(&self) -> Vec<String> {
        let heads = [("run", self.runs), ("method", true), ("model", self.models), ("budget", true)];
        heads.into_iter().filter(|(_, needed)| *needed).map(|(head, _)| head.to_owned()).collect()
    }

    pub(super) fn values(&self, run: &str, key: &CellKey) -> Vec<Value> {
        let budget = key.budget.map_or_else(|| Value::missing("the method takes no budget"), Value::count);
        let values = [
            (Value::text(run), self.runs),
            (Value::text(&key.method), true),
            (Value::text(&key.model), self.models),
            (budget, true),
        ];
        values.into_iter().filter(|(_, needed)| *needed).map(|(value, _)| value).collect()
    }

    /// The cell in one line, without its budget: `dos-rag`, `dos-rag (openai/gpt-4o)`, `run-2: dos-rag`.
    pub(super) fn name(&self, run: &str, key: &CellKey) -> String {
        let model = if self.models { format!(" ({})", key.model) } else { String::new() };
        let run = if self.runs { format!("{run}: ") } else { String::new() };
        format!("{run}{}{model}", key.method)
    }

    /// The cell in one line: `dos-rag at 1,500`.
    pub(super) fn full_name(&self, run: &str, key: &CellKey) -> String {
        let budget = key.budget.map_or(String::new(), |budget| format!(" at {}", thousands(budget as u64)));
        format!("{}{budget}", self.name(run, key))
    }
}

/// Items without a record, in words; `None` if there are none.
pub(super) fn incomplete(lines: &[Line<'_>]) -> Option<String> {
    let missing: usize = lines.iter().map(|line| line.cell.ledger.missing).sum();
    let items: usize = lines.iter().map(|line| line.cell.ledger.items).sum();
    (missing > 0).then(|| {
        format!(
            "INCOMPLETE: {} of {} trials have no record; every mean is over those that have one",
            thousands(missing as u64),
            thousands(items as u64)
        )
    })
}

/// The parts of a ledger as a table names them.
fn parts(ledger: &Ledger) -> [(String, usize); 9] {
    ledger.parts().map(|(name, n)| (name.replace('_', " "), n))
}

/// `12`, or `10 to 12` where cells differ.
fn counts(ns: &BTreeSet<usize>) -> String {
    match (ns.first(), ns.last()) {
        (Some(low), Some(high)) if low != high => format!("{low} to {high}"),
        (Some(n), _) => n.to_string(),
        _ => "0".to_owned(),
    }
}

/// A line for each method and ledger in which something did not end in an answer, with the budgets that share it.
fn outcomes(naming: &Naming, lines: &[Line<'_>]) -> Vec<String> {
    let mut notes: Vec<(String, Vec<String>, String)> = Vec::new();
    for Line { run, cell } in lines {
        let other: Vec<String> =
            parts(&cell.ledger)[1..].iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{n} {name}")).collect();
        if other.is_empty() {
            continue;
        }
        let name = naming.name(run, &cell.key);
        let counts = format!("{} answered, {}", cell.ledger.answered, other.join(", "));
        let budget = cell.key.budget.map(|budget| thousands(budget as u64));
        match notes.iter_mut().find(|(known, _, same)| *known == name && *same == counts) {
            Some((_, budgets, _)) => budgets.extend(budget),
            None => notes.push((name, budget.into_iter().collect(), counts)),
        }
    }
    let note = |(name, budgets, counts): (String, Vec<String>, String)| {
        let at = if budgets.is_empty() { String::new() } else { format!(" at {}", budgets.join("; ")) };
        format!("{name}{at}: {counts}")
    };
    notes.into_iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{answered, item, key, record};
    use crate::{cells, failures_left_out};
    use closeread_table::render::text;
    use expect_test::expect;

    #[test]
    fn the_tables_of_a_run_that_did_not_end() {
        let items = ["a", "b", "c", "d"].map(|id| item(id, &format!("book {id}")).label("kind", "x"));
        let items: Vec<Item> = items.into_iter().chain([item("e", "book e").label("kind", "y")]).collect();
        let plan = [key("closed-book", None), key("dos-rag", Some(1500))];
        let mut records = vec![
            record(&plan[1], "a", answered(), &[("accuracy", 1.0), ("evidence_recall", 0.5)]),
            record(&plan[1], "b", closeread_eval::Outcome::NotFound, &[("accuracy", 0.0)]),
        ];
        records.extend(["a", "b", "c", "d", "e"].map(|id| record(&plan[0], id, answered(), &[("accuracy", 1.0)])));
        let cells = cells(&plan, &items, &records);
        let lines: Vec<Line<'_>> = cells.iter().map(|cell| Line { run: "r", cell }).collect();
        let left_out = failures_left_out(&plan, &items, &records);
        let mut shown = text::table(&score_table(&lines));
        shown += &text::table(&ledger_table(&lines));
        shown += &text::table(&policy_table(&lines, &left_out.iter().collect::<Vec<_>>()));
        let books = BTreeMap::new();
        let run = RunView { name: "r", plan: &plan, items: &items, records: &records, books: &books };
        for table in label_tables(&[run]) {
            shown += &text::table(&table);
        }
        expect![[r#"
            Scores in percent with 95% intervals
            method       budget  n              accuracy    evidence recall  prompt tokens  seconds
            ---------------------------------------------------------------------------------------
            closed-book       -  5  100.0 [56.6, 100.0]*                  -             10      2.5
            dos-rag       1,500  5     50.0 [9.5, 90.5]*  50.0 [5.5, 94.5]*             10      1.0
            accuracy: over 2 to 5 items
            evidence recall: over 1 item
            dos-rag at 1,500: 1 answered, 1 not found, 3 missing
            INCOMPLETE: 3 of 10 trials have no record; every mean is over those that have one
            * 95% interval over items: fewer than five books to cluster by, or scores all alike
            How the items ended
            method       budget  items  answered  not found  unanswered  overflow  blocked  unparsed  failed  missing  unscored
            -------------------------------------------------------------------------------------------------------------------
            closed-book       -      5         5          0           0         0        0         0       0        0         0
            dos-rag       1,500      5         1          1           0         0        0         0       0        3         0
            INCOMPLETE: 3 of 10 trials have no record; every mean is over those that have one
            Scores under both policies
            method       budget  accuracy, failures wrong  n  accuracy, failures left out  n
            --------------------------------------------------------------------------------
            closed-book       -      100.0 [56.6, 100.0]*  5         100.0 [56.6, 100.0]*  5
            dos-rag       1,500         50.0 [9.5, 90.5]*  2            50.0 [9.5, 90.5]*  2
            failures wrong: an item in which the reader never got to answer (overflow, blocked, failed) scores 0, as in the main tables of the five papers
            failures left out: these items are not in the denominator; what the reader did not find or could not put into the agreed form stays wrong
            INCOMPLETE: 3 of 10 trials have no record; every mean is over those that have one
            * 95% interval over items: fewer than five books to cluster by, or scores all alike
            accuracy by kind
            method       budget                     x                     y
            ---------------------------------------------------------------
            closed-book       -  100.0 [51.0, 100.0]*  100.0 [20.7, 100.0]*
            dos-rag       1,500     50.0 [9.5, 90.5]*                     -
            items: x 2 to 4; y 1
            * 95% interval over items: fewer than five books to cluster by, or scores all alike
        "#]].assert_eq(&shown);
    }
}

//! closeread's own tables: scores, ledger, both policies, scores by label.

use super::cells::{aggregation, answer_metrics};
use super::plan::lines;
use super::{Arm, Cell, LineKey};
use closeread_eval::observations::{Ending, ItemFacts, Ledger, MetricName, Observations, OverRepeats, Rows};
use closeread_methods::{CHUNKS, DOCUMENTS, FEWER_CHUNKS_THAN_DOCUMENTS};
use closeread_metrics::stats::Estimate;
use closeread_table::number::{metric_label, percent, thousands};
use closeread_table::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Values that a label may have for a table of its own; one that names single items has more.
pub const MAX_LABEL_VALUES: usize = 20;

/// Makes the table of scores, one line a cell: its scores with their intervals, what its prompts cost.
pub fn score_table(cells: &[Cell]) -> Table {
    let naming = Naming::of(cells.iter().map(|cell| &cell.key));
    let metrics: BTreeSet<&MetricName> = cells.iter().flat_map(|cell| cell.metrics.keys()).collect();
    let mut columns = naming.heads();
    columns.push("n".to_owned());
    columns.extend(metrics.iter().map(|metric| metric_label(metric.name())));
    columns.extend(["prompt tokens".to_owned(), "seconds".to_owned()]);
    let mut table = Table::new("scores", "Scores in percent with 95% intervals", columns);
    for cell in cells {
        let mut row = naming.values(&cell.key);
        row.push(Value::count(cell.n));
        row.extend(metrics.iter().map(|metric| Value::score(cell.metrics.get(metric), "no item has this metric")));
        row.push(match cell.prompt_tokens_mean {
            Some(value) => Value::Number { value, decimals: 0 },
            None => Value::missing("no prompt was made"),
        });
        row.push(match cell.seconds > 0.0 {
            true => Value::Number { value: cell.seconds, decimals: 1 },
            false => Value::missing("no trial states its time"),
        });
        table.rows.push(row);
    }
    for metric in &metrics {
        let means = || cells.iter().filter_map(|cell| Some((cell.n, cell.metrics.get(metric)?.n)));
        if means().any(|(items, n)| items != n) {
            let ns = counts(&means().map(|(_, n)| n).collect());
            let items = if ns == "1" { "item" } else { "items" };
            table.notes.push(format!("{}: over {ns} {items}", metric_label(metric.name())));
        }
    }
    table.notes.extend(outcomes(&naming, cells));
    table.notes.extend(unjudged(&naming, cells));
    table.notes.extend(over_repeats(&naming, cells));
    table.notes.extend(out_of_reach(&naming, cells));
    table.notes.extend(incomplete(cells));
    table.explain_marks();
    table
}

/// Says what the repeats of each cell give, where there are several.
fn over_repeats(naming: &Naming, cells: &[Cell]) -> Vec<String> {
    let of_cell = |cell: &Cell| {
        let spread = |(metric, over): (&MetricName, &OverRepeats)| {
            let (mean, deviation) = (percent(over.mean?), percent(over.sd?));
            Some(format!("{} {mean} ± {deviation} over {} repeats", metric_label(metric.name()), over.n))
        };
        let spreads: Vec<String> = cell.repeats.iter().filter_map(spread).collect();
        (!spreads.is_empty()).then(|| format!("{}: {}", naming.full_name(&cell.key), spreads.join(", ")))
    };
    let mut notes: Vec<String> = cells.iter().filter_map(of_cell).collect();
    if !notes.is_empty() {
        notes.push("±: sample standard deviation of the repeats' means".to_owned());
    }
    notes
}

/// Answers that the judges left without a verdict: they are in no mean.
fn unjudged(naming: &Naming, cells: &[Cell]) -> Vec<String> {
    let of_cell = |cell: &Cell| {
        let waiting = |metric: &MetricName| match cell.unjudged(metric) {
            0 => None,
            n => {
                Some(format!("{}: {} without a verdict, in no mean", metric_label(metric.name()), thousands(n as u64)))
            }
        };
        let waiting: Vec<String> = cell.out.keys().filter_map(waiting).collect();
        (!waiting.is_empty()).then(|| format!("{}: {}", naming.full_name(&cell.key), waiting.join("; ")))
    };
    cells.iter().filter_map(of_cell).collect()
}

/// Says where retrieval cannot have seen every document (CorpusQA, Table 4, dagger).
fn out_of_reach(naming: &Naming, cells: &[Cell]) -> Vec<String> {
    let of_cell = |cell: &Cell| {
        let share = cell.measures.get(FEWER_CHUNKS_THAN_DOCUMENTS).copied().filter(|share| *share > 0.0)?;
        let mean = |measure: &str| cell.measures.get(measure).copied().unwrap_or_default();
        Some(format!(
            "† {}: fewer chunks than documents in {}% of the trials (mean {:.1} chunks, {:.1} documents): no answer over \
             all documents can be right there",
            naming.full_name(&cell.key),
            percent(share),
            mean(CHUNKS),
            mean(DOCUMENTS)
        ))
    };
    cells.iter().filter_map(of_cell).collect()
}

/// Makes the ledger, one line a cell: how its trials ended, for every ending that occurs. The parts add up to `trials`.
pub(crate) fn ledger_table(cells: &[Cell]) -> Table {
    let naming = Naming::of(cells.iter().map(|cell| &cell.key));
    let occurs = |ending: &Ending| *ending == Ending::Answered || cells.iter().any(|cell| cell.ledger.of(*ending) > 0);
    let endings: Vec<Ending> = Ending::ALL.into_iter().filter(occurs).collect();
    let mut columns = naming.heads();
    columns.push("trials".to_owned());
    columns.extend(endings.iter().map(|ending| in_words(*ending)));
    let mut table = Table::new("ledger", "How the trials ended", columns);
    for cell in cells {
        let mut row = naming.values(&cell.key);
        row.push(Value::count(cell.ledger.planned()));
        row.extend(endings.iter().map(|ending| Value::count(cell.ledger.of(*ending))));
        table.rows.push(row);
    }
    table.notes.extend(incomplete(cells));
    table
}

/// Makes the table of each score under both policies: trials in which the model never got to answer counted as wrong,
/// and left out.
pub(crate) fn policy_table(cells: &[Cell]) -> Table {
    let naming = Naming::of(cells.iter().map(|cell| &cell.key));
    let metrics = cells.iter().flat_map(|cell| cell.metrics.keys()).filter(|metric| !metric.is_of_context());
    let metrics: BTreeSet<&MetricName> = metrics.collect();
    let mut columns = naming.heads();
    for metric in &metrics {
        let label = metric_label(metric.name());
        columns.extend([
            format!("{label}, failures wrong"),
            "n".to_owned(),
            format!("{label}, failures left out"),
            "n".to_owned(),
        ]);
    }
    let mut table = Table::new("policies", "Scores under both policies", columns);
    for cell in cells {
        let mut row = naming.values(&cell.key);
        for metric in &metrics {
            for (estimate, reason) in [
                (cell.metrics.get(metric), "no item has this metric"),
                (cell.failures_left_out.get(metric), "every item of this metric failed"),
            ] {
                row.push(Value::score(estimate, reason));
                row.push(Value::count(estimate.map_or(0, |e| e.n)));
            }
        }
        table.rows.push(row);
    }
    table.notes.push(
        "failures wrong: a trial in which the model never got to answer (overflow, cut short, blocked, failed, missing) \
         scores 0"
            .to_owned(),
    );
    table.notes.push(
        "failures left out: these trials are not in the denominator; what the model did not find or could not put \
         into the agreed form stays wrong"
            .to_owned(),
    );
    table.notes.extend(incomplete(cells));
    table.explain_marks();
    table
}

/// A table for each label and metric: a line a cell, a column a value of the label.
///
/// A label with one value says nothing, one with more than [`MAX_LABEL_VALUES`] names items: both are skipped.
pub(crate) fn label_tables(table: &Observations) -> Vec<Table> {
    let lines = lines(table);
    let naming = Naming::of(lines.iter().map(|line| &line.key));
    let mut tables = Vec::new();
    for (label, values) in grouping_labels(table) {
        for metric in answer_metrics(table, &Rows::all()) {
            let mut columns = naming.heads();
            columns.extend(values.iter().cloned());
            let title = format!("{} by {label}", metric_label(metric.name()));
            let mut made = Table::new(format!("by-{label}-{metric}"), title, columns);
            let mut ns: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
            for line in &lines {
                let means = by_label(table, &line.rows(), &metric, &label);
                let mut row = naming.values(&line.key);
                for value in &values {
                    let estimate = means.get(value.as_str());
                    ns.entry(value).or_default().extend(estimate.map(|e| e.n));
                    row.push(Value::score(estimate, "no item with this label has this metric"));
                }
                made.rows.push(row);
            }
            let counted = values.iter().filter_map(|value| Some((value, ns.get(value.as_str())?)));
            let counted: Vec<String> =
                counted.filter(|(_, ns)| !ns.is_empty()).map(|(value, ns)| format!("{value} {}", counts(ns))).collect();
            if counted.is_empty() {
                continue;
            }
            made.notes.push(format!("items: {}", counted.join("; ")));
            made.explain_marks();
            tables.push(made);
        }
    }
    tables
}

/// The mean of a metric over the items of each value of a label, where there is one.
pub(super) fn by_label(
    table: &Observations,
    rows: &Rows,
    metric: &MetricName,
    label: &str,
) -> BTreeMap<String, Estimate> {
    if !answer_metrics(table, rows).contains(metric) {
        return BTreeMap::new();
    }
    let of_label = |item: &ItemFacts| item.label(label).map(str::to_owned);
    let groups = table.grouped(rows, &aggregation(metric), of_label).groups;
    groups.into_iter().filter_map(|(value, made)| Some((value, made.estimate?))).collect()
}

/// The labels that group items, with their values in alphabetical order.
pub(super) fn grouping_labels(table: &Observations) -> BTreeMap<String, Vec<String>> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (label, value) in table.items().flat_map(|(_, item)| &item.labels) {
        values.entry(label).or_default().insert(value);
    }
    let groups = |(_, values): &(&str, BTreeSet<&str>)| (2..=MAX_LABEL_VALUES).contains(&values.len());
    let owned = |values: BTreeSet<&str>| values.into_iter().map(str::to_owned).collect();
    values.into_iter().filter(groups).map(|(label, values)| (label.to_owned(), owned(values))).collect()
}

/// The parts of a line's name that are needed to tell the lines of a table apart.
pub(super) struct Naming {
    configurations: bool,
    models: bool,
}

impl Naming {
    pub(super) fn of<'a>(keys: impl Iterator<Item = &'a LineKey>) -> Self {
        let (mut configurations, mut models) = (BTreeSet::new(), BTreeSet::new());
        for LineKey { configuration, arm } in keys {
            configurations.insert(configuration);
            models.insert(&arm.model);
        }
        Self { configurations: configurations.len() > 1, models: models.len() > 1 }
    }

    pub(super) fn heads(&self) -> Vec<String> {
        let heads = [("run", self.configurations), ("method", true), ("model", self.models), ("budget", true)];
        heads.into_iter().filter(|(_, needed)| *needed).map(|(head, _)| head.to_owned()).collect()
    }

    pub(super) fn values(&self, LineKey { configuration, arm }: &LineKey) -> Vec<Value> {
        let budget = arm.budget.map_or_else(|| Value::missing("the method takes no budget"), Value::count);
        let values = [
            (Value::text(configuration), self.configurations),
            (Value::text(&arm.method), true),
            (Value::text(&arm.model), self.models),
            (budget, true),
        ];
        values.into_iter().filter(|(_, needed)| *needed).map(|(value, _)| value).collect()
    }

    /// The line in words, without its budget: `dos-rag`, `dos-rag (openai/gpt-4o)`, `run-2: dos-rag`.
    pub(super) fn name(&self, LineKey { configuration, arm: Arm { method, model, .. } }: &LineKey) -> String {
        let model = if self.models { format!(" ({model})") } else { String::new() };
        let configuration = if self.configurations { format!("{configuration}: ") } else { String::new() };
        format!("{configuration}{method}{model}")
    }

    /// The line in words: `dos-rag at 1,500`.
    pub(super) fn full_name(&self, key: &LineKey) -> String {
        let budget = key.arm.budget.map_or(String::new(), |budget| format!(" at {}", thousands(budget as u64)));
        format!("{}{budget}", self.name(key))
    }
}

/// Trials without a record, in words; `None` if there are none.
pub(super) fn incomplete(cells: &[Cell]) -> Option<String> {
    let missing: usize = cells.iter().map(|cell| cell.ledger.of(Ending::Missing)).sum();
    let trials: usize = cells.iter().map(|cell| cell.ledger.planned()).sum();
    (missing > 0).then(|| {
        format!(
            "INCOMPLETE: {} of {} trials have no record and count as wrong, unless failures are left out",
            thousands(missing as u64),
            thousands(trials as u64)
        )
    })
}

/// An ending as a table names it.
fn in_words(ending: Ending) -> String {
    ending.name().replace('_', " ")
}

/// Writes counts: `12`, or `10 to 12` where cells differ.
fn counts(ns: &BTreeSet<usize>) -> String {
    let shown = |n: &usize| thousands(*n as u64);
    match (ns.first(), ns.last()) {
        (Some(low), Some(high)) if low != high => format!("{} to {}", shown(low), shown(high)),
        (Some(n), _) => shown(n),
        _ => "0".to_owned(),
    }
}

/// A line for each method and ledger in which something did not end in an answer, with the budgets that share it.
fn outcomes(naming: &Naming, cells: &[Cell]) -> Vec<String> {
    let mut notes: Vec<(String, Vec<String>, String)> = Vec::new();
    for cell in cells {
        let ledger: &Ledger = &cell.ledger;
        let others = ledger.parts().filter(|(ending, n)| *ending != Ending::Answered && *n > 0);
        let others: Vec<String> = others.map(|(ending, n)| format!("{n} {}", in_words(ending))).collect();
        if others.is_empty() {
            continue;
        }
        let name = naming.name(&cell.key);
        let counts = format!("{} answered, {}", ledger.of(Ending::Answered), others.join(", "));
        let budget = cell.key.arm.budget.map(|budget| thousands(budget as u64));
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
    use crate::cells;
    use crate::testing::{answered, item, key, record, run};
    use closeread_eval::{Item, Outcome};
    use closeread_table::render::text;
    use expect_test::expect;

    #[test]
    fn the_tables_of_a_run_that_did_not_end() {
        let items = ["a", "b", "c", "d"].map(|id| item(id, &format!("book {id}")).label("kind", "x"));
        let items: Vec<Item> = items.into_iter().chain([item("e", "book e").label("kind", "y")]).collect();
        let plan = [key("closed-book", None), key("dos-rag", Some(1500))];
        let mut records = vec![
            record(&plan[1], "a", answered(), &[("accuracy", 1.0), ("evidence_recall", 0.5)]),
            record(&plan[1], "b", Outcome::NotFound, &[("accuracy", 0.0)]),
        ];
        records.extend(["a", "b", "c", "d", "e"].map(|id| record(&plan[0], id, answered(), &[("accuracy", 1.0)])));
        let table = run(&plan, &items, &records).observations().unwrap();
        let cells = cells(&table);
        let mut shown = text::table(&score_table(&cells));
        shown += &text::table(&ledger_table(&cells));
        shown += &text::table(&policy_table(&cells));
        for table in label_tables(&table) {
            shown += &text::table(&table);
        }
        expect![[r#"
            Scores in percent with 95% intervals
            method       budget  n              accuracy    evidence recall  prompt tokens  seconds
            ---------------------------------------------------------------------------------------
            closed-book       -  5  100.0 [56.6, 100.0]*                  -             10      2.5
            dos-rag       1,500  5      20.0 [0.0, 75.5]  50.0 [5.5, 94.5]*             10      1.0
            evidence recall: over 1 item
            dos-rag at 1,500: 1 answered, 1 not found, 3 missing
            INCOMPLETE: 3 of 10 trials have no record and count as wrong, unless failures are left out
            * 95% interval over items: fewer than five books to cluster by, or scores all alike
            How the trials ended
            method       budget  trials  answered  not found  missing
            ---------------------------------------------------------
            closed-book       -       5         5          0        0
            dos-rag       1,500       5         1          1        3
            INCOMPLETE: 3 of 10 trials have no record and count as wrong, unless failures are left out
            Scores under both policies
            method       budget  accuracy, failures wrong  n  accuracy, failures left out  n
            --------------------------------------------------------------------------------
            closed-book       -      100.0 [56.6, 100.0]*  5         100.0 [56.6, 100.0]*  5
            dos-rag       1,500          20.0 [0.0, 75.5]  5            50.0 [9.5, 90.5]*  2
            failures wrong: a trial in which the model never got to answer (overflow, cut short, blocked, failed, missing) scores 0
            failures left out: these trials are not in the denominator; what the model did not find or could not put into the agreed form stays wrong
            INCOMPLETE: 3 of 10 trials have no record and count as wrong, unless failures are left out
            * 95% interval over items: fewer than five books to cluster by, or scores all alike
            accuracy by kind
            method       budget                     x                     y
            ---------------------------------------------------------------
            closed-book       -  100.0 [51.0, 100.0]*  100.0 [20.7, 100.0]*
            dos-rag       1,500     25.0 [4.6, 69.9]*      0.0 [0.0, 79.3]*
            items: x 4; y 1
            * 95% interval over items: fewer than five books to cluster by, or scores all alike
        "#]].assert_eq(&shown);
    }
}

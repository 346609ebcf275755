//! A whole report: every table and chart of one run, or of several side by side.

use super::chart::{Chart, by_budget, by_evidence_position, by_label, by_length};
use super::compare::{cell_comparisons, comparison_tables};
use super::judging::{hamlet_tables, judging_tables};
use super::tables::incomplete;
use super::{
    Cell, CellKey, Line, PreparationCalls, RunView, TokenPlaces, Usage, cases, cells, failures_left_out, label_tables,
    ledger_table, policy_table, score_table, usage, usage_table,
};
use crate::paper::tables_of;
use closeread_eval::Item;
use closeread_eval::Paper;
use closeread_judges::Judging;
use closeread_llm::price::PriceList;
use closeread_methods::record::Record;
use closeread_metrics::stats::Estimate;
use closeread_table::Table;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A run folder, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its name, which no other run of the report has.
    pub name: String,
    /// Name of the benchmark.
    pub benchmark: String,
    /// Its cells in the order of the table, finished or not.
    pub plan: Vec<CellKey>,
    /// Its items.
    pub items: Vec<Item>,
    /// Its records.
    pub records: Vec<Record>,
    /// The tokens of its books by document; empty where the texts are not at hand.
    pub books: BTreeMap<String, TokenPlaces>,
    /// Tokens that the models can take, where the run was given a limit.
    pub window: Option<usize>,
    /// What judges said of it; its verdicts are among the scores of the records already.
    pub judging: Judging,
    /// What its numbers rest on, name and value: retriever, tokenizer, version.
    pub facts: Vec<(String, String)>,
    /// What methods asked before the questions.
    pub preparations: Vec<PreparationCalls>,
    /// The prices of its models that its money is counted by.
    pub prices: PriceList,
}

/// Everything that a report says, as data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What it is about.
    pub title: String,
    /// False if a trial that was asked for has no record.
    pub complete: bool,
    /// What must be known before anything else.
    pub notes: Vec<String>,
    /// The runs, in the order given.
    pub runs: Vec<RunReport>,
    /// The tables, the most important first.
    pub tables: Vec<Table>,
    /// The charts.
    pub charts: Vec<Chart>,
}

/// What a report says of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Its name.
    pub run: String,
    /// Name of the benchmark.
    pub benchmark: String,
    /// What its numbers rest on.
    pub facts: BTreeMap<String, String>,
    /// Its cells.
    pub cells: Vec<CellReport>,
    /// What each of them took, and the preparations.
    #[serde(default)]
    pub usage: Vec<Usage>,
}

/// A cell under both policies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellReport {
    /// Scores, ledger, cost; failures count as wrong.
    #[serde(flatten)]
    pub cell: Cell,
    /// The other policy: means without the items in which the reader never got to answer.
    pub failures_left_out: BTreeMap<String, Estimate>,
}

impl Run {
    /// The run as tables look at it.
    pub fn view(&self) -> RunView<'_> {
        RunView { name: &self.name, plan: &self.plan, items: &self.items, records: &self.records, books: &self.books }
    }
}

/// The report on one run, or on several side by side.
pub fn report(runs: &[Run]) -> Report {
    let views: Vec<RunView<'_>> = runs.iter().map(Run::view).collect();
    let reports: Vec<RunReport> = runs.iter().map(run_report).collect();
    let lines: Vec<Line<'_>> =
        reports.iter().flat_map(|run| run.cells.iter().map(|c| Line { run: &run.run, cell: &c.cell })).collect();
    let left_out: Vec<&BTreeMap<String, Estimate>> =
        reports.iter().flat_map(|run| run.cells.iter().map(|c| &c.failures_left_out)).collect();
    let mut tables = vec![score_table(&lines), ledger_table(&lines), policy_table(&lines, &left_out)];
    tables.push(usage_table(&runs.iter().zip(&reports).map(|(run, r)| (run, &*r.usage)).collect::<Vec<_>>()));
    tables.extend(comparison_tables(&cell_comparisons(&views)));
    for run in runs {
        tables.extend(judge_and_paper_tables(run, runs.len() > 1));
    }
    tables.extend(label_tables(&views));
    let mut charts = by_budget(&lines);
    charts.extend(by_length(&views));
    charts.extend(by_evidence_position(&views));
    charts.extend(by_label(&views));
    let incomplete = incomplete(&lines);
    let complete = incomplete.is_none();
    if !complete {
        for table in &mut tables {
            table.title.push_str(" (incomplete)");
        }
        for chart in &mut charts {
            chart.title.push_str(" (incomplete)");
        }
    }
    let benchmarks: Vec<&str> = runs.iter().map(|run| run.benchmark.as_str()).collect();
    let mut notes: Vec<String> = incomplete.into_iter().collect();
    if benchmarks.iter().any(|name| *name != benchmarks[0]) {
        notes.push("The runs are of different benchmarks: their scores are not comparable.".to_owned());
    }
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    Report { title: names.join(", "), complete, notes, runs: reports, tables, charts }
}

fn run_report(run: &Run) -> RunReport {
    let cells = cells(&run.plan, &run.items, &run.records);
    let left_out = failures_left_out(&run.plan, &run.items, &run.records);
    let cells = cells.into_iter().zip(left_out).map(|(cell, failures_left_out)| CellReport { cell, failures_left_out });
    RunReport {
        run: run.name.clone(),
        benchmark: run.benchmark.clone(),
        facts: run.facts.iter().cloned().collect(),
        cells: cells.collect(),
        usage: usage(&run.plan, &run.records, &run.preparations, &run.judging.judgements, &run.prices),
    }
}

/// The tables on the judges of a run, and those of the papers; with the run's name where there are several.
fn judge_and_paper_tables(run: &Run, several: bool) -> Vec<Table> {
    let mut tables = judging_tables(run);
    tables.extend(paper_tables(run));
    tables.extend(hamlet_tables(run));
    if several {
        for table in &mut tables {
            table.id = format!("{}-{}", run.name, table.id);
            table.title = format!("{}: {}", run.name, table.title);
        }
    }
    tables
}

/// The tables of the paper that reports on the run's benchmark, by the benchmark's name or its labels, and the budget
/// curve where several budgets were run.
fn paper_tables(run: &Run) -> Vec<Table> {
    let cases = cases(&run.view(), run.window);
    let paper = Paper::of_benchmark(&run.benchmark).or_else(|| Paper::of_labels(&cases));
    let mut tables = paper.map(|paper| tables_of(paper, &cases)).unwrap_or_default();
    let budgets: BTreeSet<usize> = run.plan.iter().filter_map(|key| key.budget).collect();
    if budgets.len() > 1 && paper != Some(Paper::DosRag) {
        tables.extend(tables_of(Paper::DosRag, &cases));
    }
    tables
}

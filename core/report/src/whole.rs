//! A whole report: every table and chart of one run, or of several side by side.

use super::answerers::several_answerers;
use super::chart::{Chart, by_budget, by_evidence_position, by_label, by_length, figures};
use super::compare::{cell_comparisons, comparison_tables};
use super::judging::{hamlet_tables, judging_tables};
use super::opinions::{LabelFile, Opinions};
use super::paper::{Exhibit, Held, Number, Status};
use super::run::{judges_of, other_judges, other_texts};
use super::tables::incomplete;
use super::{
    Cell, Run, ServedUsage, Usage, beyond_closed_book, cells, label_tables, ledger_table, paper, policy_table,
    score_table, usage, usage_table,
};
use closeread_eval::observations::{MetricName, Observations, PoolError};
use closeread_eval::{Paper, Problem};
use closeread_methods::protocol::Protocol;
use closeread_table::Table;
use closeread_table::render::html;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// Everything that a report says, as data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Title of the report.
    pub title: String,
    /// False if a trial that was asked for has no record.
    pub complete: bool,
    /// Notes that a reader must know before anything else.
    pub notes: Vec<String>,
    /// The runs, in the order given.
    pub runs: Vec<RunReport>,
    /// The tables, the most important first.
    pub tables: Vec<Table>,
    /// The charts.
    pub charts: Vec<Chart>,
}

/// A report's part on one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Name of the run.
    pub run: String,
    /// Name of the benchmark.
    pub benchmark: String,
    /// Facts that the run's numbers rest on.
    pub facts: BTreeMap<String, String>,
    /// Cells of the run.
    pub cells: Vec<Cell>,
    /// Usage of each cell, and of the preparations.
    #[serde(default)]
    pub usage: Vec<Usage>,
    /// Usage of embedding models and rerankers on servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub served: Vec<ServedUsage>,
}

/// One table of these runs. Of several each is a configuration, by its name.
///
/// # Errors
/// [`PoolError`] if they are of different benchmarks, an item has two gold answers, or two of one name hold the same cell.
fn pooled(runs: &[Run]) -> Result<Observations, PoolError> {
    pooled_of(&runs.iter().enumerate().collect::<Vec<_>>(), |_, run| run.view().observations())
}

/// The runs that stand in a paper's tables, each with its place: all but those of other benchmarks, which CorpusQA's Figure 3
/// holds beside its own.
fn of_tables(runs: &[Run], paper: Paper) -> Vec<(usize, &Run)> {
    let all = runs.iter().enumerate();
    let own: Vec<_> = all.clone().filter(|(_, run)| Paper::of_benchmark(&run.benchmark) == Some(paper)).collect();
    if paper == Paper::CorpusQa && !own.is_empty() { own } else { all.collect() }
}

/// Makes one table of these runs, as [`pooled`] does, where each run has such a table.
fn pooled_of(
    runs: &[(usize, &Run)],
    table: impl Fn(usize, &Run) -> Result<Observations, PoolError>,
) -> Result<Observations, PoolError> {
    let named = |(at, run): &(usize, &Run)| Ok((Arc::from(run.name.as_str()), table(*at, run)?));
    match runs {
        [(at, run)] => table(*at, run),
        _ => Observations::pooled(runs.iter().map(named).collect::<Result<Vec<_>, PoolError>>()?),
    }
}

/// The report on one run, or on several in one table.
///
/// # Errors
/// As [`pooled`].
pub fn report(runs: &[Run]) -> Result<Report, PoolError> {
    let table = pooled(runs)?;
    let cells = cells(&table);
    let reports: Vec<RunReport> = runs.iter().map(|run| run_report(run, &cells, runs.len() > 1)).collect();
    let mut tables = vec![score_table(&cells), ledger_table(&cells), policy_table(&cells)];
    tables.extend(beyond_closed_book(&table));
    tables.push(usage_table(&runs.iter().zip(&reports).map(|(run, r)| (run, &*r.usage)).collect::<Vec<_>>()));
    let note = other_texts(runs.iter().map(|run| &run.texts));
    let judges: Vec<_> = runs.iter().map(|run| judges_of(&run.judging)).collect();
    let judged: Vec<_> = runs.iter().map(|run| run.name.as_str()).zip(&judges).collect();
    let metrics: BTreeSet<&MetricName> = cells.iter().flat_map(|cell| cell.metrics.keys()).collect();
    tables[0].notes.extend(other_judges(metrics.into_iter().map(MetricName::name), &judged));
    for mut compared in comparison_tables(&cell_comparisons(&table)) {
        compared.notes.extend(note.clone());
        compared.notes.extend(other_judges(compared.id.strip_prefix("differences-"), &judged));
        tables.push(compared);
    }
    for run in runs {
        tables.extend(judging_of(run, runs.len() > 1));
    }
    tables.extend(paper::tables(Paper::of_benchmark(table.benchmark()), &table));
    tables.extend(hamlet_tables(runs)?);
    tables.extend(label_tables(&table));
    let mut charts = by_budget(&cells);
    charts.extend(by_length(&table));
    charts.extend(by_evidence_position(&table));
    charts.extend(by_label(&table));
    Ok(finished(runs, &cells, reports, tables, charts))
}

/// The exhibits that are asked for of a paper.
#[derive(Debug, Clone, Copy)]
pub struct AskedOfPaper<'a> {
    /// The paper.
    pub paper: Paper,
    /// The exhibits of the paper that are asked for.
    pub exhibits: &'a [&'a Exhibit],
    /// Labels of people for answers.
    pub labels: &'a [LabelFile],
}

/// One paper's part of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct PaperReport {
    /// The paper's tables, and its figures as charts.
    pub report: Report,
    /// The exhibits that no table shows, each with the reason.
    pub lacking: Vec<(Number, String)>,
    /// Labels of people that are on no answer of the runs.
    pub unused: Vec<Problem>,
}

/// The tables of these runs that show an exhibit of the paper with one of these numbers; all of the paper without any.
///
/// # Errors
/// As [`report`].
pub fn paper_report(runs: &[Run], asked: AskedOfPaper<'_>) -> Result<PaperReport, PoolError> {
    let AskedOfPaper { paper, exhibits, labels } = asked;
    let trials = pooled_of(&of_tables(runs, paper), |_, run| run.view().observations())?;
    let (mut tables, unused) = tables_of_paper(runs, asked, &trials)?;
    let held = Held { trials: &trials, runs, has_labels: !labels.is_empty() };
    let lacks = |one: &&&Exhibit| match one.status(&held, &tables) {
        Status::Available(_) => None,
        Status::Lacking(why) => Some((one.number, why)),
    };
    let lacking = exhibits.iter().filter_map(|one| lacks(&one)).collect();
    if exhibits.len() < paper::exhibits(paper).len() {
        tables.retain(|table| exhibits.iter().any(|one| one.is_shown_by(table)));
    }
    Ok(PaperReport { report: bare(runs, &trials, tables), lacking, unused })
}

/// A table that lists these exhibits of the paper, with what the runs give of each.
///
/// # Errors
/// As [`report`].
pub fn paper_list(runs: &[Run], asked: AskedOfPaper<'_>) -> Result<Report, PoolError> {
    let trials = pooled_of(&of_tables(runs, asked.paper), |_, run| run.view().observations())?;
    let (tables, _) = tables_of_paper(runs, asked, &trials)?;
    let held = Held { trials: &trials, runs, has_labels: !asked.labels.is_empty() };
    let list = paper::listed(asked.paper, asked.exhibits, &held, &tables);
    Ok(bare(runs, &trials, vec![list]))
}

fn tables_of_paper(
    runs: &[Run],
    AskedOfPaper { paper, labels, .. }: AskedOfPaper<'_>,
    trials: &Observations,
) -> Result<(Vec<Table>, Vec<Problem>), PoolError> {
    let opinions = Opinions::of(runs, labels);
    let mut tables = match paper {
        Paper::NovelQa => {
            let runs = of_tables(runs, paper);
            paper::tables_of(paper, &pooled_of(&runs, |at, run| opinions.observations(at, run))?)
        }
        paper => paper::tables_of(paper, trials),
    };
    if paper == Paper::CorpusQa {
        let own = runs.iter().map(|run| Ok((run.name.as_str(), run.view().observations()?)));
        let own = own.collect::<Result<Vec<_>, PoolError>>()?;
        tables.extend(paper::corpusqa::figure_3(&own));
    }
    if paper == Paper::Hamlet {
        tables.extend(hamlet_tables(runs)?);
    }
    tables.extend(paper::tables_of_data(paper, runs));
    let notes: Vec<String> = counted_otherwise(runs).into_iter().chain(ranked_otherwise(runs)).collect();
    tables.iter_mut().for_each(|table| table.notes.extend(notes.iter().cloned()));
    Ok((tables, opinions.unused))
}

/// A note for each way of counting tokens that is not the paper's.
fn counted_otherwise(runs: &[Run]) -> BTreeSet<String> {
    let note = |run: &Run| {
        let (_, own) = run.facts.iter().find(|(name, _)| name == "tokenizer")?;
        let of_paper = Protocol::of(&run.benchmark).tokenizer.name();
        let is_other = Protocol::of(&run.benchmark) != &Protocol::OWN && own != of_paper;
        is_other.then(|| format!("tokens are counted by {own}; the paper counts by {of_paper}"))
    };
    runs.iter().filter_map(note).collect()
}

/// A note for each method whose passages were not ranked by the paper's embedding model.
fn ranked_otherwise(runs: &[Run]) -> BTreeSet<String> {
    let of_run = |run: &Run| {
        let protocol = Protocol::of(&run.benchmark);
        let fact = |name: &str| run.facts.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let note = |entry: &&closeread_methods::Entry| {
            let of_method = protocol.method(entry).passages()?.embedder.clone();
            let owner = if of_method.is_some() { "the paper" } else { protocol.embedder.owner() };
            let wanted = of_method.or_else(|| protocol.embedder.map(str::to_owned))?;
            let by_method = fact("embedder of a method").unwrap_or_default();
            let by_method = by_method.split(", ").find_map(|one| one.strip_prefix(&format!("{}: ", entry.name)));
            let used = match fact("retriever") {
                Some(retriever) if retriever == "bm25" => "BM25".to_owned(),
                _ => by_method.map(str::to_owned).or_else(|| fact("embedder"))?,
            };
            let is_run = run.plan.iter().any(|arm| arm.method == entry.name);
            let note = format!("{} ranked passages by {used}; {owner} embeds with {wanted}", entry.name);
            (is_run && used != wanted).then_some(note)
        };
        let methods = if protocol == &Protocol::OWN { Vec::new() } else { protocol.methods() };
        methods.iter().filter_map(note).collect::<Vec<_>>()
    };
    runs.iter().flat_map(of_run).collect()
}

/// A report with these tables, and the figures among them as charts.
fn bare(runs: &[Run], trials: &Observations, tables: Vec<Table>) -> Report {
    let cells = cells(trials);
    let reports = runs.iter().map(|run| run_report(run, &cells, runs.len() > 1)).collect();
    let charts = figures(&tables);
    finished(runs, &cells, reports, tables, charts)
}

fn finished(
    runs: &[Run],
    cells: &[Cell],
    reports: Vec<RunReport>,
    mut tables: Vec<Table>,
    mut charts: Vec<Chart>,
) -> Report {
    tell_apart(tables.iter_mut().map(|table| &mut table.id));
    tell_apart(charts.iter_mut().map(|chart| &mut chart.id));
    let gaps = gaps_of(runs);
    let held = held(runs);
    if let Some(first) = tables.first_mut() {
        first.notes.extend(parts(runs));
    }
    tables.iter_mut().for_each(|table| table.notes.extend(held.iter().cloned()));
    let notes: Vec<String> = incomplete(cells).into_iter().chain(gaps.iter().cloned()).collect();
    let complete = notes.is_empty();
    if let Some(first) = tables.first_mut() {
        first.notes.extend(runs.iter().flat_map(|run| several_answerers(run, runs.len() > 1)));
    }
    if !complete {
        if let Some(first) = tables.first_mut() {
            first.notes.extend(gaps);
        }
        let titles = tables.iter_mut().map(|table| &mut table.title);
        titles.chain(charts.iter_mut().map(|chart| &mut chart.title)).for_each(|title| title.push_str(" (incomplete)"));
    }
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    Report { title: names.join(", "), complete, notes, runs: reports, tables, charts }
}

/// Makes names differ, and short enough, where they become those of files and elements: `by-类型` and `by-难度` are one there.
fn tell_apart<'i>(ids: impl Iterator<Item = &'i mut String>) {
    const MOST: usize = 200;
    let mut taken = HashSet::new();
    for id in ids {
        id.truncate(id.floor_char_boundary(MOST));
        let (own, mut n) = (id.clone(), 1);
        while !taken.insert(html::id(id).to_lowercase()) {
            n += 1;
            *id = format!("{own}-{n}");
        }
    }
}

/// Returns the notes below every table where responses were held to their form.
fn held(runs: &[Run]) -> Vec<String> {
    let by = |run: &Run| {
        let (_, by) = run.facts.iter().find(|(name, _)| name == "responses held to their form by")?;
        let run = if runs.len() > 1 { format!("{}: ", run.name) } else { String::new() };
        Some(format!("{run}responses were held to the form that their prompts ask for (by {by}); no paper does so"))
    };
    runs.iter().filter_map(by).collect()
}

/// Returns a note for each folder that holds a part of its run.
fn parts(runs: &[Run]) -> Vec<String> {
    let part = |run: &Run| {
        let (_, part) = run.facts.iter().find(|(name, _)| name == "part")?;
        let run = if runs.len() > 1 { format!("{}: ", run.name) } else { String::new() };
        Some(format!("{run}part {part} of a run: the other parts have further items"))
    };
    runs.iter().filter_map(part).collect()
}

/// Returns what of the folders is damaged or missing; with the run's name where there are several.
fn gaps_of(runs: &[Run]) -> Vec<String> {
    let named = |run: &Run, gap: &String| if runs.len() > 1 { format!("{}: {gap}", run.name) } else { gap.clone() };
    runs.iter().flat_map(|run| run.gaps.iter().map(|gap| named(run, gap))).collect()
}

fn run_report(run: &Run, cells: &[Cell], several: bool) -> RunReport {
    let own = |cell: &&Cell| !several || (cell.key.configuration == run.name && run.plan.contains(&cell.key.arm));
    let usage = usage(&run.plan, &run.records, &run.preparations, &run.judging.judgements, &run.prices);
    RunReport {
        run: run.name.clone(),
        benchmark: run.benchmark.clone(),
        facts: run.facts.iter().cloned().collect(),
        cells: cells.iter().filter(own).cloned().collect(),
        usage: if run.is_log { usage.into_iter().map(Usage::without_calls).collect() } else { usage },
        served: run.served.clone(),
    }
}

/// The tables on the judges of a run, with the run's name where there are several.
fn judging_of(run: &Run, several: bool) -> Vec<Table> {
    let mut tables = judging_tables(run);
    if several {
        for table in &mut tables {
            table.id = format!("{}-{}", run.name, table.id);
            table.title = format!("{}: {}", run.name, table.title);
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_one_as_files_are_told_apart() {
        let long = "x".repeat(300);
        let mut ids = ["by-类型", "by-难度", "by-a b", "by-a-b", "by-A-b", "usage", &long, &long].map(str::to_owned);
        tell_apart(ids.iter_mut());
        assert_eq!(ids[..6], ["by-类型", "by-难度-2", "by-a b", "by-a-b-2", "by-A-b-3", "usage"]);
        let files: HashSet<String> = ids.iter().map(|id| html::id(id).to_lowercase()).collect();
        assert!(files.len() == ids.len() && ids.iter().all(|id| id.len() < 210), "{ids:?}");
    }
}

//! Results as the Hugging Face hub reads them: `.eval_results/*.yaml` in a model's repository, `eval.yaml` in a data
//! set's.
//!
//! The hub shows one number a model and task, so that a cell is a task of its own: `dos-rag-1500`.

use super::{About, CellTrials, Entry, file_name};
use chrono::DateTime;
use closeread_eval::observations::{Ending, MetricName};
use closeread_metrics::stats::Estimate;
use closeread_report::Arm;
use closeread_table::number::{percent, thousands};

/// The facts of a publication on the hub that a run does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hub {
    /// The data set's repository, `org/name`.
    pub dataset: String,
    /// Revision of the data set, where one is to be named.
    pub revision: Option<String>,
    /// Address of the report.
    pub url: Option<String>,
}

/// The name of a cell as a task.
pub fn task(arm: &Arm) -> String {
    let budget = arm.budget.map_or_else(String::new, |budget| format!("-{budget}"));
    file_name(&format!("{}{budget}", arm.method))
}

/// The file of a model: an entry a cell, its main metric in percent. `None` if no cell has a score.
pub fn eval_results(about: About<'_>, hub: &Hub, model: &str, cells: &[CellTrials]) -> Option<Entry> {
    let date = DateTime::from_timestamp(about.created, 0).unwrap_or_default().format("%Y-%m-%d").to_string();
    let entries: Vec<String> = cells.iter().filter_map(|cell| one(about, hub, cell, &date)).collect();
    let name = format!(".eval_results/{}-{}.yaml", file_name(&about.run.benchmark), file_name(model));
    (!entries.is_empty()).then(|| Entry { name, bytes: entries.concat().into_bytes() })
}

fn one(about: About<'_>, hub: &Hub, cell: &CellTrials, date: &str) -> Option<String> {
    let (metric, estimate): (&MetricName, &Estimate) =
        cell.summary.metrics.iter().find(|(metric, _)| !metric.is_of_context())?;
    let revision = hub.revision.as_ref().map_or_else(String::new, |hash| format!("    revision: {}\n", quoted(hash)));
    let source = hub.url.as_ref().map_or_else(String::new, |url| {
        format!("  source:\n    url: {}\n    name: \"closeread report\"\n", quoted(url))
    });
    let (low, high) = (percent(estimate.low), percent(estimate.high));
    let waiting = match cell.summary.unjudged(metric) {
        0 => String::new(),
        n => format!(", {n} without a verdict"),
    };
    let missing = match cell.summary.ledger.of(Ending::Missing) {
        0 => String::new(),
        n => format!("; INCOMPLETE: {} trials have no record and count as wrong", thousands(n as u64)),
    };
    let gaps: String = about.run.gaps.iter().map(|gap| format!("; {gap}")).collect();
    let part = about.run.facts.iter().find(|(name, _)| name == "part");
    let part = part.map_or_else(String::new, |(_, part)| format!("; part {part} of a run"));
    let notes = format!(
        "{} of {} items{waiting}, {} in percent, 95% [{low}, {high}]; {}; closeread {}{part}{missing}{gaps}",
        estimate.n,
        about.run.items.len(),
        metric.name(),
        super::cell_name(about.run, &cell.arm),
        about.version
    );
    Some(format!(
        "- dataset:\n    id: {}\n    task_id: {}\n{revision}  value: {:?}\n  date: {}\n{source}  notes: {}\n",
        quoted(&hub.dataset),
        quoted(&task(&cell.arm)),
        (estimate.value * 1e4).round() / 1e2,
        quoted(date),
        quoted(&notes)
    ))
}

/// The `eval.yaml` that makes a data set of these cells a benchmark.
pub fn eval_yaml(benchmark: &str, arms: &[Arm]) -> Entry {
    let mut tasks: Vec<String> = arms.iter().map(task).collect();
    tasks.sort();
    tasks.dedup();
    let tasks: String = tasks.iter().map(|task| format!("  - id: {}\n", quoted(task))).collect();
    let description = format!("How well language models read whole books: {benchmark}, by closeread");
    let text = format!(
        "name: {}\ndescription: {}\nevaluation_framework: \"closeread\"\ntasks:\n{tasks}",
        quoted(benchmark),
        quoted(&description)
    );
    Entry { name: "eval.yaml".to_owned(), bytes: text.into_bytes() }
}

/// A text in double quotes: JSON's are YAML's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

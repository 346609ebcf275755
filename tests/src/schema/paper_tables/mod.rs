//! Checks cells of the papers' tables and figures against values that other code computed from invented trials.

mod check;
mod corpusqa;
mod hamlet;
mod input;
mod novelqa;
mod sagascale;
mod stronger_baselines;

use super::kind::Schema;
use crate::report::{FileReport, label, list};
use closeread_eval::observations::Observations;
use closeread_report::paper;
use closeread_table::Table;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "paper-tables", version: "1", run };

/// A paper whose cases have code.
struct Paper {
    /// Makes the paper's tables from these trials.
    tables: fn(&Observations) -> Vec<Table>,
    /// Checks the tables against a case's expected values.
    check: fn(&[Table], &Case<'_>) -> Result<(), String>,
}

/// Input of a check: the case and its tables.
struct Case<'a> {
    table: &'a str,
    input: &'a Value,
    expected: &'a Value,
    tolerance: f64,
}

fn run(file: &Value, report: &mut FileReport) {
    let tolerance = file.get("tolerance").and_then(Value::as_f64).unwrap_or(1e-9);
    let name = file.get("paper").and_then(Value::as_str).unwrap_or_default();
    let paper = match name {
        // Its input is summaries, judgements of people and trees, not trials.
        "hamlet" => return hamlet::run(file, report, tolerance),
        "corpusqa" => Paper { tables: paper::corpusqa::tables, check: corpusqa::check },
        "novelqa" => Paper { tables: paper::novelqa::tables, check: novelqa::check },
        "sagascale" => Paper { tables: paper::sagascale::tables, check: sagascale::check },
        "stronger-baselines" => Paper { tables: paper::dos_rag::tables, check: stronger_baselines::check },
        other => return report.not_yet(&format!("paper-tables: {other} has no code yet"), list(file, "cases").count()),
    };
    for (position, case) in list(file, "cases").enumerate() {
        let table = case.get("table").and_then(Value::as_str).unwrap_or_default();
        report.case(&label(case, "cases", position), || {
            let expected = case.get("expected").ok_or("no field `expected`")?;
            let input = case.get("input").ok_or("no field `input`")?;
            let trials = input::trials(file.get("inputs"), input)?;
            (paper.check)(&(paper.tables)(&trials), &Case { table, input, expected, tolerance })
        });
    }
}

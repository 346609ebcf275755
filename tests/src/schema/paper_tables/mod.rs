//! The cells of the papers' tables and figures, held against values computed apart from closeread from invented trials.

mod check;
mod input;
mod sagascale;

use super::Schema;
use crate::report::{FileReport, label, list};
use closeread_table::Table;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "paper-tables", version: "1", run };

/// Holds the tables of a case against what the case expects.
type Check = fn(tables: &[Table], table: &str, expected: &Value, tolerance: f64) -> Result<(), String>;

fn run(file: &Value, report: &mut FileReport) {
    let tolerance = file.get("tolerance").and_then(Value::as_f64).unwrap_or(1e-9);
    let paper = file.get("paper").and_then(Value::as_str).unwrap_or_default();
    let check: Check = match paper {
        "sagascale" => sagascale::check,
        other => return report.not_yet(&format!("paper-tables: {other} has no code yet"), list(file, "cases").count()),
    };
    for (position, case) in list(file, "cases").enumerate() {
        report.case(&label(case, "cases", position), || {
            let table = case.get("table").and_then(Value::as_str).ok_or("no field `table`")?;
            let expected = case.get("expected").ok_or("no field `expected`")?;
            let trials = input::trials(file.get("inputs"), case.get("input"))?;
            check(&closeread_report::paper::sagascale::tables(&trials), table, expected, tolerance)
        });
    }
}

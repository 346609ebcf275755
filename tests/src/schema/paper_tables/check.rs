//! Checks of a printed table against a case's expected values.

use closeread_table::{Mark, Table, Value as Place};
use serde_json::Value;

/// The table with this id; without rows where it is not there, so that a case that expects no number passes.
pub(super) fn find(tables: &[Table], id: &str) -> Table {
    tables.iter().find(|table| table.id == id).cloned().unwrap_or_else(|| Table::new(id, "", Vec::new()))
}

/// The rows that are not averages.
pub(super) fn body(table: &Table) -> &[Vec<Place>] {
    &table.rows[..table.rows.len() - table.summary_rows]
}

/// The name before a mark in brackets, or before the paper's signs of reasoning.
pub(super) fn name_of(text: &str) -> &str {
    text.split_once(" (").map_or(text, |(name, _)| name).trim_end_matches(['†', '‡'])
}

/// The cell of this column in a row; `None` if the table lacks the column.
pub(super) fn place<'r>(table: &Table, row: &'r [Place], column: &str) -> Option<&'r Place> {
    let at = table.columns.iter().position(|head| head == column || head.replace(',', "") == column)?;
    row.get(at)
}

/// The number in a cell, and its count.
pub(super) fn number(place: Option<&Place>) -> (Option<f64>, usize) {
    match place {
        Some(Place::Printed { value, n, .. }) => (Some(*value), *n),
        _ => (None, 0),
    }
}

/// Fails if a cell is not the expected `value` over the expected `n`.
pub(super) fn same(what: &str, place: Option<&Place>, expected: &Value, tolerance: f64) -> Result<(), String> {
    let (value, n) = number(place);
    let wanted = expected.get("value").and_then(Value::as_f64);
    let equal = match (value, wanted) {
        (Some(value), Some(wanted)) => (value - wanted).abs() <= tolerance,
        (None, None) => return Ok(()),
        _ => false,
    };
    let wanted_n = expected.get("n").and_then(Value::as_u64).unwrap_or(0);
    match equal && n as u64 == wanted_n {
        true => Ok(()),
        false => Err(format!("{what}: expected {expected}, got {value:?} over {n}")),
    }
}

/// Fails unless the rows with this mark in the column are those named.
pub(super) fn marked(table: &Table, column: &str, mark: Mark, expected: &Value) -> Result<(), String> {
    let has = |row: &&Vec<Place>| matches!(place(table, row, column), Some(Place::Printed { mark: Some(is), .. }) if *is == mark);
    let names = body(table).iter().filter(has).filter_map(|row| match &row[0] {
        Place::Text { text } => Some(Value::from(name_of(text))),
        _ => None,
    });
    let got = Value::from(names.collect::<Vec<_>>());
    if got == *expected { Ok(()) } else { Err(format!("{mark:?} of {column}: expected {expected}, got {got}")) }
}

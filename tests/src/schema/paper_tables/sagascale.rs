//! SagaScale's tables, figures and numbers of its text.

use super::Case;
use super::check::{body, find, marked, name_of, number, place, same};
use closeread_table::{Mark, Table, Value as Place};
use serde_json::Value;

pub(super) fn check(tables: &[Table], case: &Case<'_>) -> Result<(), String> {
    let Case { table, expected, tolerance, .. } = *case;
    let id = match table {
        "Table 3" => "sagascale-table-3",
        "Table 4" => "sagascale-table-4",
        "Table 5" => "sagascale-table-5",
        "Table 6" => "sagascale-table-6",
        "Table 7" => "sagascale-table-7",
        "Table 8" => "sagascale-table-8",
        "Solved by AR" => "sagascale-solved",
        "Rank correlations" => "sagascale-rank-correlation",
        "Figure 3a" => "sagascale-figure-3a",
        "Figure 3b" => return figure_3b(&find(tables, "sagascale-figure-3b"), expected, tolerance),
        "Figure 4" => "sagascale-figure-4",
        "In-window advantage" => "sagascale-advantage",
        other => return Err(format!("no code for {other}")),
    };
    let found = find(tables, id);
    let rows: &[Value] = expected.get("rows").and_then(Value::as_array).map_or(&[], Vec::as_slice);
    if !found.rows.is_empty() && body(&found).len() != rows.len() {
        return Err(format!("expected {} rows, got {}", rows.len(), body(&found).len()));
    }
    for (position, wanted) in rows.iter().enumerate() {
        let got: &[Place] = body(&found).get(position).map_or(&[], Vec::as_slice);
        head(got, wanted)?;
        cells(&found, got, wanted, tolerance)?;
        if table == "Figure 3a" {
            curve(&find(tables, "sagascale-figure-3a-curve"), wanted, &["head", "method"], tolerance)?;
        }
    }
    summary(&found, expected, tolerance)?;
    marks(&found, expected)
}

/// The names of a row.
fn head(got: &[Place], wanted: &Value) -> Result<(), String> {
    let Some(head) = wanted.get("head") else { return Ok(()) };
    let names = ["configuration", "method", "accuracy", "over"];
    let wanted_name = names.iter().find_map(|name| head.get(name)).and_then(Value::as_str);
    let (Some(Place::Text { text }), Some(wanted_name)) = (got.first(), wanted_name) else { return Ok(()) };
    let reasons = head.get("reasoning").and_then(Value::as_bool).unwrap_or(false);
    if name_of(text) != wanted_name || text.ends_with('‡') != reasons {
        return Err(format!("expected the row {head}, got {text}"));
    }
    match (head.get("max_len"), got.get(1)) {
        (Some(Value::Null), Some(Place::Missing { .. })) | (None, _) => Ok(()),
        (Some(wanted), Some(Place::Count { count })) if wanted.as_u64() == Some(*count) => Ok(()),
        (wanted, got) => Err(format!("{text}: expected Max Len {wanted:?}, got {got:?}")),
    }
}

fn cells(table: &Table, got: &[Place], wanted: &Value, tolerance: f64) -> Result<(), String> {
    let none = serde_json::Map::new();
    let cells = wanted.get("cells").and_then(Value::as_object).unwrap_or(&none);
    for (column, expected) in cells {
        let found = place(table, got, column);
        same(column, found, expected, tolerance)?;
        // How many of n: incorrect, polarized, solved.
        for part in ["incorrect", "polarized", "solved"] {
            let Some(part) = expected.get(part).and_then(Value::as_f64) else { continue };
            let (value, n) = number(found);
            let share = value.unwrap_or(0.0) * n as f64 / 100.0;
            if (share - part).abs() > 1e-6 {
                return Err(format!("{column}: expected {part} of {n}, got {share}"));
            }
        }
    }
    for column in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        if place(table, got, column).is_some_and(|p| matches!(p, Place::Printed { .. })) && !cells.contains_key(column)
        {
            return Err(format!("{column}: a point that is not expected"));
        }
    }
    let overflowed = wanted.get("overflowed").and_then(Value::as_u64);
    let is_signed = matches!(place(table, got, "LC"), Some(Place::Printed { sign, .. }) if sign == "§");
    match overflowed {
        Some(n) if (n > 0) != is_signed && number(place(table, got, "LC")).0.is_some() => {
            Err(format!("{n} overflowed, and the mark is {is_signed}"))
        }
        _ => Ok(()),
    }
}

fn summary(table: &Table, expected: &Value, tolerance: f64) -> Result<(), String> {
    let Some(average) = expected.get("average").and_then(Value::as_object) else { return Ok(()) };
    let row: &[Place] = if table.summary_rows > 0 { &table.rows[table.rows.len() - 1] } else { &[] };
    average.iter().try_for_each(|(column, wanted)| same("average", place(table, row, column), wanted, tolerance))
}

fn marks(table: &Table, expected: &Value) -> Result<(), String> {
    for (name, mark) in
        [("best", Mark::Best), ("second", Mark::Second), ("lowest", Mark::Best), ("highest", Mark::Best)]
    {
        match expected.get(name) {
            Some(Value::Object(columns)) => {
                columns.iter().try_for_each(|(column, names)| marked(table, column, mark, names))?;
            }
            Some(names) => {
                let column = table.columns.last().map_or("", String::as_str);
                marked(table, column, mark, names)?;
            }
            None => {}
        }
    }
    // Where a row has its best, the columns are named.
    let rows = expected.get("rows").and_then(Value::as_array).into_iter().flatten();
    for (got, wanted) in body(table).iter().zip(rows) {
        let Some(best) = wanted.get("best") else { continue };
        let is_best = |place: &Place| matches!(place, Place::Printed { mark: Some(Mark::Best), .. });
        let columns = table.columns.iter().zip(got).filter(|(_, place)| is_best(place));
        let found = Value::from(columns.map(|(column, _)| Value::from(column.as_str())).collect::<Vec<_>>());
        if found != *best {
            return Err(format!("best of the row {}: expected {best}, got {found}", wanted["head"]));
        }
    }
    Ok(())
}

/// The points of a curve in the column that `name` says.
fn curve(table: &Table, wanted: &Value, name: &[&str; 2], tolerance: f64) -> Result<(), String> {
    let column = wanted[name[0]][name[1]].as_str().unwrap_or_default();
    for point in wanted.get("curve").and_then(Value::as_array).into_iter().flatten() {
        let tokens = point["tokens"].as_u64();
        let at = table.rows.iter().find(|row| matches!(row[0], Place::Count { count } if Some(count) == tokens));
        same(&format!("{column} at {tokens:?}"), at.and_then(|row| place(table, row, column)), point, tolerance)?;
    }
    Ok(())
}

fn figure_3b(table: &Table, expected: &Value, tolerance: f64) -> Result<(), String> {
    let rows: &[Value] = expected.get("rows").and_then(Value::as_array).map_or(&[], Vec::as_slice);
    let names: Vec<&str> = rows.iter().filter_map(|row| row["head"]["configuration"].as_str()).collect();
    let columns: Vec<&str> = table.columns.iter().skip(1).map(String::as_str).collect();
    if names != columns {
        return Err(format!("expected curves of {names:?}, got {columns:?}"));
    }
    rows.iter().try_for_each(|row| curve(table, row, &["head", "configuration"], tolerance))
}

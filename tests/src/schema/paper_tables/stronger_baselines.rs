//! The tables and figures of "Stronger Baselines".

use super::Case;
use super::check::{body, find, number, place, same};
use closeread_table::{Mark, Table, Value as Place};
use serde_json::Value;

const TOKENS: &str = "mean tokens";

pub(super) fn check(tables: &[Table], case: &Case<'_>) -> Result<(), String> {
    let suffix = match case.input.get("failures").and_then(Value::as_str) {
        Some("wrong") => "-wrong",
        _ => "",
    };
    let tokens = find(tables, &format!("stronger-baselines-tokens{suffix}"));
    if case.table.starts_with("Figure") {
        return figure(&tokens, case);
    }
    if case.table == "Table 5" {
        return table_5(&find(tables, "stronger-baselines-table-5"), case);
    }
    let apart = case.input.get("where").and_then(|only| only.get("hard")).and_then(Value::as_str);
    let apart = apart.map_or_else(String::new, |value| format!("-{}", value.replace(' ', "-")));
    let table = find(tables, &format!("stronger-baselines-budgets{apart}{suffix}"));
    // Tokens stand by all items.
    by_budget(&table, apart.is_empty().then_some(&tokens), case)
}

fn rows<'v>(expected: &'v Value, field: &str) -> &'v [Value] {
    expected.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text of a place; a paper's name of a method becomes ours.
fn text(place: &Place) -> &str {
    match place {
        Place::Text { text } => match text.as_str() {
            "Vanilla RAG" => "vanilla-rag",
            "DOS RAG" => "dos-rag",
            "RAPTOR" => "raptor",
            "ReadAgent" => "read-agent",
            "Full Document" => "full-document",
            other => other,
        },
        _ => "",
    }
}

fn with_deviation(what: &str, got: Option<&Place>, expected: &Value, tolerance: f64) -> Result<(), String> {
    same(what, got, expected, tolerance)?;
    let sd = if let Some(Place::Printed { sd, .. }) = got { *sd } else { None };
    let wanted = expected.get("sd").and_then(Value::as_f64);
    let equal = match (sd, wanted) {
        (Some(sd), Some(wanted)) => (sd - wanted).abs() <= tolerance * wanted.abs().max(1.0),
        (None, None) => true,
        _ => false,
    };
    if equal { Ok(()) } else { Err(format!("{what}: expected {expected}, got the deviation {sd:?}")) }
}

fn by_budget(table: &Table, tokens: Option<&Table>, case: &Case<'_>) -> Result<(), String> {
    let wanted = rows(case.expected, "rows");
    if table.rows.is_empty() {
        return without_table(wanted);
    }
    if body(table).len() != wanted.len() {
        return Err(format!("expected {} rows, got {}", wanted.len(), body(table).len()));
    }
    let mut best = Vec::new();
    for (got, wanted) in body(table).iter().zip(wanted) {
        let method = wanted["head"]["method"].as_str().unwrap_or_default();
        if text(&got[0]) != method {
            return Err(format!("expected {method}, got {:?}", got[0]));
        }
        for (column, expected) in wanted["cells"].as_object().ok_or("no field `cells`")? {
            let what = format!("{method} at {column}");
            let found = if column == "all" {
                spanning(got)
            } else {
                place(table, got, column).filter(|_| spanning(got).is_none())
            };
            with_deviation(&what, found, expected, case.tolerance)?;
            if let Some(tokens) = tokens {
                let place = spent(tokens, method, column).map(|row| &row[2]);
                close(&format!("{what}: tokens"), number(place).0, expected.get("tokens"), case.tolerance)?;
            }
        }
        for (column, place) in table.columns.iter().zip(got) {
            if matches!(place, Place::Printed { mark: Some(Mark::Best), .. }) {
                let column = if spanning(got).is_some() { "all" } else { column };
                best.push(serde_json::json!({"method": method, "column": column.replace(',', "")}));
            }
        }
    }
    match case.expected.get("best") {
        Some(wanted) if *wanted != Value::from(best.clone()) => Err(format!("best: expected {wanted}, got {best:?}")),
        _ => Ok(()),
    }
}

/// The cell that spans all budgets of a row. It also holds the mean tokens.
fn spanning(row: &[Place]) -> Option<&Place> {
    row.get(1).filter(|place| matches!(place, Place::Printed { aside, .. } if !aside.is_empty()))
}

/// Checks that a case expects no number of a missing table.
fn without_table(wanted: &[Value]) -> Result<(), String> {
    let has_value =
        |row: &Value| row["cells"].as_object().is_some_and(|c| c.values().any(|cell| !cell["value"].is_null()));
    if wanted.iter().any(has_value) { Err("there is no table".to_owned()) } else { Ok(()) }
}

/// The row of a method at a budget.
fn spent<'t>(table: &'t Table, method: &str, budget: &str) -> Option<&'t [Place]> {
    let at = |place: &Place| match place {
        Place::Count { count } => count.to_string() == budget,
        place => text(place) == budget,
    };
    body(table).iter().find(|row| text(&row[0]) == method && at(&row[1])).map(Vec::as_slice)
}

fn close(what: &str, got: Option<f64>, wanted: Option<&Value>, tolerance: f64) -> Result<(), String> {
    match (got, wanted.and_then(Value::as_f64)) {
        (Some(got), Some(wanted)) if (got - wanted).abs() <= tolerance * wanted.abs().max(1.0) => Ok(()),
        (None, None) => Ok(()),
        // A cell without a score has no point.
        (None, Some(_)) if what.ends_with("tokens") => Ok(()),
        (got, wanted) => Err(format!("{what}: expected {wanted:?}, got {got:?}")),
    }
}

fn figure(tokens: &Table, case: &Case<'_>) -> Result<(), String> {
    let mut points = 0;
    for series in rows(case.expected, "series") {
        let method = series["method"].as_str().unwrap_or_default();
        for point in rows(series, "points") {
            points += 1;
            let budget = point["budget"].as_u64().map_or("all".to_owned(), |budget| budget.to_string());
            let row = spent(tokens, method, &budget).ok_or_else(|| format!("no point of {method} at {budget}"))?;
            close(&format!("{method} at {budget}: x"), number(Some(&row[2])).0, point.get("x"), case.tolerance)?;
            let y = serde_json::json!({"value": point["y"], "sd": point["sd"], "n": point["n"]});
            with_deviation(&format!("{method} at {budget}"), Some(&row[3]), &y, case.tolerance)?;
        }
    }
    match body(tokens).len() {
        0 if points == 0 => Ok(()),
        n if n == points && tokens.columns[2] == TOKENS => Ok(()),
        n => Err(format!("expected {points} points, got {n}")),
    }
}

fn table_5(table: &Table, case: &Case<'_>) -> Result<(), String> {
    let wanted = rows(case.expected, "rows");
    if table.rows.is_empty() {
        return without_table(wanted);
    }
    if body(table).len() != wanted.len() {
        return Err(format!("expected {} rows, got {}", wanted.len(), body(table).len()));
    }
    let columns =
        [("f1", "F1"), ("bleu_1", "BLEU-1"), ("bleu_4", "BLEU-4"), ("rouge_l", "ROUGE-L"), ("meteor", "METEOR")];
    for row in wanted {
        let head = &row["head"];
        let budget = head["budget"].as_u64().map_or("all".to_owned(), |budget| budget.to_string());
        let got = spent(table, head["method"].as_str().unwrap_or_default(), &budget);
        let got = got.ok_or_else(|| format!("no row {head}"))?;
        close(&format!("{head}: Avg. Tokens"), number(Some(&got[2])).0, head.get("tokens"), case.tolerance)?;
        for (name, column) in columns {
            let found = place(table, got, column);
            same(&format!("{head}: {name}"), found, &row["cells"][name], case.tolerance)?;
            let here = serde_json::json!({"method": head["method"], "budget": head["budget"]});
            let is_best = rows(&case.expected["best"], name).contains(&here);
            if matches!(found, Some(Place::Printed { mark: Some(Mark::Best), .. })) != is_best {
                return Err(format!("{head}: whether it has the best {name} should be {is_best}"));
            }
        }
    }
    Ok(())
}

//! CorpusQA's tables.

use super::Case;
use super::check::{body, find, number, same};
use closeread_table::{Table, Value as Place};
use serde_json::Value;

pub(super) fn check(tables: &[Table], case: &Case<'_>) -> Result<(), String> {
    // People are compared under one policy alone.
    let suffix = match case.input.get("policy").and_then(Value::as_str) {
        Some("wrong") if case.table != "Table 5" => "-wrong",
        _ => "",
    };
    let (id, heads) = match case.table {
        "Table 3" => ("corpusqa-table-3", &["set", "configuration"][..]),
        "Table 4" => ("corpusqa-table-4", &["set", "row", "budget"][..]),
        "Table 5" => ("corpusqa-table-5", &["context", "method"][..]),
        "By difficulty" => ("corpusqa-difficulty", &["configuration", "method", "budget"][..]),
        other => return Err(format!("no code for {other}")),
    };
    let table = find(tables, &format!("{id}{suffix}"));
    let rows: &[Value] = case.expected.get("rows").and_then(Value::as_array).map_or(&[], Vec::as_slice);
    if body(&table).len() != rows.len() && !(table.rows.is_empty() && rows.iter().all(is_empty)) {
        return Err(format!("expected {} rows, got {}", rows.len(), body(&table).len()));
    }
    for (got, wanted) in body(&table).iter().zip(rows) {
        names(got, &wanted["head"], heads)?;
        let cells = wanted["cells"].as_object().ok_or("no field `cells`")?;
        if wanted.get("context_limit_exceeded").is_some() {
            let is_said =
                |place: &Place| matches!(place, Place::Missing { reason } if reason == "context limit exceeded");
            let (first, others) = (&got[heads.len()], &got[heads.len() + 1..]);
            if !is_said(first) || others.iter().any(|place| *place != Place::Spanned) {
                return Err(format!("{}: the context limit is exceeded, got {got:?}", wanted["head"]));
            }
        }
        for (column, expected) in cells {
            let at = table.columns.iter().position(|head| head == column_of(column));
            let place = at.and_then(|at| got.get(at));
            let what = format!("{} {column}", wanted["head"]);
            same(&what, place, expected, case.tolerance)?;
            let Some(place) = place else { continue };
            if let Some(correct) = expected.get("correct").and_then(Value::as_f64) {
                let (value, n) = number(Some(place));
                let got = value.unwrap_or(0.0) * n as f64 / 100.0;
                if (got - correct).abs() > 1e-6 {
                    return Err(format!("{what}: expected {correct} correct, got {got}"));
                }
            }
            let is_signed = matches!(place, Place::Printed { sign, .. } if sign == "†");
            // The sign stands on a number: a place without one has none.
            let dagger = expected.get("dagger").and_then(Value::as_bool).filter(|_| !expected["value"].is_null());
            if dagger.is_some_and(|dagger| dagger != is_signed) {
                return Err(format!("{what}: expected {expected}, got {place:?}"));
            }
        }
    }
    Ok(())
}

fn is_empty(row: &Value) -> bool {
    row["cells"].as_object().is_none_or(|cells| cells.values().all(|cell| cell["value"].is_null()))
}

fn column_of(name: &str) -> &str {
    match name {
        "overall" => "Overall (mean of domains)",
        "financial_zh" => "Financial-zh",
        "financial_en" => "Financial-en",
        "education_en" => "Education-en",
        "real_estate_en" => "Real Estate-en",
        "correct_over_total" => "correct over total",
        "accuracy" => "Acc., %",
        "timeouts" => "time-outs, %",
        name => name,
    }
}

fn names(got: &[Place], head: &Value, heads: &[&str]) -> Result<(), String> {
    for (place, name) in got.iter().zip(heads) {
        let wanted = match &head[*name] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            number => number.to_string(),
        };
        match place {
            Place::Text { text } if text.replace(',', "") == wanted => {}
            other => return Err(format!("expected the row {head}, got {other:?}")),
        }
    }
    Ok(())
}

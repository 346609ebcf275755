//! Evaluation tables: how trials count, and the means, ledgers, pools and pairs, checked against values that were
//! computed without closeread by the rules that a file's `rules` say.

mod ask;
mod check;
mod run;

use super::kind::Schema;
use crate::report::{FileReport, label, list};
use closeread_text::hash::sha256;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "observations", version: "1", run };

fn run(file: &Value, report: &mut FileReport) {
    let tolerance = file.get("tolerance").and_then(Value::as_f64).unwrap_or(1e-9);
    let mut printed = String::new();
    for (position, case) in list(file, "cases").enumerate() {
        let got = case.get("input").ok_or("no field `input`".to_owned());
        let got = got.and_then(|input| ask::answer(input, file.get("inputs").unwrap_or(&Value::Null)));
        if let Ok(got) = &got {
            printed += &got.to_string();
        }
        report.case(&label(case, "cases", position), || {
            let mut expected = case.get("expected").ok_or("no field `expected`")?.clone();
            in_order(&mut expected);
            check::same("", &got?, &expected, tolerance)
        });
    }
    report.digest = Some(sha256(printed.as_bytes()));
}

/// Sorts the members of clusters by name, as the table does: the schema has no order.
fn in_order(expected: &mut Value) {
    let Some(clusters) = expected.pointer_mut("/clusters/members").and_then(Value::as_array_mut) else { return };
    let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    clusters.iter_mut().filter_map(Value::as_array_mut).for_each(|names| names.sort_by_key(name));
    clusters.sort_by_key(|names| list_of(names).map(name).collect::<Vec<_>>());
}

fn list_of(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

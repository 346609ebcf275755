//! Figures of the papers, recomputed from the papers' own tables by the rule that each case names.
//!
//! Beside `recomputed`, a case's verdict `agrees` is held to ours, and each of its `variants` that has a name here; a
//! variant without one is noted, not failed: the schema asks for `recomputed` alone.

use super::{Schema, compare};
use crate::report::{FileReport, list};
use closeread_core::paper::audit;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "paper_tables", version: "1", run };

fn run(file: &Value, report: &mut FileReport) {
    report.cases(file, "cases", check);
    for name in list(file, "cases").filter_map(|case| case.get("variants")?.as_object()).flat_map(|v| v.keys()) {
        if audit::variant(name, &Value::Null).is_none()
            && !name.starts_with("plain_mean_")
            && !name.starts_with("question_weighted_")
        {
            report.note(&format!("variant `{name}` has no code: not compared"));
        }
    }
}

fn check(case: &Value) -> Result<(), String> {
    let figure = audit::of_case(case, 0).map_err(|error| error.to_string())?;
    let (rule, recomputed) = audit::recompute(&figure).map_err(|error| error.to_string())?;
    let expected = case.get("recomputed").ok_or("no field `recomputed`")?;
    if !audit::agree(&recomputed, expected, figure.tolerance) {
        return Err(format!("{rule}: expected {expected}, got {recomputed} (tolerance {:e})", figure.tolerance));
    }
    let agrees: bool = compare::parse(case.get("agrees").ok_or("no field `agrees`")?)?;
    if audit::agree(&recomputed, &figure.printed, figure.tolerance) != agrees {
        return Err(format!("{rule}: agrees: expected {agrees}; printed {}, recomputed {recomputed}", figure.printed));
    }
    for (name, expected) in case.get("variants").and_then(Value::as_object).into_iter().flatten() {
        let Some(got) = audit::variant(name, &figure.inputs) else { continue };
        let got = got.map_err(|error| format!("variant {name}: {error}"))?;
        if !audit::agree(&got, expected, 1e-9) {
            return Err(format!("variant {name}: expected {expected}, got {got}"));
        }
    }
    Ok(())
}

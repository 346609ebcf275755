//! Files of raters' labels: majority, kappa, AC1, and a judge compared with the raters.

use super::kind::Schema;
use crate::report::{FileReport, label, list};
use closeread_eval::InputFile;
use closeread_judges::{KappaRow, PairOfRaters, RaterError, RaterLabels, Share};
use serde_json::{Map, Value, json};

pub(super) const SCHEMA: Schema = Schema { name: "raters", version: "1", run };

fn run(file: &Value, report: &mut FileReport) {
    let tolerance = file.get("tolerance").and_then(Value::as_f64).unwrap_or(1e-9);
    for (position, case) in list(file, "cases").enumerate() {
        report.case(&label(case, "cases", position), || {
            let input = case.get("input").ok_or("no field `input`")?;
            let expected = case.get("expected").ok_or("no field `expected`")?;
            same("", &made(input)?, expected, tolerance)
        });
    }
}

/// Reads labels as a file would hold them.
pub(super) fn read(text: &str, panel: Option<usize>) -> Result<RaterLabels, RaterError> {
    RaterLabels::read(&InputFile { name: "labels.csv".to_owned(), bytes: text.as_bytes().to_vec() }, panel)
}

fn made(input: &Value) -> Result<Value, String> {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let panel = input.get("panel").and_then(Value::as_u64).map(|panel| panel as usize);
    let labels = match read(text("labels").ok_or("no field `input.labels`")?, panel) {
        Ok(labels) => labels,
        Err(RaterError::SecondLabel { line, first_line, unit, rater, .. }) => {
            let (refused, unit) = ("second_label", unit);
            return Ok(
                json!({"refused": refused, "unit": unit, "rater": rater, "line": line, "first_line": first_line}),
            );
        }
        Err(other) => return Err(other.to_string()),
    };
    let majority: Map<String, Value> = labels
        .units()
        .map(|unit| {
            let parts = [&unit.group, &unit.criterion, &unit.unit].into_iter().filter(|part| !part.is_empty());
            (parts.map(String::as_str).collect::<Vec<_>>().join("/"), json!(labels.label(unit)))
        })
        .collect();
    let kappas: Vec<Value> = labels
        .pairs()
        .iter()
        .map(|both| {
            let mut kappa = kappa(both);
            kappa["a"] = json!(both.a);
            kappa["b"] = json!(both.b);
            kappa
        })
        .collect();
    let rated_by: Map<String, Value> =
        labels.rated_by().into_iter().map(|(n, units)| (n.to_string(), json!(units))).collect();
    let mut made = json!({
        "raters": labels.raters().collect::<Vec<_>>(),
        "units": labels.units().count(),
        "labels": labels.n_labels(),
        "panel": labels.panel(),
        "rated_by": rated_by,
        "without_majority": majority.values().filter(|label| label.is_null()).count(),
        "majority": majority,
        "kappa": kappas,
        "ac1": ac1(&labels),
    });
    if let Some(text) = text("judge") {
        made["judge"] = judged(&labels, &read(text, None).map_err(|error| error.to_string())?);
    }
    if labels.units().any(|unit| !unit.criterion.is_empty()) {
        let (by_criterion, all) = labels.criteria(|label| label == "yes");
        let shares: Map<String, Value> =
            by_criterion.into_iter().map(|(name, part)| (name.to_owned(), share(part))).collect();
        made["criteria"] = Value::Object(shares);
        made["all_criteria"] = share(all);
    }
    Ok(made)
}

fn kappa(both: &PairOfRaters) -> Value {
    let mut made = json!({"value": both.kappa.as_ref().map(|kappa| kappa.kappa), "n": both.n});
    if let Some(agreement) = both.agreement {
        made["agreement"] = json!(agreement);
    }
    made
}

/// AC1 with its parts.
pub(super) fn ac1(labels: &RaterLabels) -> Value {
    let rated_by = labels.rated_by();
    let units: usize = rated_by.range(2..).map(|(_, units)| units).sum();
    match labels.ac1() {
        Some(ac1) => json!({"value": ac1.ac1, "units": units, "pa": ac1.observed, "pe": ac1.expected}),
        None => json!({"value": null, "units": units}),
    }
}

fn share(part: Share) -> Value {
    json!({"value": part.value(), "hit": part.hit, "of": part.of})
}

fn judged(labels: &RaterLabels, judge: &RaterLabels) -> Value {
    let against = labels.against(judge);
    let kappas: Map<String, Value> = against.raters.iter().map(|both| (both.a.clone(), kappa(both))).collect();
    let mut made = json!({
        "kappa": kappas,
        "against_majority": {
            "binary": against.binary, "balanced": against.balanced, "n": against.majority.n,
            "kappa": kappa(&against.majority),
        },
        "unjudged_units": against.unjudged,
    });
    if labels.units().any(|unit| !unit.group.is_empty()) {
        let names: Vec<&str> = labels.raters().collect();
        let by_group = labels.by_group(judge);
        let averages = |row: &KappaRow, others: usize| {
            let n = row.raters.iter().flatten().count();
            json!({"value": row.average, "n": if others > 0 { others } else { n }})
        };
        let groups = by_group.groups.iter().map(|(group, row)| {
            let own = labels.only(|unit| unit.group == *group).against(judge);
            let mut made: Map<String, Value> = own.raters.iter().map(|both| (both.a.clone(), kappa(both))).collect();
            made.insert("average".to_owned(), averages(row, 0));
            (group.clone(), Value::Object(made))
        });
        made["by_group"] = Value::Object(groups.collect());
        let with = |value: &dyn Fn(&KappaRow) -> Option<f64>| by_group.groups.values().filter_map(value).count();
        let mut columns: Map<String, Value> = names
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let n = with(&|row| row.raters[at]);
                ((*name).to_owned(), json!({"value": by_group.average.raters[at], "n": n}))
            })
            .collect();
        columns.insert("average".to_owned(), averages(&by_group.average, with(&|row| row.average)));
        made["column_averages"] = Value::Object(columns);
    }
    made
}

/// Fails unless every expected value is present and equal. Reasons, which are text for people, are not compared.
pub(super) fn same(at: &str, got: &Value, expected: &Value, tolerance: f64) -> Result<(), String> {
    match (got, expected) {
        (Value::Object(got), Value::Object(expected)) => {
            // By the formula nothing is expected by chance with one label; ours is 1 there, and AC1 is 1 by either.
            let one_label = expected.get("pe") == Some(&json!(0.0));
            let names = expected.keys().filter(|name| *name != "reason" && !(one_label && *name == "pe"));
            names.into_iter().try_for_each(|name| {
                same(&format!("{at}/{name}"), got.get(name).unwrap_or(&Value::Null), &expected[name], tolerance)
            })?;
            match got.keys().find(|name| !expected.contains_key(*name)) {
                Some(more) => Err(format!("{at}/{more} is not expected")),
                None => Ok(()),
            }
        }
        (Value::Array(got), Value::Array(expected)) if got.len() == expected.len() => {
            let pairs = got.iter().zip(expected).enumerate();
            pairs.into_iter().try_for_each(|(n, (got, expected))| same(&format!("{at}/{n}"), got, expected, tolerance))
        }
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) if (a - b).abs() <= tolerance => Ok(()),
            _ => Err(format!("{at}: expected {expected}, got {got}")),
        },
        _ if got == expected => Ok(()),
        _ => Err(format!("{at}: expected {expected}, got {got}")),
    }
}

//! Computes the result of a case, in the form of the vectors' `expected`.

use super::run::Run;
use crate::schema::compare::parse;
use closeread_eval::observations::{
    Aggregate, Aggregation, Basis, Cell, CellId, CellKey, Counting, Ending, FailurePolicy, Observations, Out,
    PoolError, Rows, Weighting,
};
use closeread_metrics::stats;
use closeread_metrics::stats::clustered_mean;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    metric: String,
    policy: Policy,
    #[serde(default)]
    counting: Counting,
    #[serde(default)]
    weighting: Weighting,
    /// Cells of one run to report.
    cells: Option<Vec<String>>,
    /// The first run's cell of a pair.
    a: Option<String>,
    /// The second run's cell of a pair.
    b: Option<String>,
    #[serde(default)]
    clusters: bool,
    group_by: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Policy {
    Wrong,
    LeftOut,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(flatten)]
    run: Value,
}

impl Ask {
    fn aggregation(&self) -> Aggregation {
        let policy = match self.policy {
            Policy::Wrong => FailurePolicy::Wrong,
            Policy::LeftOut => FailurePolicy::LeftOut,
        };
        let (counting, weighting) = (self.counting, self.weighting.clone());
        Aggregation { policy, counting, weighting, ..Aggregation::new(self.metric.as_str()) }
    }
}

/// Returns the result of the case with this input.
pub(super) fn answer(input: &Value, inputs: &Value) -> Result<Value, String> {
    let ask: Ask = parse(input.get("ask").ok_or("no field `ask`")?)?;
    let by = ask.aggregation();
    if let Some(runs) = input.get("runs") {
        return pool(&parse::<Vec<Named>>(runs)?, inputs, &by);
    }
    if let (Some(a), Some(b)) = (input.get("a"), input.get("b")) {
        let (a, b) = (used(a, inputs)?, used(b, inputs)?);
        let (table, other) = (a.table()?, b.table()?);
        let a = Rows::of(a.cell(&table, ask.a.as_deref().ok_or("no cell `a`")?)?);
        let b = Rows::of(b.cell(&other, ask.b.as_deref().ok_or("no cell `b`")?)?);
        return Ok(paired(&table, &a, &other, &b, &by));
    }
    let run: Run = used(input, inputs)?;
    let table = run.table()?;
    let cells = ask.cells.iter().flatten().map(|id| run.cell(&table, id)).collect::<Result<Vec<_>, _>>()?;
    let rows = Rows::all().cells(cells);
    if let Some(label) = &ask.group_by {
        let grouped = table.grouped(&rows, &by, |item| item.label(label).map(str::to_owned));
        let groups: Map<String, Value> = grouped.groups.into_iter().map(|(key, made)| (key, shown(&made))).collect();
        return Ok(json!({"groups": groups, "in_none": grouped.in_none}));
    }
    let mut answer = shown(&table.aggregate(&rows, &by));
    if ask.clusters {
        answer["clusters"] = clusters(&table, &rows, &by);
    }
    Ok(answer)
}

/// The run of an input, which names it (`use`, or the text itself) or holds it in full.
fn used(input: &Value, inputs: &Value) -> Result<Run, String> {
    match input.as_str().or_else(|| input.get("use").and_then(Value::as_str)) {
        Some(name) => parse(inputs.get(name).ok_or_else(|| format!("no input {name}"))?),
        None => parse(input),
    }
}

fn pool(runs: &[Named], inputs: &Value, by: &Aggregation) -> Result<Value, String> {
    let tables = runs.iter().map(|named| Ok((named.name.as_str().into(), used(&named.run, inputs)?.table()?)));
    let tables: Vec<_> = tables.collect::<Result<_, String>>()?;
    let pool = match Observations::pooled(tables) {
        Ok(pool) => pool,
        Err(PoolError::TwoBenchmarks { .. }) => return Ok(json!({"refused": "two_benchmarks"})),
        Err(PoolError::TwoGolds { id, task }) => return Ok(json!({"refused": "two_golds", "id": id, "task": task})),
        Err(PoolError::EqualCells(key)) => {
            let mut refused = named(&key);
            refused["refused"] = json!("equal_cells");
            return Ok(refused);
        }
    };
    let line = |(id, cell): (CellId, &Cell)| {
        let mut line = named(&cell.key);
        if let (Value::Object(line), Value::Object(made)) = (&mut line, shown(&pool.aggregate(&Rows::of(id), by))) {
            line.extend(made);
        }
        line
    };
    let cells: Vec<Value> = pool.cells().map(line).collect();
    Ok(json!({"cells": cells, "items": pool.items().count(), "planned": pool.rows(&Rows::all()).count()}))
}

fn named(key: &CellKey) -> Value {
    let CellKey { configuration, method, model, budget, task } = key;
    json!({"configuration": &**configuration, "method": &**method, "model": &**model, "budget": budget, "task": task})
}

fn paired(table: &Observations, a: &Rows, other: &Observations, b: &Rows, by: &Aggregation) -> Value {
    let pair = table.paired(a, other, b, by);
    let made = pair.comparison();
    json!({
        "n": pair.common.len(),
        "only_a": pair.only_a.len(),
        "only_b": pair.only_b.len(),
        "other_gold": pair.other_gold.len(),
        "neither": pair.neither.len(),
        "a": made.as_ref().map(|made| made.mean_a),
        "b": made.as_ref().map(|made| made.mean_b),
        // A comparison says b - a.
        "difference": made.as_ref().map(|made| -made.difference),
    })
}

fn shown(made: &Aggregate) -> Value {
    let out: Map<String, Value> = Out::ALL
        .into_iter()
        .map(|out| (out.name().to_owned(), json!(made.out.get(&out).copied().unwrap_or(0))))
        .collect();
    let ledger: Map<String, Value> =
        made.ledger.parts().map(|(ending, n): (Ending, usize)| (ending.name().to_owned(), json!(n))).collect();
    let mut shown = json!({
        "planned": made.planned(), "counted": made.counted, "zeros": made.zeros, "out": out, "ledger": ledger,
        "complete": made.is_complete(),
        "mean": made.estimate.as_ref().map(|estimate| estimate.value),
        "n": made.estimate.as_ref().map_or(0, |estimate| estimate.n),
    });
    if let Some(over) = &made.repeats {
        shown["over_repeats"] = json!({"mean": over.mean, "sd": over.sd, "n": over.n});
    }
    match &made.basis {
        Basis::Units => {}
        Basis::Pooled { of, zeros_without_of } => {
            shown["of"] = json!(of);
            shown["zeros_without_of"] = json!(zeros_without_of);
        }
        Basis::Groups { groups, unlabelled } => {
            let groups = groups.iter().map(|(name, group)| (name.clone(), json!({"mean": group.mean, "n": group.n})));
            shown["groups"] = Value::Object(groups.collect());
            shown["unlabelled"] = json!(unlabelled);
        }
    }
    shown
}

fn clusters(table: &Observations, rows: &Rows, by: &Aggregation) -> Value {
    let scores = table.scores(rows, by);
    let names: Vec<String> = scores.iter().map(|scored| scored.item.cluster()).collect();
    let mut members: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (scored, name) in scores.iter().zip(&names) {
        members.entry(name).or_default().push(&scored.item.id);
    }
    let mut members: Vec<Vec<&str>> = members.into_values().collect();
    members.iter_mut().for_each(|names| names.sort_unstable());
    members.sort();
    let observed: Vec<stats::Observation<'_>> = scores
        .iter()
        .zip(&names)
        .map(|(scored, cluster)| stats::Observation { value: scored.value, cluster })
        .collect();
    let made = clustered_mean(&observed).filter(|made| made.clusters > 1);
    json!({
        "n": members.len(),
        "members": members,
        "clustered_se": made.as_ref().map(|made| made.standard_error),
        "small_sample": made.as_ref().and_then(|made| made.standard_error_small_sample),
    })
}

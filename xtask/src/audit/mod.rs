//! `cargo xtask audit`: which printed figures of the papers follow from the papers' own tables.

mod compute;
mod markdown;
mod numbers;
mod rule;

use crate::process::root;
use anyhow::{Context as _, Result, ensure};
use finding::Finding;
use numbers::leaves;
use rule::Rule;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs;

#[derive(clap::Args)]
pub(crate) struct Args {}

/// One file a paper in xtask/audit: each table once, and the figures that refer to it.
const FILES: [&str; 4] = ["sagascale.toml", "novelqa.toml", "corpusqa.toml", "hamlet.toml"];
/// What begins a reference to a table, `@table.column.row`.
const REFERENCE: char = '@';

#[derive(Deserialize)]
struct File {
    paper: String,
    tables: Value,
    figures: Vec<Figure>,
}

/// A printed figure with what it should follow from.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    /// Unique name.
    id: String,
    /// Its table or section.
    table: String,
    /// What the figure says.
    quantity: String,
    /// How it follows.
    rule: Rule,
    /// The numbers it follows from.
    inputs: Value,
    /// The figure, or several, as printed.
    printed: Value,
    /// How far a recomputed figure may lie from the printed one: what rounding explains.
    #[serde(default)]
    tolerance: f64,
    /// What else is to be known.
    #[serde(default)]
    note: String,
}

/// Writes docs/audit.md.
pub(crate) fn run(_: &Args) -> Result<bool> {
    let path = root().join("docs/audit.md");
    fs::write(&path, markdown::markdown(&findings()?)).with_context(|| path.display().to_string())?;
    println!("{}", path.display());
    Ok(true)
}

/// All figures of all papers, recomputed.
fn findings() -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for name in FILES {
        let text = fs::read_to_string(root().join("xtask/audit").join(name)).context(name)?;
        let file: File = toml::from_str(&text).context(name)?;
        for figure in &file.figures {
            let recomputed = resolved(&figure.inputs, &file.tables)
                .and_then(|inputs| recompute(&figure.rule, &inputs, &figure.printed));
            findings.push(finding(&file.paper, figure, recomputed.with_context(|| format!("{name}: {}", figure.id))?));
        }
    }
    Ok(findings)
}

fn finding(paper: &str, figure: &Figure, recomputed: Value) -> Finding {
    Finding {
        paper: paper.to_owned(),
        table: figure.table.clone(),
        quantity: figure.quantity.clone(),
        rule: figure.rule.to_string(),
        printed: figure.printed.clone(),
        agrees: agree(&recomputed, &figure.printed, figure.tolerance),
        recomputed,
        note: figure.note.clone(),
    }
}

/// As many figures as are printed.
fn recompute(rule: &Rule, inputs: &Value, printed: &Value) -> Result<Value> {
    let recomputed = rule.apply(inputs)?;
    let (expected, found) = (leaves(printed).len(), leaves(&recomputed).len());
    ensure!(expected == found, "the rule gives {found} figures, printed are {expected}");
    Ok(recomputed)
}

/// True if every figure of `a` lies within `tolerance` of the one of `b` in the same place.
///
/// The tolerances are meant to take a difference of just their size, which floating point may overshoot by an ulp.
fn agree(a: &Value, b: &Value, tolerance: f64) -> bool {
    const ROUNDING: f64 = 1e-12;
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| agree(a, b, tolerance)))
        }
        _ => {
            let (a, b) = (leaves(a), leaves(b));
            let close = |(a, b): (&Option<f64>, &Option<f64>)| match (a, b) {
                (Some(a), Some(b)) => (a - b).abs() <= tolerance + ROUNDING * b.abs().max(1.0),
                (None, None) => true,
                _ => false,
            };
            a.len() == b.len() && a.iter().zip(&b).all(close)
        }
    }
}

/// The value with every reference replaced by what it refers to.
fn resolved(value: &Value, tables: &Value) -> Result<Value> {
    Ok(match value {
        Value::String(text) => match text.strip_prefix(REFERENCE) {
            Some(path) => path
                .split('.')
                .try_fold(tables, |at, name| at.get(name))
                .with_context(|| format!("{text} is no table of this file"))?
                .clone(),
            None => value.clone(),
        },
        Value::Array(elements) => elements.iter().map(|element| resolved(element, tables)).collect::<Result<_>>()?,
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| Ok((name.clone(), resolved(value, tables)?));
            Value::Object(fields.iter().map(field).collect::<Result<Map<_, _>>>()?)
        }
        other => other.clone(),
    })
}

mod finding;
#[cfg(test)]
mod tests;

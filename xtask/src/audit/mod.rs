//! `cargo xtask audit`: which printed figures of the papers follow from the papers' own tables.

mod compute;
mod finding;
mod markdown;
mod numbers;
mod rule;

use crate::process::root;
use anyhow::{Context as _, Result, ensure};
use finding::{Audit, Finding, Remark};
use numbers::leaves;
use rule::Rule;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {}

/// Names of the papers, one file each in xtask/audit: each table once, and the figures that refer to it. docs/papers
/// has a page of each.
const PAPERS: [&str; 5] = ["sagascale", "novelqa", "stronger-baselines", "corpusqa", "hamlet"];
/// Sign that begins a reference to a table, `@table.column.row`.
const REFERENCE: char = '@';

#[derive(Deserialize)]
struct File {
    paper: String,
    tables: Value,
    figures: Vec<Figure>,
    /// Remarks on what no rule can say.
    #[serde(default)]
    remarks: Vec<Remark>,
}

/// A printed figure, with the numbers from which it should follow.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    /// Unique name.
    id: String,
    /// Table or section of the figure.
    table: String,
    /// Quantity that the figure states.
    quantity: String,
    /// Rule by which the figure follows.
    rule: Rule,
    /// The numbers it follows from.
    inputs: Value,
    /// The figure, or several, as printed.
    printed: Value,
    /// Tolerance: how far a recomputed figure may lie from the printed one, which rounding explains.
    #[serde(default)]
    tolerance: f64,
    /// An optional note.
    #[serde(default)]
    note: String,
}

/// Writes docs/audit.md, and the section of each page of docs/papers.
pub(crate) fn run(_: &Args) -> Result<bool> {
    for (path, text) in pages()? {
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        println!("{}", path.display());
    }
    Ok(true)
}

/// The written pages, by their paths.
fn pages() -> Result<Vec<(PathBuf, String)>> {
    let mut audits = Vec::new();
    let mut pages = Vec::new();
    for name in PAPERS {
        let audit = audit(name).context(name)?;
        let path = root().join("docs/papers").join(name).with_extension("md");
        let page = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        pages.push((path, markdown::with_section(&page, &audit)));
        audits.push(audit);
    }
    pages.push((root().join("docs/audit.md"), markdown::page(&audits)));
    Ok(pages)
}

/// All figures of a paper, recomputed.
fn audit(name: &str) -> Result<Audit> {
    let text = fs::read_to_string(root().join("xtask/audit").join(name).with_extension("toml"))?;
    let File { paper, tables, figures, remarks } = toml::from_str(&text)?;
    let recomputed = |figure: &Figure| {
        let recomputed =
            resolved(&figure.inputs, &tables).and_then(|inputs| recompute(&figure.rule, &inputs, &figure.printed));
        Ok(finding(figure, recomputed.with_context(|| figure.id.clone())?))
    };
    Ok(Audit { paper, findings: figures.iter().map(recomputed).collect::<Result<_>>()?, remarks })
}

fn finding(figure: &Figure, recomputed: Value) -> Finding {
    Finding {
        table: figure.table.clone(),
        quantity: figure.quantity.clone(),
        rule: figure.rule.to_string(),
        printed: figure.printed.clone(),
        agrees: agree(&recomputed, &figure.printed, figure.tolerance),
        recomputed,
        note: figure.note.clone(),
    }
}

/// Recomputes a figure, as many numbers as are printed.
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

/// A value with every reference replaced by its target.
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

#[cfg(test)]
mod tests;

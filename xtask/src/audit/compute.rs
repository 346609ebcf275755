//! Computes each rule.

use super::numbers::{Numbers, brief, columns, json, json_row, mean, named_rows, one, row};
use super::rule::{Layout, Rule};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde_json::{Map, Value};

impl Rule {
    /// Recomputes a figure by its rule.
    ///
    /// # Errors
    /// If the inputs are not of the rule's shape, or it has no value for them.
    pub(super) fn apply(&self, inputs: &Value) -> Result<Value> {
        match self {
            Self::Identity => match Numbers::of(inputs)? {
                Numbers::One(number) => Ok(json(number)),
                Numbers::Row(row) if row.len() == 1 => Ok(json(row[0])),
                Numbers::Row(row) => Ok(json_row(&row)),
                _ => Err(inputs_error("a number or a row of numbers", inputs)),
            },
            Self::Mean(layout) => folded(inputs, *layout, mean),
            Self::Sum(layout) => folded(inputs, *layout, |values| Ok(values.iter().sum())),
            Self::Median { unit } => Ok(json(median(&all(inputs)?)? / unit)),
            Self::CountWeighted => count_weighted(inputs),
            Self::Difference { reversed } => difference(inputs, *reversed),
            Self::LastMinusOthers => {
                let values = all(inputs)?;
                let (last, others) = values.split_last().ok_or_else(empty)?;
                Ok(json_row(&others.iter().map(|other| last - other).collect::<Vec<_>>()))
            }
            Self::Ratio => match all(inputs)?[..] {
                [a, b] if b != 0.0 => Ok(json(a / b)),
                [_, _] => bail!("division by zero"),
                _ => Err(inputs_error("two numbers", inputs)),
            },
            Self::Products { factors } => products(inputs, factors),
            Self::Extremes { n } => extremes(inputs, *n),
            Self::Gap => folded(inputs, Layout::EachColumn, |column| {
                let highest = column.iter().copied().reduce(f64::max).ok_or_else(empty)?;
                Ok(highest - column.iter().copied().fold(highest, f64::min))
            }),
            Self::RankCorrelation => {
                let (errors, accuracies) = errors_and_accuracies(inputs)?;
                Ok(json(-spearman(&errors, &accuracies).context("a column has no spread")?))
            }
            Self::TheoryCurve => theory_curve(inputs),
            Self::LengthBins { edges } => length_bins(inputs, edges),
            Self::QuestionWeighted { thresholds } => question_weighted(inputs, thresholds),
            Self::Share { total } => {
                let counts = all(inputs)?;
                let total = total.unwrap_or_else(|| counts.iter().sum());
                ensure!(total != 0.0, "the total is zero");
                Ok(json_row(&counts.iter().map(|count| 100.0 * count / total).collect::<Vec<_>>()))
            }
            Self::CeilDivision { size } => each(inputs, |tokens| (tokens / size).ceil()),
            Self::NearestFraction { n } => each(inputs, |percent| {
                let k = (percent / 100.0 * n).round_ties_even();
                (1000.0 * k / n).round_ties_even() / 10.0
            }),
            Self::AllAbove { threshold, except } => all_above(inputs, *threshold, except),
            Self::Leads => {
                let leads = leads(inputs)?;
                let smallest = leads.iter().copied().fold(f64::INFINITY, f64::min);
                Ok(json_row(&[smallest, leads.iter().copied().fold(smallest, f64::max)]))
            }
            Self::LeadsAbove { threshold } => Ok(json(f64::from(leads(inputs)?.iter().all(|lead| lead > threshold)))),
        }
    }
}

fn inputs_error(expected: &str, inputs: &Value) -> anyhow::Error {
    anyhow!("inputs: expected {expected}, found {}", brief(inputs))
}

fn empty() -> anyhow::Error {
    anyhow!("inputs: expected at least one number, found none")
}

fn ragged(expected: usize, found: usize) -> anyhow::Error {
    anyhow!("inputs: expected rows of {expected} numbers, found one of {found}")
}

/// Returns every number of the inputs, whatever their shape.
fn all(inputs: &Value) -> Result<Vec<f64>> {
    Ok(match Numbers::of(inputs)? {
        Numbers::One(number) => vec![number],
        Numbers::Row(row) => row,
        Numbers::Rows(rows) => rows.concat(),
        Numbers::Tables(tables) => tables.concat().concat(),
    })
}

fn folded(inputs: &Value, layout: Layout, fold: impl Fn(&[f64]) -> Result<f64>) -> Result<Value> {
    let each = |rows: &[Vec<f64>]| rows.iter().map(|row| fold(row)).collect::<Result<Vec<f64>, _>>();
    let numbers = Numbers::of(inputs)?;
    let (rows, last) = match (layout, numbers) {
        (Layout::All, _) => return Ok(json(fold(&all(inputs)?)?)),
        (Layout::EachColumn, Numbers::Tables(tables)) => return cells_over_tables(&tables, fold),
        (Layout::EachRow | Layout::EachRowAndAll, Numbers::Rows(rows)) => (rows, layout == Layout::EachRowAndAll),
        (Layout::EachColumn | Layout::EachColumnAndAll, Numbers::Rows(rows)) => {
            (columns(&rows)?, layout == Layout::EachColumnAndAll)
        }
        _ => return Err(inputs_error("a table", inputs)),
    };
    let mut figures = each(&rows)?;
    if last {
        figures.push(fold(&rows.concat())?);
    }
    Ok(json_row(&figures))
}

fn cells_over_tables(tables: &[Vec<Vec<f64>>], fold: impl Fn(&[f64]) -> Result<f64>) -> Result<Value> {
    let height = tables.first().map_or(0, Vec::len);
    if let Some(odd) = tables.iter().find(|table| table.len() != height) {
        return Err(ragged(height, odd.len()));
    }
    let row = |idx: usize| {
        let rows: Vec<Vec<f64>> = tables.iter().map(|table| table[idx].clone()).collect();
        let cells: Result<Vec<f64>> = columns(&rows)?.iter().map(|cell| fold(cell)).collect();
        Ok(json_row(&cells?))
    };
    (0..height).map(row).collect()
}

fn each(inputs: &Value, map: impl Fn(f64) -> f64) -> Result<Value> {
    Ok(json_row(&all(inputs)?.into_iter().map(map).collect::<Vec<_>>()))
}

fn median(values: &[f64]) -> Result<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    match n {
        0 => Err(empty()),
        _ if n % 2 == 1 => Ok(sorted[n / 2]),
        _ => Ok((sorted[n / 2 - 1] + sorted[n / 2]) / 2.0),
    }
}

/// The weighted mean: sum(w x) / sum(w).
fn weighted(values: &[f64], weights: &[f64]) -> Result<f64> {
    if values.len() != weights.len() {
        return Err(ragged(values.len(), weights.len()));
    }
    let total: f64 = weights.iter().sum();
    ensure!(total != 0.0, "the weights add up to zero");
    Ok(values.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f64>() / total)
}

/// A table with empty cells.
fn grid(inputs: &Value, prefix: &str) -> Result<Vec<Vec<Option<f64>>>> {
    let fields = inputs.as_object().into_iter().flatten();
    let found = fields.filter(|(name, _)| name.starts_with(prefix)).find_map(|(_, value)| value.as_array());
    let rows = found.ok_or_else(|| inputs_error(&format!("a table in a field `{prefix}...`"), inputs))?;
    Ok(rows.iter().map(|row| row.as_array().into_iter().flatten().map(Value::as_f64).collect()).collect())
}

fn count_weighted(inputs: &Value) -> Result<Value> {
    let (accuracy, counts) = (grid(inputs, "accuracy")?, grid(inputs, "counts")?);
    let width = accuracy.first().map_or(0, Vec::len);
    if accuracy.len() != counts.len() || accuracy.iter().chain(&counts).any(|row| row.len() != width) {
        return Err(inputs_error("accuracies and counts of one shape", inputs));
    }
    // A cell without an accuracy had no question; its count is left out with it.
    let cell = |r: usize, c: usize| Some((accuracy[r][c]?, counts[r][c]?));
    let over = |cells: Vec<(f64, f64)>| {
        let (values, weights): (Vec<f64>, Vec<f64>) = cells.into_iter().unzip();
        weighted(&values, &weights)
    };
    let row = |r: usize| (0..width).filter_map(|c| cell(r, c)).collect::<Vec<_>>();
    let column = |c: usize| (0..accuracy.len()).filter_map(|r| cell(r, c)).collect::<Vec<_>>();
    let rows: Result<Vec<f64>> = (0..accuracy.len()).map(|r| over(row(r))).collect();
    let columns: Result<Vec<f64>> = (0..width).map(|c| over(column(c))).collect();
    let overall = over((0..accuracy.len()).flat_map(row).collect())?;
    let mut figures = Map::new();
    figures.insert("rows".to_owned(), json_row(&rows?));
    figures.insert("columns".to_owned(), json_row(&columns?));
    figures.insert("overall".to_owned(), json(overall));
    Ok(Value::Object(figures))
}

fn two_rows(inputs: &Value, reversed: bool) -> Result<(Vec<f64>, Vec<f64>)> {
    let Numbers::Rows(mut rows) = Numbers::of(inputs)? else { return Err(inputs_error("two rows", inputs)) };
    match (rows.pop(), rows.pop(), rows.is_empty()) {
        (Some(b), Some(a), true) if a.len() == b.len() => Ok(if reversed { (b, a) } else { (a, b) }),
        (Some(b), Some(a), true) => Err(ragged(a.len(), b.len())),
        _ => Err(inputs_error("two rows", inputs)),
    }
}

fn difference(inputs: &Value, reversed: bool) -> Result<Value> {
    let sign = if reversed { -1.0 } else { 1.0 };
    match Numbers::of(inputs)? {
        Numbers::Row(row) if row.len() == 2 => Ok(json(sign * (row[0] - row[1]))),
        Numbers::Rows(rows) if rows.len() == 2 => {
            let (a, b) = two_rows(inputs, reversed)?;
            Ok(json_row(&a.iter().zip(&b).map(|(a, b)| a - b).collect::<Vec<_>>()))
        }
        Numbers::Rows(rows) if rows.iter().all(|row| row.len() == 2) => {
            Ok(json_row(&rows.iter().map(|row| sign * (row[0] - row[1])).collect::<Vec<_>>()))
        }
        _ => Err(inputs_error("two numbers, two rows or rows of pairs", inputs)),
    }
}

fn products(inputs: &Value, factors: &[Vec<String>]) -> Result<Value> {
    if factors.is_empty() {
        return Ok(json(all(inputs)?.iter().product()));
    }
    let product = |names: &Vec<String>| names.iter().map(|name| one(inputs, name)).product::<Result<f64>>();
    let figures: Result<Vec<f64>> = factors.iter().map(product).collect();
    Ok(json_row(&figures?))
}

fn extremes(inputs: &Value, n: usize) -> Result<Value> {
    let rows = match Numbers::of(inputs)? {
        Numbers::Row(row) => vec![row],
        Numbers::Rows(rows) => rows,
        _ => return Err(inputs_error("rows of numbers", inputs)),
    };
    ensure!((rows.len()..=2 * rows.len()).contains(&n), "as many figures as rows at least, twice as many at most");
    let mut figures = Vec::new();
    for (idx, row) in rows.iter().enumerate() {
        if idx < n - rows.len() {
            figures.push(row.iter().copied().reduce(f64::min).ok_or_else(empty)?);
        }
        figures.push(row.iter().copied().reduce(f64::max).ok_or_else(empty)?);
    }
    Ok(json_row(&figures))
}

/// The row of error rates and the row of accuracies, by their names.
fn errors_and_accuracies(inputs: &Value) -> Result<(Vec<f64>, Vec<f64>)> {
    let rows = named_rows(inputs);
    let errors = rows.iter().find(|(name, _)| name.contains("error"));
    let accuracies = rows.iter().find(|(name, _)| name.contains("acc"));
    match errors.zip(accuracies) {
        Some(((_, errors), (_, accuracies))) if errors.len() == accuracies.len() => {
            Ok((errors.clone(), accuracies.clone()))
        }
        _ => Err(inputs_error("a row of error rates and a row of accuracies of one length", inputs)),
    }
}

/// The accuracy of an agent that at each step answers correctly with probability `a`, wrongly with `e`, and else retrieves again.
fn theory_curve(inputs: &Value) -> Result<Value> {
    let (a, e, retrievals) = (one(inputs, "a")?, one(inputs, "e")?, one(inputs, "max_retrievals")?);
    ensure!((0.0..=1e6).contains(&retrievals), "max_retrievals is no count up to a million");
    ensure!(a + e > 0.0, "a + e is 0: the agent never answers");
    // N retrievals leave N + 1 opportunities to answer.
    let (mut finite, mut still_open) = (0.0, 1.0);
    for _ in 0..=retrievals as usize {
        finite += still_open * a;
        still_open *= 1.0 - a - e;
    }
    Ok(serde_json::json!({"finite": finite, "limit": a / (a + e)}))
}

fn length_bins(inputs: &Value, edges: &[f64]) -> Result<Value> {
    let tokens = row(inputs, "tokens")?;
    let questions = row(inputs, "questions")?;
    if tokens.len() != questions.len() {
        return Err(ragged(tokens.len(), questions.len()));
    }
    let mut books = vec![0.0; edges.len() + 1];
    let mut asked = vec![0.0; edges.len() + 1];
    for (tokens, questions) in tokens.iter().zip(&questions) {
        let bin = edges.iter().filter(|edge| tokens >= edge).count();
        books[bin] += 1.0;
        asked[bin] += questions;
    }
    Ok(Value::Array(vec![json_row(&books), json_row(&asked)]))
}

/// The suffixes X for which there are `tokens_X` and `questions_X`, with both rows.
fn by_suffix(inputs: &Value) -> Vec<(String, Vec<f64>, Vec<f64>)> {
    let rows = named_rows(inputs);
    let suffixes = rows.iter().filter_map(|(name, tokens)| Some((name.strip_prefix("tokens")?, tokens)));
    let with_questions = suffixes.filter_map(|(suffix, tokens)| {
        let questions = rows.iter().find(|(name, _)| name.strip_prefix("questions") == Some(suffix));
        let (_, questions) = questions?;
        Some((suffix.trim_start_matches('_').to_owned(), tokens.clone(), questions.clone()))
    });
    with_questions.collect()
}

fn question_weighted(inputs: &Value, thresholds: &[f64]) -> Result<Value> {
    let rows = by_suffix(inputs);
    if rows.is_empty() || (!thresholds.is_empty() && thresholds.len() != rows.len()) {
        return Err(inputs_error("`tokens_X` and `questions_X` for every figure", inputs));
    }
    let means: Result<Vec<f64>> = rows.iter().map(|(_, tokens, questions)| weighted(tokens, questions)).collect();
    let means = means?;
    if thresholds.is_empty() {
        return Ok(json_row(&means));
    }
    Ok(json_row(&means.iter().zip(thresholds).map(|(mean, least)| f64::from(mean > least)).collect::<Vec<_>>()))
}

fn all_above(inputs: &Value, threshold: f64, except: &[String]) -> Result<Value> {
    let fields = inputs.as_object().into_iter().flatten();
    let named = fields.filter_map(|(_, value)| value.as_object()).flatten();
    let counted: Vec<f64> = named
        .filter(|(name, _)| !except.iter().any(|left_out| left_out == *name))
        .filter_map(|(_, value)| value.as_f64())
        .collect();
    if counted.is_empty() {
        return Err(inputs_error("numbers by name", inputs));
    }
    Ok(json(f64::from(counted.iter().all(|value| *value > threshold))))
}

/// The first row minus each other row, column by column.
fn leads(inputs: &Value) -> Result<Vec<f64>> {
    let Numbers::Rows(rows) = Numbers::of(inputs)? else { return Err(inputs_error("rows", inputs)) };
    let (first, others) = rows.split_first().ok_or_else(empty)?;
    ensure!(!others.is_empty() && !first.is_empty(), "inputs: expected a row and at least one more");
    match others.iter().find(|row| row.len() != first.len()) {
        Some(odd) => Err(ragged(first.len(), odd.len())),
        None => Ok(others.iter().flat_map(|row| first.iter().zip(row).map(|(a, b)| a - b)).collect()),
    }
}

/// Ranks from 1, ties sharing the mean of their places.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count() as f64;
    let ties = |value: f64| values.iter().filter(|other| **other == value).count() as f64;
    values.iter().map(|&value| below(value) + (ties(value) + 1.0) / 2.0).collect()
}

/// Spearman's rho; `None` if all values of a row are equal.
fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    let (x, y) = (ranks(x), ranks(y));
    // The mean rank, ties or not.
    let centre = (x.len() as f64 + 1.0) / 2.0;
    let products = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - centre) * (b - centre)).sum::<f64>();
    let spread = products(&x, &x) * products(&y, &y);
    (spread > 0.0).then(|| products(&x, &y) / spread.sqrt())
}

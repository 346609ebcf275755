//! What each rule computes.

use super::numbers::{Numbers, brief, columns, json, json_row, mean, named_rows, one, row};
use super::rule::{Layout, Rule, RuleError};
use crate::paper::{correlate, sagascale};
use crate::stats::normal_quantile;
use serde_json::{Map, Value};

impl Rule {
    /// Recomputes the figure.
    ///
    /// # Errors
    /// [`RuleError`] if the inputs are not of the rule's shape, or it has no value for them.
    pub fn apply(&self, inputs: &Value) -> Result<Value, RuleError> {
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
            Self::WeightedMean => weighted_mean(inputs),
            Self::CountWeighted => count_weighted(inputs),
            Self::Difference { reversed } => difference(inputs, *reversed),
            Self::LastMinusOthers => {
                let values = all(inputs)?;
                let (last, others) = values.split_last().ok_or(RuleError::Empty)?;
                Ok(json_row(&others.iter().map(|other| last - other).collect::<Vec<_>>()))
            }
            Self::Ratio => match all(inputs)?[..] {
                [a, b] if b != 0.0 => Ok(json(a / b)),
                [_, _] => Err(RuleError::Undefined { why: "division by zero" }),
                _ => Err(inputs_error("two numbers", inputs)),
            },
            Self::Products { factors } => products(inputs, factors),
            Self::Extremes { n } => extremes(inputs, *n),
            Self::Minimum => each_row(inputs, |row| row.iter().copied().reduce(f64::min)),
            Self::Maximum => each_row(inputs, |row| row.iter().copied().reduce(f64::max)),
            Self::Gap => folded(inputs, Layout::EachColumn, |column| {
                let highest = column.iter().copied().reduce(f64::max).ok_or(RuleError::Empty)?;
                Ok(highest - column.iter().copied().fold(highest, f64::min))
            }),
            Self::RankCorrelation => {
                let (errors, accuracies) = errors_and_accuracies(inputs)?;
                let rho = correlate::spearman(&errors, &accuracies);
                Ok(json(-rho.ok_or(RuleError::Undefined { why: "a column has no spread" })?))
            }
            Self::TheoryCurve => theory_curve(inputs),
            Self::LengthBins { edges } => length_bins(inputs, edges),
            Self::QuestionWeighted { thresholds } => question_weighted(inputs, thresholds),
            Self::Share { total } => {
                let counts = all(inputs)?;
                let total = total.unwrap_or_else(|| counts.iter().sum());
                if total == 0.0 {
                    return Err(RuleError::Undefined { why: "the total is zero" });
                }
                Ok(json_row(&counts.iter().map(|count| 100.0 * count / total).collect::<Vec<_>>()))
            }
            Self::CeilDivision { size } => each(inputs, |tokens| libm::ceil(tokens / size)),
            Self::NearestFraction { n } => each(inputs, |percent| {
                let k = libm::rint(percent / 100.0 * n);
                libm::rint(1000.0 * k / n) / 10.0
            }),
            Self::SampleSize => sample_size(inputs),
            Self::LevelTotals => level_totals(inputs),
            Self::ColumnSumsFrom { first } => {
                let Numbers::Rows(rows) = Numbers::of(inputs)? else { return Err(inputs_error("a table", inputs)) };
                let sums: Vec<f64> = columns(&rows)?.iter().skip(*first).map(|column| column.iter().sum()).collect();
                Ok(json_row(&sums))
            }
            Self::CountsAndSums => counts_and_sums(inputs),
            Self::AllAbove { threshold, except } => all_above(inputs, *threshold, except),
            Self::CountAbove { reversed, as_claim } => {
                let (a, b) = two_rows(inputs, *reversed)?;
                let above = a.iter().zip(&b).filter(|(a, b)| a > b).count();
                Ok(json(if *as_claim { f64::from(above == a.len()) } else { above as f64 }))
            }
        }
    }
}

fn inputs_error(expected: &'static str, inputs: &Value) -> RuleError {
    RuleError::Inputs { expected, found: brief(inputs) }
}

/// Every number, whatever the shape.
fn all(inputs: &Value) -> Result<Vec<f64>, RuleError> {
    Ok(match Numbers::of(inputs)? {
        Numbers::One(number) => vec![number],
        Numbers::Row(row) => row,
        Numbers::Rows(rows) => rows.concat(),
        Numbers::Tables(tables) => tables.concat().concat(),
    })
}

fn folded(inputs: &Value, layout: Layout, fold: impl Fn(&[f64]) -> Result<f64, RuleError>) -> Result<Value, RuleError> {
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

fn cells_over_tables(
    tables: &[Vec<Vec<f64>>],
    fold: impl Fn(&[f64]) -> Result<f64, RuleError>,
) -> Result<Value, RuleError> {
    let height = tables.first().map_or(0, Vec::len);
    if let Some(odd) = tables.iter().find(|table| table.len() != height) {
        return Err(RuleError::Ragged { expected: height, found: odd.len() });
    }
    let row = |idx: usize| {
        let rows: Vec<Vec<f64>> = tables.iter().map(|table| table[idx].clone()).collect();
        let cells: Result<Vec<f64>, RuleError> = columns(&rows)?.iter().map(|cell| fold(cell)).collect();
        Ok(json_row(&cells?))
    };
    (0..height).map(row).collect()
}

fn each(inputs: &Value, map: impl Fn(f64) -> f64) -> Result<Value, RuleError> {
    Ok(json_row(&all(inputs)?.into_iter().map(map).collect::<Vec<_>>()))
}

fn each_row(inputs: &Value, fold: impl Fn(&[f64]) -> Option<f64>) -> Result<Value, RuleError> {
    match Numbers::of(inputs)? {
        Numbers::Row(row) => Ok(json(fold(&row).ok_or(RuleError::Empty)?)),
        Numbers::Rows(rows) => {
            let figures: Option<Vec<f64>> = rows.iter().map(|row| fold(row)).collect();
            Ok(json_row(&figures.ok_or(RuleError::Empty)?))
        }
        _ => Err(inputs_error("rows of numbers", inputs)),
    }
}

fn median(values: &[f64]) -> Result<f64, RuleError> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    match n {
        0 => Err(RuleError::Empty),
        _ if n % 2 == 1 => Ok(sorted[n / 2]),
        _ => Ok((sorted[n / 2 - 1] + sorted[n / 2]) / 2.0),
    }
}

/// sum(w x) / sum(w).
pub(super) fn weighted(values: &[f64], weights: &[f64]) -> Result<f64, RuleError> {
    if values.len() != weights.len() {
        return Err(RuleError::Ragged { expected: values.len(), found: weights.len() });
    }
    let total: f64 = weights.iter().sum();
    if total == 0.0 {
        return Err(RuleError::Undefined { why: "the weights add up to zero" });
    }
    Ok(values.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f64>() / total)
}

fn weighted_mean(inputs: &Value) -> Result<Value, RuleError> {
    let counts = |name: &str| ["denominator", "count", "weight", "questions"].iter().any(|word| name.contains(word));
    let rows = named_rows(inputs);
    let weights = rows.iter().find(|(name, _)| counts(name));
    let values = rows.iter().find(|(name, _)| !counts(name));
    match values.zip(weights) {
        Some(((_, values), (_, weights))) => Ok(json(weighted(values, weights)?)),
        None => Err(inputs_error("a row of figures and a row of counts", inputs)),
    }
}

/// A table with empty cells.
fn grid(inputs: &Value, prefix: &str) -> Result<Vec<Vec<Option<f64>>>, RuleError> {
    let fields = inputs.as_object().into_iter().flatten();
    let found = fields.filter(|(name, _)| name.starts_with(prefix)).find_map(|(_, value)| value.as_array());
    let rows = found.ok_or_else(|| RuleError::Field {
        field: prefix.to_owned(),
        expected: "a table",
        found: brief(inputs),
    })?;
    Ok(rows.iter().map(|row| row.as_array().into_iter().flatten().map(Value::as_f64).collect()).collect())
}

fn count_weighted(inputs: &Value) -> Result<Value, RuleError> {
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
    let rows: Result<Vec<f64>, RuleError> = (0..accuracy.len()).map(|r| over(row(r))).collect();
    let columns: Result<Vec<f64>, RuleError> = (0..width).map(|c| over(column(c))).collect();
    let overall = over((0..accuracy.len()).flat_map(row).collect())?;
    let mut figures = Map::new();
    figures.insert("rows".to_owned(), json_row(&rows?));
    figures.insert("columns".to_owned(), json_row(&columns?));
    figures.insert("overall".to_owned(), json(overall));
    Ok(Value::Object(figures))
}

fn two_rows(inputs: &Value, reversed: bool) -> Result<(Vec<f64>, Vec<f64>), RuleError> {
    let Numbers::Rows(mut rows) = Numbers::of(inputs)? else { return Err(inputs_error("two rows", inputs)) };
    match (rows.pop(), rows.pop(), rows.is_empty()) {
        (Some(b), Some(a), true) if a.len() == b.len() => Ok(if reversed { (b, a) } else { (a, b) }),
        (Some(b), Some(a), true) => Err(RuleError::Ragged { expected: a.len(), found: b.len() }),
        _ => Err(inputs_error("two rows", inputs)),
    }
}

fn difference(inputs: &Value, reversed: bool) -> Result<Value, RuleError> {
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

fn products(inputs: &Value, factors: &[Vec<String>]) -> Result<Value, RuleError> {
    if factors.is_empty() {
        return Ok(json(all(inputs)?.iter().product()));
    }
    let product = |names: &Vec<String>| names.iter().map(|name| one(inputs, name)).product::<Result<f64, RuleError>>();
    let figures: Result<Vec<f64>, RuleError> = factors.iter().map(product).collect();
    Ok(json_row(&figures?))
}

fn extremes(inputs: &Value, n: usize) -> Result<Value, RuleError> {
    let rows = match Numbers::of(inputs)? {
        Numbers::Row(row) => vec![row],
        Numbers::Rows(rows) => rows,
        _ => return Err(inputs_error("rows of numbers", inputs)),
    };
    if n < rows.len() || n > 2 * rows.len() {
        return Err(RuleError::Undefined { why: "as many figures as rows at least, twice as many at most" });
    }
    let mut figures = Vec::new();
    for (idx, row) in rows.iter().enumerate() {
        if idx < n - rows.len() {
            figures.push(row.iter().copied().reduce(f64::min).ok_or(RuleError::Empty)?);
        }
        figures.push(row.iter().copied().reduce(f64::max).ok_or(RuleError::Empty)?);
    }
    Ok(json_row(&figures))
}

/// The row of error rates and the row of accuracies, by their names.
pub(super) fn errors_and_accuracies(inputs: &Value) -> Result<(Vec<f64>, Vec<f64>), RuleError> {
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

fn theory_curve(inputs: &Value) -> Result<Value, RuleError> {
    let (a, e) = (one(inputs, "a")?, one(inputs, "e")?);
    let retrievals = one(inputs, "max_retrievals")?;
    if !(0.0..=1e6).contains(&retrievals) {
        return Err(RuleError::Undefined { why: "max_retrievals is no count up to a million" });
    }
    let undefined = RuleError::Undefined { why: "a + e is 0: the agent never answers" };
    let mut figures = Map::new();
    figures.insert("finite".to_owned(), json(sagascale::agentic_accuracy_constant(a, e, retrievals as usize)));
    figures.insert("limit".to_owned(), json(sagascale::agentic_accuracy_limit(a, e).ok_or(undefined)?));
    Ok(Value::Object(figures))
}

pub(super) fn length_bins(inputs: &Value, edges: &[f64]) -> Result<Value, RuleError> {
    let tokens = row(inputs, "tokens")?;
    let questions = row(inputs, "questions")?;
    if tokens.len() != questions.len() {
        return Err(RuleError::Ragged { expected: tokens.len(), found: questions.len() });
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
pub(super) fn by_suffix(inputs: &Value) -> Vec<(String, Vec<f64>, Vec<f64>)> {
    let rows = named_rows(inputs);
    let suffixes = rows.iter().filter_map(|(name, tokens)| Some((name.strip_prefix("tokens")?, tokens)));
    let with_questions = suffixes.filter_map(|(suffix, tokens)| {
        let questions = rows.iter().find(|(name, _)| name.strip_prefix("questions") == Some(suffix));
        let (_, questions) = questions?;
        Some((suffix.trim_start_matches('_').to_owned(), tokens.clone(), questions.clone()))
    });
    with_questions.collect()
}

fn question_weighted(inputs: &Value, thresholds: &[f64]) -> Result<Value, RuleError> {
    let rows = by_suffix(inputs);
    if rows.is_empty() || (!thresholds.is_empty() && thresholds.len() != rows.len()) {
        return Err(inputs_error("`tokens_X` and `questions_X` for every figure", inputs));
    }
    let means: Result<Vec<f64>, RuleError> =
        rows.iter().map(|(_, tokens, questions)| weighted(tokens, questions)).collect();
    let means = means?;
    if thresholds.is_empty() {
        return Ok(json_row(&means));
    }
    Ok(json_row(&means.iter().zip(thresholds).map(|(mean, least)| f64::from(mean > least)).collect::<Vec<_>>()))
}

fn sample_size(inputs: &Value) -> Result<Value, RuleError> {
    let z = one(inputs, "z").or_else(|_| {
        let level = one(inputs, "confidence")?;
        let level = if level > 1.0 { level / 100.0 } else { level };
        Ok(normal_quantile(0.5 + level / 2.0))
    })?;
    let margin = one(inputs, "margin").or_else(|_| one(inputs, "m"))?;
    let margin = if margin >= 1.0 { margin / 100.0 } else { margin };
    if margin <= 0.0 {
        return Err(RuleError::Undefined { why: "the margin is zero" });
    }
    Ok(json(libm::ceil(z * z / (4.0 * margin * margin))))
}

/// Columns of HAMLET's Table 8: tokens, chunks, then root, branch, leaf and all of either perspective.
fn level_totals(inputs: &Value) -> Result<Value, RuleError> {
    const COLUMNS: usize = 10;
    let Numbers::Rows(rows) = Numbers::of(inputs)? else { return Err(inputs_error("a table", inputs)) };
    if let Some(odd) = rows.iter().find(|row| row.len() != COLUMNS) {
        return Err(RuleError::Ragged { expected: COLUMNS, found: odd.len() });
    }
    let totals =
        |first: usize| json_row(&rows.iter().map(|row| row[first..first + 3].iter().sum()).collect::<Vec<_>>());
    Ok(Value::Array(vec![totals(2), totals(6)]))
}

fn counts_and_sums(inputs: &Value) -> Result<Value, RuleError> {
    let rows = named_rows(inputs);
    let of = |prefix: &str, figure: fn(&[f64]) -> f64| {
        let rows = rows.iter().filter(|(name, _)| name.starts_with(prefix));
        rows.map(|(_, row)| figure(row)).collect::<Vec<_>>()
    };
    let mut figures = of("tokens", |row| row.len() as f64);
    figures.extend(of("questions", |row| row.iter().sum()));
    if figures.is_empty() { Err(inputs_error("rows `tokens` and `questions`", inputs)) } else { Ok(json_row(&figures)) }
}

fn all_above(inputs: &Value, threshold: f64, except: &[String]) -> Result<Value, RuleError> {
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

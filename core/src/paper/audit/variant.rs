//! Other readings of a figure, by the names that `paper_tables` files give them.

use super::compute;
use super::numbers::{columns, json, json_row, mean, row};
use super::rule::{Layout, Rule, RuleError};
use crate::paper::correlate;
use serde_json::Value;

/// The reading of that name; `None` if no reading has it.
///
/// # Errors
/// [`RuleError`] if the inputs are not of its shape.
pub fn variant(name: &str, inputs: &Value) -> Option<Result<Value, RuleError>> {
    let number_after = |prefix: &str| name.strip_prefix(prefix).and_then(|rest| rest.trim().parse::<f64>().ok());
    if let Some(k) = number_after("K=") {
        return Some(compute::length_bins(inputs, &[128.0 * k, 256.0 * k, 512.0 * k]));
    }
    if let Some(third) = number_after("third_edge_") {
        return Some(compute::length_bins(inputs, &[128_000.0, 256_000.0, third]));
    }
    for (prefix, cut) in [("ceil_", libm::ceil as fn(f64) -> f64), ("floor_", libm::floor), ("round_", libm::rint)] {
        if let Some(size) = number_after(prefix) {
            return Some(each(inputs, |tokens| cut(tokens / size)));
        }
    }
    if let Some(suffix) = name.strip_prefix("plain_mean_") {
        return by_suffix(inputs, suffix, |tokens, _| mean(tokens));
    }
    if let Some(suffix) = name.strip_prefix("question_weighted_") {
        return by_suffix(inputs, suffix, compute::weighted);
    }
    match name {
        "difference_of_rounded_means" => Some(of_rounded_means(inputs)),
        "from_the_parts" => Some(Rule::Sum(Layout::All).apply(inputs)),
        "weighted_by_instances" => Some(Rule::WeightedMean.apply(inputs)),
        "largest_denominators_that_reproduce_each_percentage" => Some(denominators(inputs)),
        _ => coefficient(name, inputs),
    }
}

fn each(inputs: &Value, map: impl Fn(f64) -> f64) -> Result<Value, RuleError> {
    let tokens = row(inputs, "tokens")?;
    Ok(json_row(&tokens.into_iter().map(map).collect::<Vec<_>>()))
}

fn by_suffix(
    inputs: &Value,
    suffix: &str,
    figure: impl Fn(&[f64], &[f64]) -> Result<f64, RuleError>,
) -> Option<Result<Value, RuleError>> {
    let (_, tokens, questions) = compute::by_suffix(inputs).into_iter().find(|(name, ..)| name == suffix)?;
    Some(figure(&tokens, &questions).map(json))
}

/// To one decimal, as the tables print.
fn rounded(value: f64) -> f64 {
    libm::round(10.0 * value) / 10.0
}

fn of_rounded_means(inputs: &Value) -> Result<Value, RuleError> {
    let means: Vec<f64> = row(inputs, "means")?.into_iter().map(rounded).collect();
    let (last, others) = means.split_last().ok_or(RuleError::Empty)?;
    Ok(json_row(&others.iter().map(|other| last - other).collect::<Vec<_>>()))
}

/// For each percentage the three largest numbers of questions, up to the full one, of which some whole number makes it
/// when printed with two decimals.
fn denominators(inputs: &Value) -> Result<Value, RuleError> {
    const HALF_OF_LAST_DIGIT: f64 = 0.005 + 1e-9;
    let (percentages, full) = (row(inputs, "accuracy")?, row(inputs, "full_denominators")?);
    columns(&[percentages.clone(), full.clone()])?;
    let of = |(&percent, &full): (&f64, &f64)| {
        let makes = |n: &u32| {
            let n = f64::from(*n);
            (100.0 * libm::rint(percent / 100.0 * n) / n - percent).abs() <= HALF_OF_LAST_DIGIT
        };
        let largest = (1..=full.clamp(0.0, 1e6) as u32).rev().filter(makes).take(3);
        largest.map(Value::from).collect::<Value>()
    };
    Ok(percentages.iter().zip(&full).map(of).collect())
}

fn coefficient(name: &str, inputs: &Value) -> Option<Result<Value, RuleError>> {
    type Coefficient = fn(&[f64], &[f64]) -> Option<f64>;
    let of: Coefficient = match name {
        "spearman(error rate, accuracy)" => correlate::spearman,
        "pearson(-error rate, accuracy)" => |e, a| correlate::correlation(&negative(e), a),
        "kendall_tau_b(-error rate, accuracy)" => |e, a| correlate::tau_b(&negative(e), a),
        "ordinal ranks, ties in table order" => {
            |e, a| correlate::correlation(&correlate::ordinal(e), &correlate::ordinal(&negative(a)))
        }
        "min ranks for ties" => {
            |e, a| correlate::correlation(&correlate::minimum(e), &correlate::minimum(&negative(a)))
        }
        _ => return None,
    };
    Some(compute::errors_and_accuracies(inputs).and_then(|(errors, accuracies)| {
        of(&errors, &accuracies).map(json).ok_or(RuleError::Undefined { why: "a column has no spread" })
    }))
}

fn negative(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| -value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn denominators_that_make_a_percentage() {
        let inputs = json!({"accuracy": [74.07, 1.22, 0], "full_denominators": [81, 81, 82]});
        let found = variant("largest_denominators_that_reproduce_each_percentage", &inputs).unwrap().unwrap();
        assert_eq!(found, json!([[81, 54, 27], [], [82, 81, 80]]));
    }

    #[test]
    fn a_reading_without_a_name_here_is_none() {
        assert_eq!(variant("by_the_stars", &json!([1])), None);
        assert_eq!(variant("floor_4000", &json!({"tokens": [8001]})), Some(Ok(json!([2]))));
    }
}

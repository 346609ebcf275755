//! Reads the numbers of a table from JSON, and writes them.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use serde_json::Value;

/// The numbers that a rule works on: one number, a row, a table, a table for each of several models.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Numbers {
    One(f64),
    Row(Vec<f64>),
    Rows(Vec<Vec<f64>>),
    Tables(Vec<Vec<Vec<f64>>>),
}

/// Fields of `inputs` that hold counts or names of rows, and no measurements.
const AUXILIARY: [&str; 4] = ["denominator", "weight", "source", "order"];

impl Numbers {
    /// All that the inputs measure. The fields of an object are the rows of a table, in the order of the file; a single
    /// field stands for itself; names, and fields that only count, are skipped.
    pub(super) fn of(inputs: &Value) -> Result<Self> {
        let Value::Object(fields) = inputs else { return Self::of_list(inputs) };
        let measured: Vec<&Value> = fields
            .iter()
            .filter(|(name, _)| !AUXILIARY.iter().any(|word| name.contains(word)))
            .map(|(_, value)| value)
            .filter(|value| has_numbers(value))
            .collect();
        match measured[..] {
            [] => bail!("inputs: expected numbers, found {}", brief(inputs)),
            [only] => Self::of(only),
            _ => {
                let own: Result<Vec<Self>> = measured.into_iter().map(Self::of).collect();
                Self::stacked(own?)
                    .with_context(|| format!("inputs: fields of one shape expected, found {}", brief(inputs)))
            }
        }
    }

    fn of_list(value: &Value) -> Result<Self> {
        let error = || anyhow!("inputs: expected numbers in lists of one shape, found {}", brief(value));
        if let Some(number) = value.as_f64() {
            return Ok(Self::One(number));
        }
        let elements = value.as_array().ok_or_else(error)?;
        // Cells that a table leaves empty are no numbers.
        let filled = elements.iter().filter(|element| !element.is_null());
        let own: Result<Vec<Self>> = filled.map(Self::of).collect();
        Self::stacked(own?).ok_or_else(error)
    }

    fn stacked(parts: Vec<Self>) -> Option<Self> {
        match parts.first()? {
            Self::One(_) => parts.into_iter().map(Self::one).collect::<Option<_>>().map(Self::Row),
            Self::Row(_) => parts.into_iter().map(Self::row).collect::<Option<_>>().map(Self::Rows),
            Self::Rows(_) => parts.into_iter().map(Self::rows).collect::<Option<_>>().map(Self::Tables),
            Self::Tables(_) => None,
        }
    }

    fn one(self) -> Option<f64> {
        if let Self::One(number) = self { Some(number) } else { None }
    }

    fn row(self) -> Option<Vec<f64>> {
        if let Self::Row(row) = self { Some(row) } else { None }
    }

    fn rows(self) -> Option<Vec<Vec<f64>>> {
        if let Self::Rows(rows) = self { Some(rows) } else { None }
    }
}

/// Rows turned into columns; an error if they differ in length.
pub(super) fn columns(rows: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
    let width = rows.first().map_or(0, Vec::len);
    ensure!(rows.iter().all(|row| row.len() == width), "inputs: expected rows of {width} numbers");
    Ok((0..width).map(|column| rows.iter().map(|row| row[column]).collect()).collect())
}

/// The row of numbers in a field; several rows stand for one, end to end.
pub(super) fn row(inputs: &Value, field: &str) -> Result<Vec<f64>> {
    match inputs.get(field).map(Numbers::of) {
        Some(Ok(Numbers::Row(row))) => Ok(row),
        Some(Ok(Numbers::Rows(rows))) => Ok(rows.concat()),
        _ => bail!("inputs: expected a list of numbers in field `{field}`, found {}", brief(inputs)),
    }
}

/// The number in a field.
pub(super) fn one(inputs: &Value, field: &str) -> Result<f64> {
    let number = inputs.get(field).and_then(Value::as_f64);
    number.with_context(|| format!("inputs: expected a number in field `{field}`, found {}", brief(inputs)))
}

/// The fields that hold rows of numbers, in the order of the file.
pub(super) fn named_rows(inputs: &Value) -> Vec<(&str, Vec<f64>)> {
    let fields = inputs.as_object().into_iter().flatten();
    let row = |value: &Value| if let Ok(Numbers::Row(row)) = Numbers::of(value) { Some(row) } else { None };
    fields.filter_map(|(name, value)| Some((name.as_str(), row(value).filter(|_| value.is_array())?))).collect()
}

pub(super) fn mean(values: &[f64]) -> Result<f64> {
    if values.is_empty() {
        bail!("inputs: expected at least one number, found none");
    }
    Ok(values.iter().sum::<f64>() / values.len() as f64)
}

/// A whole number as such, anything else as a float; what is no number is null.
pub(super) fn json(number: f64) -> Value {
    /// The largest number up to which a float holds every integer.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number as i64 as f64 == number && number.abs() < EXACT {
        Value::from(number as i64)
    } else {
        Value::from(number)
    }
}

pub(super) fn json_row(numbers: &[f64]) -> Value {
    numbers.iter().copied().map(json).collect()
}

/// All numbers in order; `None` in place of anything that is none.
pub(super) fn leaves(value: &Value) -> Vec<Option<f64>> {
    match value {
        Value::Array(elements) => elements.iter().flat_map(leaves).collect(),
        Value::Object(fields) => fields.values().flat_map(leaves).collect(),
        other => vec![other.as_f64()],
    }
}

fn has_numbers(value: &Value) -> bool {
    leaves(value).iter().any(Option::is_some)
}

/// The beginning of a value, for a message.
pub(super) fn brief(value: &Value) -> String {
    const CHARS: usize = 120;
    let text = value.to_string();
    match text.char_indices().nth(CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_rows_in_the_order_of_the_file() {
        let numbers = |inputs: Value| Numbers::of(&inputs).unwrap();
        assert_eq!(numbers(json!({"models": ["a"], "accuracy": [1, 2]})), Numbers::Row(vec![1.0, 2.0]));
        assert_eq!(numbers(json!({"z": [1], "a": [2]})), Numbers::Rows(vec![vec![1.0], vec![2.0]]));
        assert_eq!(numbers(json!({"accuracy": [5], "full_denominators": [83]})), Numbers::Row(vec![5.0]));
        assert_eq!(numbers(json!({"a": 1, "b": 2})), Numbers::Row(vec![1.0, 2.0]));
        assert!(Numbers::of(&json!({"a": 1, "b": [2]})).is_err());
        assert!(Numbers::of(&json!({"models": ["a"]})).is_err());
    }

    #[test]
    fn whole_numbers_are_written_as_such() {
        assert_eq!(json_row(&[3.0, 0.5]).to_string(), "[3,0.5]");
        assert_eq!(json(f64::NAN), Value::Null);
    }
}

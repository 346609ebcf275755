//! Which printed figures of the papers follow from the papers' own tables.

mod compute;
mod markdown;
mod numbers;
mod own;
mod reading;
mod rule;
mod variant;

pub use markdown::markdown;
pub use own::{OwnDataError, own};
pub use reading::UnknownRule;
pub use rule::{Layout, Rule, RuleError};
pub use variant::variant;

use numbers::leaves;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A printed figure with what it should follow from.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Unique name.
    pub id: String,
    /// The paper.
    pub paper: String,
    /// Its table or section.
    pub table: String,
    /// What the figure says.
    pub quantity: String,
    /// How it follows.
    pub by: By,
    /// The numbers it follows from.
    pub inputs: Value,
    /// The figure, or several, as printed.
    pub printed: Value,
    /// How far a recomputed figure may lie from the printed one: what rounding explains.
    pub tolerance: f64,
    /// What else is to be known; may be empty.
    pub note: String,
}

/// How a figure follows from its inputs.
#[derive(Debug, Clone, PartialEq)]
pub enum By {
    /// By this rule.
    Rule(Rule),
    /// By a rule in somebody's words, as in `paper_tables` files.
    Words(String),
}

/// What came of recomputing a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// As [`Figure::id`].
    pub id: String,
    /// As [`Figure::paper`].
    pub paper: String,
    /// As [`Figure::table`].
    pub table: String,
    /// As [`Figure::quantity`].
    pub quantity: String,
    /// The rule in words.
    pub rule: String,
    /// As [`Figure::printed`].
    pub printed: Value,
    /// The figure as recomputed, in the shape of `printed`; `null` if it could not be.
    pub recomputed: Value,
    /// True if every recomputed figure is the printed one within the tolerance; `None` if it could not be recomputed.
    pub agrees: Option<bool>,
    /// As [`Figure::note`].
    pub note: String,
    /// Why it could not be recomputed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Why a figure could not be recomputed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecomputeError {
    /// The words name no rule.
    #[error(transparent)]
    Unknown(#[from] UnknownRule),
    /// The rule gives nothing for these inputs.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The rule gives another number of figures than are printed.
    #[error("the rule gives {found} figures, printed are {expected}")]
    Shape {
        /// Figures printed.
        expected: usize,
        /// Figures recomputed.
        found: usize,
    },
}

/// Recomputes each figure.
pub fn audit(figures: &[Figure]) -> Vec<Finding> {
    figures.iter().map(finding).collect()
}

/// The rule by which the figure follows, and the figure as recomputed.
///
/// # Errors
/// [`RecomputeError`] if the words name no rule, or the rule does not give as many figures as are printed.
pub fn recompute(figure: &Figure) -> Result<(Rule, Value), RecomputeError> {
    let rule = reading::rule(figure)?;
    let recomputed = rule.apply(&figure.inputs)?;
    let (expected, found) = (leaves(&figure.printed).len(), leaves(&recomputed).len());
    if expected != found {
        return Err(RecomputeError::Shape { expected, found });
    }
    Ok((rule, recomputed))
}

/// True if every figure of `a` lies within `tolerance` of the one of `b` in the same place.
///
/// The tolerances are meant to take a difference of just their size, which floating point may overshoot by an ulp.
pub fn agree(a: &Value, b: &Value, tolerance: f64) -> bool {
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

fn finding(figure: &Figure) -> Finding {
    let recomputed = recompute(figure);
    let words = match (&figure.by, &recomputed) {
        (By::Words(words), _) => words.clone(),
        (By::Rule(rule), _) => rule.to_string(),
    };
    let (value, agrees, problem) = match recomputed {
        Ok((_, value)) => {
            let agrees = agree(&value, &figure.printed, figure.tolerance);
            (value, Some(agrees), None)
        }
        Err(error) => (Value::Null, None, Some(error.to_string())),
    };
    Finding {
        id: figure.id.clone(),
        paper: figure.paper.clone(),
        table: figure.table.clone(),
        quantity: figure.quantity.clone(),
        rule: words,
        printed: figure.printed.clone(),
        recomputed: value,
        agrees,
        note: figure.note.clone(),
        problem,
    }
}

/// A file is no `paper_tables` file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is not JSON.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Another schema, or none.
    #[error("expected a field `schema` with \"paper_tables/1\", found {found}")]
    Schema {
        /// What the field says.
        found: String,
    },
    /// A case lacks a field.
    #[error("case {case}: expected {expected} in field `{field}`")]
    Case {
        /// Its id, or its place from 0.
        case: String,
        /// The field.
        field: &'static str,
        /// What belongs there.
        expected: &'static str,
    },
}

/// The figures of a `paper_tables` file.
///
/// # Errors
/// [`FileError`] if it is none; the message names the case and the field.
pub fn figures(json: &str) -> Result<Vec<Figure>, FileError> {
    let file: Value = serde_json::from_str(json)?;
    let schema = &file["schema"];
    if schema.as_str() != Some("paper_tables/1") {
        return Err(FileError::Schema { found: schema.to_string() });
    }
    let cases = file["cases"].as_array();
    let missing = || FileError::Case { case: "-".to_owned(), field: "cases", expected: "a list" };
    cases.ok_or_else(missing)?.iter().enumerate().map(|(place, case)| of_case(case, place)).collect()
}

/// The figure of one case of a `paper_tables` file; `place` stands in for a missing id.
///
/// # Errors
/// [`FileError::Case`] if a field is missing.
pub fn of_case(case: &Value, place: usize) -> Result<Figure, FileError> {
    let id = case["id"].as_str().map_or_else(|| place.to_string(), str::to_owned);
    let error = |field, expected| FileError::Case { case: id.clone(), field, expected };
    let text = |field: &'static str| case[field].as_str().map(str::to_owned).ok_or_else(|| error(field, "text"));
    let value = |field: &'static str| case.get(field).cloned().ok_or_else(|| error(field, "a value"));
    Ok(Figure {
        paper: text("group")?,
        table: text("table")?,
        quantity: text("quantity")?,
        by: By::Words(text("rule")?),
        inputs: value("inputs")?,
        printed: value("paper_value")?,
        tolerance: case["tolerance"].as_f64().ok_or_else(|| error("tolerance", "a number"))?,
        note: case["note"].as_str().unwrap_or_default().to_owned(),
        id,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn agreement_is_within_the_tolerance_and_by_place() {
        assert!(agree(&json!([62.4]), &json!([62.45]), 0.05));
        assert!(!agree(&json!([62.4]), &json!([62.46]), 0.05));
        assert!(agree(&json!({"a": 1, "b": 2}), &json!({"b": 2.0, "a": 1.0}), 0.0));
        assert!(!agree(&json!([1]), &json!([1, 1]), 1.0));
        assert!(!agree(&json!([null]), &json!([0]), 1.0));
    }

    #[test]
    fn a_figure_that_can_not_be_recomputed_says_why() {
        let case = json!({"id": "x", "group": "G", "table": "T", "quantity": "q", "inputs": [1, 2],
            "rule": "by inspection", "paper_value": 3, "tolerance": 0});
        let finding = &audit(&[of_case(&case, 0).unwrap()])[0];
        assert_eq!((finding.agrees, &finding.recomputed), (None, &Value::Null));
        assert!(finding.problem.as_ref().unwrap().contains("by inspection"));
    }

    #[test]
    fn a_file_of_another_kind_is_refused() {
        assert!(matches!(figures("{}"), Err(FileError::Schema { .. })));
        let error = figures(r#"{"schema": "paper_tables/1", "cases": [{"id": "a", "group": "G"}]}"#).unwrap_err();
        assert_eq!(error.to_string(), "case a: expected text in field `table`");
    }
}

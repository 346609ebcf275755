//! Gold answers in the paper's forms (appendix C), out of what a database selects.

use super::database::{Selected, SqlValue};
use serde::{Deserialize, Serialize};

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// Several names.
    List,
    /// A short text.
    String,
    /// A number, two decimals unless it is whole.
    Number,
    /// A share in percent, two decimals and the sign.
    Percentage,
    /// A month, or a year alone where the documents name no month.
    Date,
}

impl AnswerKind {
    /// The label of the item.
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::String => "string",
            Self::Number => "number",
            Self::Percentage => "percentage",
            Self::Date => "date",
        }
    }
}

/// The reason why a selection is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoldError {
    /// Nothing was selected where a value was meant, or nothing but null.
    #[error("it selects nothing")]
    Empty,
    /// Several rows where one was meant.
    #[error("it selects {0} rows where one is meant")]
    Tied(usize),
    /// The selection has another number of rows than was asked for.
    #[error("it selects {found} rows where {wanted} are asked for")]
    Rows {
        /// Number of rows selected.
        found: usize,
        /// Number of rows asked for.
        wanted: usize,
    },
    /// A list that is too long to be an answer.
    #[error("it selects {found} rows, more than the {most} that an answer may list")]
    Long {
        /// Number of names selected.
        found: usize,
        /// Most names that an answer may have.
        most: usize,
    },
    /// The selection does not have one column, but this number.
    #[error("it selects {0} columns: expected one")]
    Columns(usize),
    /// Words for a number, or the other way round.
    #[error("it selects `{found}`: expected a {wanted}")]
    Kind {
        /// Value that was selected.
        found: String,
        /// Value that was asked for.
        wanted: &'static str,
    },
}

impl GoldError {
    /// Returns the reason in a word or two, for the funnel.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Tied(_) | Self::Rows { .. } => "tied",
            Self::Long { .. } => "long",
            Self::Columns(_) | Self::Kind { .. } => "no answer",
        }
    }
}

/// The gold answer that a selection gives: of `wanted` rows, where that many are asked for, and at most `most` in a list.
///
/// An empty list and zero are answers, as in the paper (appendix C); [`is_empty`] tells them.
///
/// # Errors
/// [`GoldError`].
pub fn gold(selected: &Selected, kind: AnswerKind, wanted: Option<usize>, most: usize) -> Result<String, GoldError> {
    if selected.columns.len() != 1 {
        return Err(GoldError::Columns(selected.columns.len()));
    }
    let values: Vec<&SqlValue> = selected.rows.iter().flatten().filter(|value| **value != SqlValue::Null).collect();
    if values.is_empty() && (kind != AnswerKind::List || !selected.rows.is_empty()) {
        return Err(GoldError::Empty);
    }
    let refused = |value: &SqlValue| GoldError::Kind { found: value.to_string(), wanted: kind.name() };
    let words = |value: &SqlValue| match value {
        SqlValue::Text(text) if !text.trim().is_empty() => Ok(text.clone()),
        other => Err(refused(other)),
    };
    if kind == AnswerKind::List {
        let names = values.into_iter().map(words).collect::<Result<Vec<String>, GoldError>>()?;
        return match wanted {
            Some(wanted) if wanted != names.len() => Err(GoldError::Rows { found: names.len(), wanted }),
            _ if names.len() > most => Err(GoldError::Long { found: names.len(), most }),
            _ => Ok(list(&names)),
        };
    }
    let [value] = values[..] else { return Err(GoldError::Tied(values.len())) };
    match kind {
        AnswerKind::List | AnswerKind::String | AnswerKind::Date => words(value),
        AnswerKind::Number | AnswerKind::Percentage => {
            let number = match value {
                SqlValue::Integer(n) => *n as f64,
                SqlValue::Real(n) if n.is_finite() => *n + 0.0,
                other => return Err(refused(other)),
            };
            Ok(if kind == AnswerKind::Percentage { format!("{:.2}%", rounded(number)) } else { decimal(number) })
        }
    }
}

/// True for an empty list and for zero, as a number or a share.
pub(super) fn is_empty(answer: &str) -> bool {
    matches!(answer, "[]" | "0" | "0.00%")
}

/// A whole number without decimals, any other with two.
fn decimal(number: f64) -> String {
    let cents = libm::round(number * 100.0);
    if libm::fabs(number) >= 1e15 || cents == libm::round(number) * 100.0 && libm::fabs(cents - number * 100.0) < 1e-6 {
        format!("{number:.0}")
    } else {
        format!("{:.2}", rounded(number))
    }
}

/// Rounds to two decimals as people do: a half goes away from zero, also one that a binary number holds a little too
/// small, as 1.365. The templates' SQL does the same.
fn rounded(number: f64) -> f64 {
    libm::round(number * (1.0 + 1e-15) * 100.0) / 100.0
}

/// Lists items in double quotes, as in `["NETFLIX INC", "H&R BLOCK INC"]`.
fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| serde_json::json!(name).to_string()).collect();
    format!("[{}]", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::answer::Parsed;
    use closeread_eval::answer::corpusqa::{Reading, Value, value};
    use proptest::prelude::*;

    fn of(values: &[SqlValue], kind: AnswerKind) -> Result<String, GoldError> {
        let rows = values.iter().map(|value| vec![value.clone()]).collect();
        gold(&Selected { columns: vec!["x".to_owned()], rows }, kind, None, 3)
    }

    fn text(text: &str) -> SqlValue {
        SqlValue::Text(text.to_owned())
    }

    #[test]
    fn answers_have_the_papers_forms() {
        use AnswerKind::{Date, List, Number, Percentage, String as Words};
        use SqlValue::{Integer, Null, Real};
        let check = |values: &[SqlValue], kind, expected: &str| assert_eq!(of(values, kind).as_deref(), Ok(expected));
        check(&[text("H&R \"B\""), text("Å")], List, r#"["H&R \"B\"", "Å"]"#);
        check(&[text("Ana Homes")], Words, "Ana Homes");
        check(&[Real(39_376_000.0)], Number, "39376000");
        check(&[Real(12.345_6)], Number, "12.35");
        check(&[Real((2.34 + 0.39) / 2.0)], Number, "1.37");
        check(&[Real(0.125)], Percentage, "0.13%");
        check(&[Real(-0.125)], Number, "-0.13");
        check(&[Integer(3)], Number, "3");
        check(&[Real(-0.5)], Number, "-0.50");
        check(&[Real(45.0)], Percentage, "45.00%");
        check(&[text("1962-07")], Date, "1962-07");
        for (values, kind, empty) in
            [(&[][..], List, "[]"), (&[Integer(0)], Number, "0"), (&[Real(-0.0)], Percentage, "0.00%")]
        {
            check(values, kind, empty);
            assert!(is_empty(empty));
        }
        for (values, kind, reason) in [
            (&[][..], Words, "empty"),
            (&[Null], List, "empty"),
            (&[Null], Number, "empty"),
            (&[text("a"), text("b")], Words, "tied"),
            (&[Integer(3)], Words, "no answer"),
            (&[text("a")], Number, "no answer"),
            (&[text("a"), text("b"), text("c"), text("d")], List, "long"),
            (&[Real(f64::INFINITY)], Number, "no answer"),
        ] {
            assert_eq!(of(values, kind).unwrap_err().reason(), reason, "{values:?} {kind:?}");
        }
    }

    proptest! {
        /// The parser of answers reads every gold answer as what it is.
        #[test]
        fn gold_answers_are_read_as_what_they_are(number in -1e9f64..1e9, names in prop::collection::vec("[A-Z][a-z&\" ,]{0,9}[a-z]", 0..4)) {
            let strict = |kind, values: &[SqlValue]| value(&of(values, kind).unwrap(), Reading::Strict);
            let near = |found: f64| (found - number).abs() <= 0.005 + 1e-6;
            prop_assert!(matches!(strict(AnswerKind::Number, &[SqlValue::Real(number)]), Parsed::Answer(Value::Number(n)) if near(n)));
            prop_assert!(matches!(strict(AnswerKind::Percentage, &[SqlValue::Real(number)]), Parsed::Answer(Value::Percent(n)) if near(n)));
            let values: Vec<SqlValue> = names.iter().map(|name| text(name)).collect();
            prop_assert_eq!(strict(AnswerKind::List, &values), Parsed::Answer(Value::List(names)));
        }
    }
}

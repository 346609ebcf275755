//! Comparisons of results with expected values; errors say in words where they differ.

use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;

/// Reads a case into its type; the error names the field.
pub(crate) fn parse<T: DeserializeOwned>(case: &Value) -> Result<T, String> {
    serde_json::from_value(case.clone()).map_err(|error| format!("case does not follow its schema: {error}"))
}

/// Two sequences, element by element; the error names the first difference.
pub(crate) fn same<T: PartialEq + Debug>(what: &str, got: &[T], expected: &[T]) -> Result<(), String> {
    for (position, (g, e)) in got.iter().zip(expected).enumerate() {
        if g != e {
            return Err(format!("{what} {position}: expected {}, got {}", short(e), short(g)));
        }
    }
    if got.len() == expected.len() {
        return Ok(());
    }
    let (extra, whose) = match got.get(expected.len()) {
        Some(extra) => (extra, "not expected"),
        None => (&expected[got.len()], "missing"),
    };
    Err(format!("expected {} of {what}, got {}; first {whose}: {}", expected.len(), got.len(), short(extra)))
}

/// Two numbers at most `tolerance` apart.
pub(crate) fn close(what: &str, got: f64, expected: f64, tolerance: f64) -> Result<(), String> {
    if (got - expected).abs() <= tolerance {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected}, got {got} (tolerance {tolerance:e})"))
    }
}

/// The offset in Unicode scalar values of the byte offset `byte` of `text`.
pub(crate) fn char_offset(text: &str, byte: usize) -> usize {
    text[..byte].chars().count()
}

fn short(value: &impl Debug) -> String {
    const CHARS: usize = 160;
    let text = format!("{value:?}");
    match text.char_indices().nth(CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(same("id", &[1, 2], &[1, 2]), Ok(()));
        assert_eq!(same("id", &[1, 3], &[1, 2]), Err("id 1: expected 2, got 3".to_owned()));
        assert_eq!(same("id", &[1], &[1, 2]), Err("expected 2 of id, got 1; first missing: 2".to_owned()));
        assert_eq!(same("id", &[1, 9], &[1]), Err("expected 1 of id, got 2; first not expected: 9".to_owned()));
    }

    #[test]
    fn not_a_number_is_close_to_nothing() {
        assert!(close("x", f64::NAN, 0.0, 1.0).is_err());
        assert!(close("x", 1.0 + 1e-10, 1.0, 1e-9).is_ok());
        assert!(close("x", 1.0 + 1e-8, 1.0, 1e-9).is_err());
    }
}

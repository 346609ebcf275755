//! Patterns over replies and predictions.

use regex_lite::Regex;

/// White space beyond ASCII.
const SPACE: &str = r"\s\u{85}\u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}";

/// The pattern of a constant that its tests try. `\s`, always within brackets, is white space of any script here; `\d`, `\w`,
/// `\b` and the case of letters are ASCII's.
///
/// # Panics
/// On what is no pattern.
pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(&text.replace(r"\s", SPACE)).expect("a constant pattern, tried by tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_white_space_is_known() {
        let (space, other) = (pattern(r"^[\s]$"), pattern(r"^[^\s]$"));
        for c in char::MIN..='\u{3100}' {
            let text = c.to_string();
            assert_eq!(
                (space.is_match(&text), other.is_match(&text)),
                (c.is_whitespace(), !c.is_whitespace()),
                "{c:?}"
            );
        }
    }
}

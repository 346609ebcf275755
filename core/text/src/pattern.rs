//! Patterns over responses and predictions.

use regex_lite::Regex;

/// The white space of any script, as it stands within brackets.
const SPACE: &str = r"\s\u{85}\u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}";

/// The pattern of a constant that its tests try. `\s` is white space of any script; `\d`, `\w`, `\b` and the case of
/// letters are ASCII's.
///
/// # Panics
/// On what is no pattern.
pub fn pattern(text: &str) -> Regex {
    let (mut whole, mut in_brackets) = (String::with_capacity(text.len()), false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            in_brackets = c == '[' || in_brackets && c != ']';
            whole.push(c);
            continue;
        }
        match chars.next() {
            Some('s') if in_brackets => whole.push_str(SPACE),
            Some('s') => whole.extend(["[", SPACE, "]"]),
            escaped => whole.extend(std::iter::once(c).chain(escaped)),
        }
    }
    Regex::new(&whole).expect("a constant pattern, tried by tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_of_every_script_is_known_in_brackets_and_outside() {
        let [alone, within, none] = [r"^\s$", r"^[\[\s]$", r"^[^\s]$"].map(pattern);
        for c in char::MIN..='\u{3100}' {
            let text = c.to_string();
            assert_eq!(alone.is_match(&text), c.is_whitespace(), "{c:?}");
            assert_eq!(within.is_match(&text), c.is_whitespace() || c == '[', "{c:?}");
            assert_eq!(none.is_match(&text), !c.is_whitespace(), "{c:?}");
        }
    }

    #[test]
    fn what_is_escaped_is_no_bracket() {
        assert!(pattern(r"^\[\[\s*x\]\\s$").is_match("[[\u{a0} x]\\s"));
    }
}

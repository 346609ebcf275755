//! What Python's strings do where Rust's do otherwise: every reference implementation of a text metric is Python.

use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// `str.isspace` of one character: Unicode white space and the four separators U+001C to U+001F.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

/// `str.split()`.
pub(crate) fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// `str.strip()`.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `str.splitlines()`.
pub(crate) fn splitlines(text: &str) -> impl Iterator<Item = &str> {
    let is_end =
        |c: char| matches!(c, '\n' | '\x0b' | '\x0c' | '\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some((at, end)) = rest.char_indices().find(|(_, c)| is_end(*c)) else {
            return Some(std::mem::take(&mut rest));
        };
        let line = &rest[..at];
        rest = rest[at..].strip_prefix("\r\n").unwrap_or(&rest[at + end.len_utf8()..]);
        Some(line)
    })
}

/// `str.lower()`; it and Rust's agree, the final sigma and İ included, but for letters newer than either's tables.
pub(crate) fn lower(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        Cow::Owned(text.to_lowercase())
    } else if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether the regular expression `\w` of Python matches: letters, numbers, the underscore. Rust's `\w` takes marks,
/// joiners and circled letters as well, so a word boundary lies elsewhere there.
pub(crate) fn is_word(c: char) -> bool {
    static LETTER_OR_NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^[\p{L}\p{N}]").expect("a valid pattern"));
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    LETTER_OR_NUMBER.is_match(c.encode_utf8(&mut [0; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_split_and_zero_width_space_does_not() {
        assert_eq!(split("a\x1cb\u{85}c\u{200b}d").collect::<Vec<_>>(), ["a", "b", "c\u{200b}d"]);
        assert_eq!(strip("\x1f\u{3000} a \x1c"), "a");
    }

    #[test]
    fn lines_end_at_more_than_a_newline_and_an_end_starts_no_line() {
        let lines = |text| splitlines(text).collect::<Vec<_>>();
        assert_eq!(lines("a\r\nb\rc\u{2028}d\n\ne\n"), ["a", "b", "c", "d", "", "e"]);
        assert_eq!(lines(""), [""; 0]);
        assert_eq!(lines("\n"), [""]);
    }

    #[test]
    fn lower_case_knows_the_final_sigma_and_the_dotted_i() {
        assert_eq!(lower("ΟΔΥΣΣΕΥΣ"), "οδυσσευς");
        assert_eq!(lower("İ"), "i\u{307}");
        assert_eq!(lower("ABC"), "abc");
    }

    #[test]
    fn marks_and_circled_letters_are_no_word_characters() {
        assert!(is_word('é') && is_word('²') && is_word('孔') && is_word('_') && is_word('Ⅷ'));
        assert!(!is_word('\u{301}') && !is_word('ⓐ') && !is_word('‿') && !is_word('\u{200d}'));
    }
}

//! Python's string functions, where Rust's do otherwise: every reference implementation of a text metric is Python.

use std::borrow::Cow;
use unicode_general_category::{GeneralCategory, get_general_category};

/// Returns `str.isspace` of one character: Unicode white space and the four separators U+001C to U+001F.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

/// Splits a text as `str.split()` does.
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// Strips a text as `str.strip()` does.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Splits a text into lines as `str.splitlines()` does.
pub fn splitlines(text: &str) -> impl Iterator<Item = &str> {
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

/// Returns `str.lower()`; it and Rust's agree, the final sigma and İ included, but for letters newer than either's
/// tables.
pub fn lower(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        Cow::Owned(text.to_lowercase())
    } else if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns whether the regular expression `\w` of Python matches: letters, numbers, the underscore. Rust's `\w` takes
/// marks, joiners and circled letters as well, so a word boundary lies elsewhere there.
pub fn is_word(c: char) -> bool {
    use GeneralCategory::{LowercaseLetter, ModifierLetter, OtherLetter, TitlecaseLetter, UppercaseLetter};
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    let is_letter = || {
        matches!(
            get_general_category(c),
            UppercaseLetter | LowercaseLetter | TitlecaseLetter | ModifierLetter | OtherLetter
        )
    };
    c.is_numeric() || is_letter()
}

/// Returns whether the regular expression `\d` of Python matches: decimal digits of any script.
pub fn is_digit(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_digit();
    }
    c.is_numeric() && get_general_category(c) == GeneralCategory::DecimalNumber
}

/// `int(text)` of a text that `str.isnumeric` holds for: decimal digits of any script. Nothing where Python raises an error,
/// as it does for `²`, nor for a number beyond what counts here.
pub fn int(text: &str) -> Option<usize> {
    let mut digits = text.chars().map(decimal).peekable();
    digits.peek()?;
    digits.try_fold(0usize, |number, digit| number.checked_mul(10)?.checked_add(digit?))
}

/// The value of a decimal digit. Unicode keeps the ten digits of a script side by side, from zero on.
fn decimal(c: char) -> Option<usize> {
    if c.is_ascii() {
        return c.to_digit(10).map(|digit| digit as usize);
    }
    is_digit(c).then(|| {
        let before = (1..=u32::from(c)).map_while(|n| char::from_u32(u32::from(c) - n));
        before.take_while(|c| is_digit(*c)).count() % 10
    })
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
    fn digits_of_any_script_make_a_number() {
        for (text, number) in [("57", 57), ("٣", 3), ("१०", 10), ("９", 9), ("\u{1d7d8}", 0), ("007", 7)] {
            assert_eq!(int(text), Some(number), "{text}");
        }
        for text in ["", "²", "½", "-1", "1_0", " 1", "Ⅷ", "三", "99999999999999999999999"] {
            assert_eq!(int(text), None, "{text}");
        }
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

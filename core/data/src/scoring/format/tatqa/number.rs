//! Numbers in text as TAT-QA's script finds them, in Python's arithmetic.

use closeread_text::pattern::pattern;
use regex_lite::Regex;
use std::sync::LazyLock;

/// A Python number: whole ones keep being whole, which shows in their text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Whole(i128),
    Real(f64),
}

impl Number {
    pub(super) fn value(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Real(number) => number,
        }
    }

    /// Returns the number as Python's `str(number)` writes it.
    pub(super) fn text(self) -> String {
        match self {
            Self::Whole(number) => number.to_string(),
            Self::Real(number) => float_text(number),
        }
    }

    fn times(self, factor: Self) -> Self {
        match (self, factor) {
            (Self::Whole(a), Self::Whole(b)) => a.checked_mul(b).map_or(Self::Real(a as f64 * b as f64), Self::Whole),
            _ => Self::Real(self.value() * factor.value()),
        }
    }
}

/// True if the first word of a text, without the signs that money is written with, is a number, and a second word is a
/// scale.
pub(super) fn is_number(text: &str) -> bool {
    let cleaned = text.split_whitespace().map(clean).collect::<Vec<_>>().join(" ");
    let mut words = cleaned.split_whitespace();
    let is_first = words.next().and_then(python_float).is_some_and(|number| !number.is_nan());
    is_first && words.next().is_none_or(|second| scale_factor(second) != Number::Whole(1))
}

/// The number that a text states, rounded to four digits: `(12)` is -12, `12%` is 0.12, `1.2 million` 1,200,000.
///
/// Where the script's helper file is not part of the repository at that commit, the one its authors publish with their
/// later work decides (fengbinzhu/TAT-LLM@506932eadbba): the first number of the text counts.
pub(super) fn to_number(text: &str) -> Option<Number> {
    static NEGATIVE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\([\d.\s]+\)"));
    static PERCENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\d.\s]+%"));
    static SCALED: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\d.]+\s?[a-zA-Z]+"));
    let number = first_number(text)?;
    let scale = SCALED.find(text).map_or(Number::Whole(1), |found| scale_factor(found.as_str()));
    let sign = Number::Whole(if NEGATIVE.is_match(text) { -1 } else { 1 });
    let percent = if PERCENT.is_match(text) { Number::Real(0.01) } else { Number::Whole(1) };
    Some(match number.times(scale).times(sign).times(percent) {
        Number::Real(number) => Number::Real(rounded(number, 4)),
        whole => whole,
    })
}

/// Returns the factor that a scale's name stands for; 1 for any other text.
pub(super) fn scale_factor(scale: &str) -> Number {
    let scale = scale.to_lowercase();
    let names = [("hundred", 100), ("thousand", 1_000), ("million", 1_000_000), ("billion", 1_000_000_000)];
    match names.iter().find(|(name, _)| scale.contains(name)) {
        Some((_, factor)) => Number::Whole(*factor),
        None if scale.contains("percent") => Number::Real(0.01),
        None => Number::Whole(1),
    }
}

/// Rounds as Python's `round(number, digits)`: correctly rounded, ties of the exact binary value to even.
pub(super) fn rounded(number: f64, digits: usize) -> f64 {
    format!("{number:.digits$}").parse().unwrap_or(number)
}

fn first_number(text: &str) -> Option<Number> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"([+-]?\d+(?:\.\d+)?)|[+-]?\.\d+"));
    let cleaned = clean(text);
    // A number without digits before its point is found, and then not used.
    let digits = NUMBER.captures(&cleaned)?.get(1)?.as_str();
    if !digits.contains('.')
        && let Ok(whole) = digits.parse()
    {
        return Some(Number::Whole(whole));
    }
    digits.parse().ok().map(Number::Real)
}

fn clean(text: &str) -> String {
    text.chars().filter(|c| !"'\"\\$€£¥%(),[]".contains(*c)).collect()
}

/// Reads a number as Python's `float(text)`: also with underscores between digits; digits of other scripts, which
/// Python takes, are no number here.
fn python_float(text: &str) -> Option<f64> {
    static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^(?i)[+-]?(?:inf|infinity|nan|(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?)$",
        )
    });
    if !PLAIN.is_match(text) {
        return None;
    }
    text.replace('_', "").parse().ok()
}

/// Writes a float as Python's `str(number)`: the shortest digits that give it back, exponents from 1e16 up and below
/// 1e-4.
fn float_text(number: f64) -> String {
    if !number.is_finite() {
        return if number.is_nan() {
            "nan".into()
        } else if number > 0.0 {
            "inf".into()
        } else {
            "-inf".into()
        };
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>().unwrap_or(0) {
        exponent @ (16.. | ..=-5) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ => format!("{number:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        to_number(text).map_or("None".into(), Number::text)
    }

    #[test]
    fn numbers_are_found_as_the_script_finds_them() {
        let cases = [
            ("$1,496.5", "1496.5"),
            ("(134)", "-134"),
            ("12%", "0.12"),
            ("1.5 million", "1500000.0"),
            ("2 thousand", "2000"),
            ("-94", "-94"),
            ("1e-05", "1"),
            (".5", "None"),
            ("none", "None"),
            ("5 percent", "0.05"),
            ("3.0", "3.0"),
            // The pattern for brackets holds no comma and no percent sign.
            ("(1,2%)", "0.12"),
            ("0.00004", "0.0"),
            ("12345678901234567890.5", "1.2345678901234567e+19"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_counts_as_a_number() {
        for text in ["12", "$ 12", "1,2", "12 million", "(3)", "12%", "inf", "1_000", "+.5e3"] {
            assert!(is_number(text), "{text}");
        }
        for text in ["", "nan", "12 apples", "a 12", "1_", "twelve", "-", "12%x"] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn python_writes_and_rounds_so() {
        let texts =
            [(1e16, "1e+16"), (1e15, "1000000000000000.0"), (0.0001, "0.0001"), (0.00001, "1e-05"), (-0.5, "-0.5")];
        for (number, expected) in texts {
            assert_eq!(float_text(number), expected);
        }
        assert_eq!(
            [rounded(2.675, 2), rounded(0.125, 2), rounded(0.375, 2), rounded(-12.6, 2)],
            [2.67, 0.12, 0.38, -12.6]
        );
    }
}

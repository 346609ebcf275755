//! Values of cells of the table, in whatever way they are written.
//!
//! The paper does not say how values are normalised before they are compared (section 3, step 2). Here a cell is read
//! as what its column is: two spellings are one value if they are the same number in the column's unit, the same share,
//! the same month, or the same words.

mod amount;
mod missing;
mod number;

use super::column::{Column, ValueType, as_unit};
use super::unit::Unit;
use amount::{number, shared_words};
use closeread_eval::answer::corpusqa::month_of;
use closeread_text::composed;
pub(super) use missing::is_nothing;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

/// A cell of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CellValue {
    /// A number in the unit of its column; of a share percent points, 12.5 for 12.5%.
    Number {
        /// The number; finite.
        value: f64,
    },
    /// A month, or a year where no month is named.
    Date {
        /// The year of the month or date.
        year: u16,
        /// The month, 1 to 12.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        month: Option<u8>,
    },
    /// Words, their white space as single spaces.
    Text {
        /// The words of the value.
        text: String,
    },
    /// No value: an empty cell, `n/a`, a dash.
    Missing,
}

impl CellValue {
    /// Returns whether two cells have the same value: numbers to two decimals, if that is within a tenth of them, or nine
    /// digits, words apart from case, all else exactly. What is missing is the same as nothing.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number { value: a }, Self::Number { value: b }) => {
                let cents = |value: f64| libm::round(value * 100.0);
                let least = libm::fmin(libm::fabs(*a), libm::fabs(*b));
                let is_near = libm::fabs(a - b) <= 0.1 * libm::fmax(libm::fabs(*a), libm::fabs(*b));
                a == b || cents(*a) == cents(*b) && is_near || libm::fabs(a - b) <= 1e-9 * least
            }
            (Self::Text { text: a }, Self::Text { text: b }) => form(a) == form(b),
            (Self::Missing, _) | (_, Self::Missing) => false,
            (a, b) => a == b,
        }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number { value } => Some(*value),
            _ => None,
        }
    }
}

/// Writes the value as it stands in a CSV file: the shortest decimal, `YYYY-MM`, the words, nothing.
impl fmt::Display for CellValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { value } => write!(f, "{value}"),
            Self::Date { year, month: Some(month) } => write!(f, "{year:04}-{month:02}"),
            Self::Date { year, month: None } => write!(f, "{year:04}"),
            Self::Text { text } => f.write_str(text),
            Self::Missing => Ok(()),
        }
    }
}

/// Words as they are compared: lower case, letters and digits only, so that marks and blanks make no difference.
pub(super) fn folded(text: &str) -> String {
    composed(text).chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Words as they name a thing: [`folded`], but `C` is not `C++`, a rating `AA-` not `AA+`, and marks alone are themselves.
pub(super) fn form(text: &str) -> String {
    let text = composed(text.trim());
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, '+' | '#');
    let mut form: String = text.chars().filter(is_kept).flat_map(char::to_lowercase).collect();
    if text.ends_with('-') {
        form.push('-');
    }
    if form.contains(char::is_alphanumeric) { form } else { text.into_owned() }
}

/// The reason why a text is no value of its column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CellError {
    /// The column holds dates.
    #[error("`{0}` is no date: expected a month such as 2024-03")]
    NoDate(String),
    /// The column holds numbers.
    #[error("`{text}` {why}: expected a number for {column}")]
    NoNumber {
        /// Text of the cell.
        text: String,
        /// Reason why the text is no number.
        why: NoNumber,
        /// The column's name in questions.
        column: String,
    },
}

/// The reason why a text is no number of its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoNumber {
    /// The text has words, or several numbers.
    #[error("is no number")]
    NoNumber,
    /// The text is a bound, such as `over 5`.
    #[error("is a bound, no value")]
    Bound,
    /// `1.83 m` in a column without a unit.
    #[error("may be metres or millions")]
    MetresOrMillions,
    /// A percentage in a column of other numbers.
    #[error("is a share")]
    Share,
    /// An amount of another currency.
    #[error("is in {0}, the column in {1}")]
    Currency(&'static str, &'static str),
    /// A length in a column of masses.
    #[error("is of the kind {0}, the column of the kind {1}")]
    Kind(&'static str, &'static str),
    /// A unit that does not convert, such as tons in a column of kilograms.
    #[error("has a unit that does not convert")]
    Unit,
    /// The number is too large for the column.
    #[error("is too large")]
    TooLarge,
}

impl Column {
    /// The column with the words that most of its numbers have beside them; each number with the unit that is stated apart.
    /// A number that has others beside it is refused then.
    pub fn compared<'c>(self, cells: impl Iterator<Item = (&'c str, &'c str)>) -> Self {
        let words = self.is_number().then(|| shared_words(cells, &self));
        Self { words, ..self }
    }
}

/// Reads a cell of a table. A number without a magnitude is in the column's unit, whatever currency's sign stands
/// before it; one with a magnitude is brought into the column's unit.
///
/// Thousands separators, accounts' parentheses for negative numbers, qualifiers such as `about` and `(2022 est.)`, and
/// footnote marks are left out; number words and Chinese numerals are read.
///
/// # Errors
/// [`CellError`] if the text says something that the column cannot hold: words in a column of numbers, another currency, a
/// bound (`over 5`), a range.
pub fn read_cell(text: &str, column: &Column) -> Result<CellValue, CellError> {
    read(text, None, column)
}

/// Reads a value that was stated in a unit of its own: `1,118` in `EUR thousand`. An empty unit is the column's; a unit
/// without a magnitude means single units.
///
/// # Errors
/// As [`read_cell`].
pub(crate) fn read_stated(value: &str, unit: &str, column: &Column) -> Result<CellValue, CellError> {
    read(value, Some(as_unit(unit)).filter(|unit| !unit.is_empty()), column)
}

fn read(text: &str, stated: Option<&str>, column: &Column) -> Result<CellValue, CellError> {
    let text = plain(text);
    if is_nothing(&text) {
        return Ok(CellValue::Missing);
    }
    match column.value_type {
        ValueType::Name | ValueType::Category => Ok(CellValue::Text { text }),
        ValueType::YearMonth => date(without_remark(&text)).ok_or_else(|| CellError::NoDate(text.clone())),
        _ => number(&text, stated, column),
    }
}

/// White space as single spaces, full-width characters as their narrow forms, without footnote marks.
fn plain(text: &str) -> String {
    static NOTE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\s*(?:\[(?:\d{1,3}|[a-z]|note \d+)\]|[*†‡]+)$").expect("a valid pattern"));
    let narrow = text.chars().map(|c| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{2212}' | '\u{2010}' | '\u{2011}' => '-',
        c if c.is_whitespace() => ' ',
        c => c,
    });
    let narrow: String = narrow.collect();
    let mut text = narrow.split_whitespace().collect::<Vec<_>>().join(" ");
    while let Some(note) = NOTE.find(&text).filter(|note| note.start() > 0) {
        text.truncate(note.start());
    }
    text
}

/// Removes what stands in brackets at the end: `5 July 1962 (from France)`.
fn without_remark(text: &str) -> &str {
    let stripped = text.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')).map(|(before, _)| before.trim());
    match stripped {
        Some(before) if before.chars().any(char::is_numeric) => before,
        _ => text,
    }
}

/// A text whose bracket at the end is left out, or read as the unit that it names: `5 (thousand)`.
fn with_remark(text: &str) -> Cow<'_, str> {
    let bare = without_remark(text);
    let remark = text[bare.len()..].trim().trim_matches(['(', ')']);
    let unit = Unit::read(remark);
    let is_unit = unit.exponent.is_some() || unit.rest.is_empty() && unit != Unit::default();
    match is_unit && remark.chars().count() > 1 && !remark.contains(char::is_numeric) {
        true => Cow::Owned(format!("{bare} {remark}")),
        false => Cow::Borrowed(bare),
    }
}

/// Removes words that only say that a number is rounded.
fn without_hedge(text: &str) -> &str {
    static HEDGE: LazyLock<Regex> = LazyLock::new(|| {
        let words = r"(?:approximately|approx|about|around|roughly|some|circa|estimated|est)\b\.?";
        // `CAD 5` and `CA$5` begin with a currency.
        Regex::new(&format!(r"(?i)^(?:{words}|ca(?:\.|\s)|~|≈|约为|约|大约|約為|約|大約)\s*")).expect("a valid pattern")
    });
    HEDGE.find(text).map_or(text, |found| &text[found.end()..])
}

fn is_bound(words: &str) -> bool {
    const BOUNDS: [&str; 14] = [
        "over", "under", "above", "below", "than", "least", "most", "more", "fewer", "less", "up", "nearly", "almost",
        "+",
    ];
    const BEGINNINGS: [&str; 10] = ["<", ">", "≥", "≤", "以上", "以下", "以内", "多", "余", "餘"];
    words.split_whitespace().any(|word| BOUNDS.contains(&word) || BEGINNINGS.iter().any(|name| word.starts_with(name)))
}

/// The day of the month that a date names beside its month.
pub(super) fn day(text: &str) -> Option<u8> {
    dated(without_remark(&plain(text)))?.1
}

/// A month, or a year alone.
fn date(text: &str) -> Option<CellValue> {
    dated(text).map(|(date, _)| date)
}

/// A month with its day, if that is named, or a year alone.
fn dated(text: &str) -> Option<(CellValue, Option<u8>)> {
    static NUMBERS: LazyLock<Regex> = LazyLock::new(|| {
        // A time may follow, as programs write it.
        let day = r"(?:\s*[-/.月]\s*(?:(\d{1,2})\s*日?(?:[T\s]\d{1,2}:\d{2}[0-9:.+Z\s-]*)?)?)?";
        Regex::new(&format!(r"^(\d{{4}})\s*[-/.年]\s*(\d{{1,2}}){day}$")).expect("a valid pattern")
    });
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?i)^(?:(\d{1,2})(?:st|nd|rd|th)?\s+)?([a-z]{3,9})\.?(?:\s+(\d{1,2})(?:st|nd|rd|th)?)?,?\s+(\d{4})$",
        )
        .expect("a valid pattern")
    });
    static SLASHED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(\d{1,2})[/.](\d{1,2})[/.](\d{4})$").expect("a valid pattern"));
    static YEAR: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)^(?:fy\s?|fiscal year\s|fiscal\s)?(\d{4})\s*(?:年度?)?$").expect("a valid pattern")
    });
    let of = |year: &str, month: u8, day: Option<u8>| {
        let year = year.parse().ok()?;
        (1..=12).contains(&month).then_some((CellValue::Date { year, month: Some(month) }, day))
    };
    let number = |found: Option<regex::Match<'_>>| found?.as_str().parse().ok();
    if let Some(found) = NUMBERS.captures(text) {
        return of(&found[1], found[2].parse().ok()?, number(found.get(3)));
    }
    if let Some(found) = NAMED.captures(text) {
        return of(&found[4], month_of(&found[2])?, number(found.get(1).or(found.get(3))));
    }
    if let Some(found) = SLASHED.captures(text) {
        // Which of the two is the month is known only where the other one cannot be, or where they are equal.
        let (a, b): (u8, u8) = (found[1].parse().ok()?, found[2].parse().ok()?);
        let (month, day) = match (a, b) {
            (a, b) if a == b || b > 12 => (a, b),
            (a, b) if a > 12 => (b, a),
            _ => return None,
        };
        return of(&found[3], month, Some(day));
    }
    let found = YEAR.captures(text)?;
    Some((CellValue::Date { year: found[1].parse().ok()?, month: None }, None))
}

#[cfg(test)]
mod tests;

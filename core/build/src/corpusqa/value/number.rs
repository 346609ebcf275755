//! Numbers in digits, with separators, signs and units, as documents write them.

use crate::corpusqa::unit::Unit;
use closeread_judges::rule::quantity;
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// The unit beside the number and the one stated apart, as one.
pub(super) fn together(cell: Unit, stated: Unit) -> Unit {
    Unit {
        exponent: cell.exponent.or(stated.exponent),
        currency: cell.currency.or(stated.currency),
        measure: cell.measure.or(stated.measure),
        share: cell.share.or(stated.share),
        rest: [cell.rest, stated.rest].join(" ").trim().to_owned(),
    }
}

/// A number in digits, and what stands around it.
pub(super) struct Digits {
    /// The number with a point and a sign, without separators.
    pub(super) decimal: String,
    pub(super) unit: Unit,
    /// Words before the number that are no unit.
    pub(super) before: String,
}

/// The only number of a text; `None` if there are no digits, or several numbers.
pub(super) fn digits(text: &str) -> Option<Digits> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^([^0-9]*?)(\.?[0-9](?:[0-9]|[.,'’ ][0-9])*)([^0-9]*)$").expect("a valid pattern")
    });
    static SQUARE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?i)\b(k?m)2$").expect("a valid pattern"));
    let text = SQUARE.replace(text, "${1}²");
    let found = NUMBER.captures(&text)?;
    let (before, number, after) = (&found[1], &found[2], without_ordinal(&found[3]));
    let decimal = decimal(number)?;
    let (opened, closed) = (before.contains('('), after.trim_start().starts_with(')'));
    // `5/month` is a rate, and `5/` may be half of a fraction.
    let is_rate = after.strip_prefix('/').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    if opened != closed || after.len() > 1 && after.starts_with(['-', '–', '/', '.']) && !is_rate {
        return None;
    }
    let minus = before.contains(['-', '负', '負']);
    let before = before.replace(['-', '负', '負', '+', '('], " ").trim().to_owned();
    let unit = Unit::read(&before);
    let after = Unit::read(after.trim_start().trim_start_matches(')'));
    let sign = if opened != minus { "-" } else { "" };
    // A magnitude or a measure stands behind a number: `B12` and `M 25` are names.
    let is_money = unit.currency.is_some() || unit.exponent.is_none() && unit.measure.is_none();
    let before = if is_money { unit.rest.clone() } else { before };
    Some(Digits { decimal: format!("{sign}{decimal}"), unit: together(after, unit), before })
}

/// What follows `1st` and `2nd`.
fn without_ordinal(after: &str) -> &str {
    let rest = ["st", "nd", "rd", "th"].iter().find_map(|ending| after.strip_prefix(ending));
    rest.filter(|rest| !rest.starts_with(char::is_alphabetic)).unwrap_or(after)
}

/// A number in words or Chinese numerals, as a decimal, with its unit.
pub(super) fn in_words(text: &str) -> Option<(String, Unit)> {
    const MAGNITUDES: [&str; 7] = ["million", "billion", "trillion", "万", "亿", "萬", "億"];
    let found = quantity(text)?;
    let unit = Unit::read(found.unit());
    let share = found.is_percentage().then_some(1.0);
    let lower = text.to_lowercase();
    // `five million` is all of it, whatever the column counts in.
    let is_whole = MAGNITUDES.iter().any(|name| lower.contains(name));
    let exponent = if is_whole { Some(0) } else { unit.exponent };
    Some((found.value.to_string(), Unit { share, exponent, ..unit }))
}

/// True of `0,125`: no thousands begin with a nought, so that the comma is a point.
pub(super) fn has_decimal_comma(text: &str) -> bool {
    static NOUGHT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^|[^0-9.,])0,[0-9]").expect("a valid pattern"));
    NOUGHT.is_match(text)
}

/// True of `5-`, which is a negative number or half of a range, and of a power of ten such as `10⁶`.
pub(super) fn is_unclear(text: &str) -> bool {
    static UNCLEAR: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[0-9] ?[-–]$|(?:^|[^0-9.,])10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]").expect("a valid pattern"));
    UNCLEAR.is_match(text)
}

/// Whether a blank stands before the letter `m` behind a number; `None` without that letter.
pub(super) fn blank_before_m(text: &str) -> Option<bool> {
    static LETTER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)[0-9](\s*)m(?:[^a-z]|$)").expect("a valid pattern"));
    LETTER.captures(text).map(|found| !found[1].is_empty())
}

/// A text with the fraction behind its digits as decimals: `1½` is 1.5. One that has no end, as `⅓`, parts the number in two,
/// which is none.
pub(super) fn with_fractions(text: &str) -> Cow<'_, str> {
    const FRACTIONS: [(char, &str); 7] =
        [('½', ".5"), ('¼', ".25"), ('¾', ".75"), ('⅛', ".125"), ('⅜', ".375"), ('⅝', ".625"), ('⅞', ".875")];
    let Some((before, rest)) = text.split_once(|c: char| matches!(c, '¼'..='¾' | '⅐'..='⅞')) else {
        return Cow::Borrowed(text);
    };
    let found = text[before.len()..].chars().next();
    let decimals = FRACTIONS.iter().find(|(fraction, _)| Some(*fraction) == found).map_or(" 0 0 ", |(_, text)| text);
    let whole = before.trim_end();
    let whole = if whole.ends_with(|c: char| c.is_ascii_digit()) { whole.to_owned() } else { format!("{before}0") };
    Cow::Owned(format!("{whole}{decimals}{rest}"))
}

/// Digits with separators as a decimal with a point: `1,234.5`, `1.234.567`, `1.234,56`, `1 234`, `12,34,567`.
fn decimal(number: &str) -> Option<String> {
    let number = number.replace(['\'', '’'], " ");
    let last = number.rfind(['.', ',']);
    let (n_points, n_commas) = (number.matches('.').count(), number.matches(',').count());
    let n_blanks = number.matches(' ').count();
    let point = match (n_points, n_commas) {
        (1, 0) => last,
        (0, _) => None,
        (_, 0) => None,
        // Both are there: the last one is the point, and stands alone.
        _ => last.filter(|&at| number.matches(&number[at..=at]).count() == 1),
    };
    if n_points > 0 && n_commas > 0 && point.is_none() {
        return None;
    }
    let (whole, fraction) = point.map_or((number.as_str(), ""), |at| (&number[..at], &number[at + 1..]));
    let separators: Vec<char> = whole.chars().filter(|c| !c.is_ascii_digit()).collect();
    if separators.iter().any(|c| *c != separators[0]) || fraction.contains(' ') || n_blanks > separators.len() {
        return None;
    }
    let groups: Vec<&str> = whole.split(|c: char| !c.is_ascii_digit()).collect();
    if let [first, middle @ .., last] = groups.as_slice()
        && groups.len() > 1
    {
        let lakhs = separators[0] == ',' && middle.iter().all(|group| group.len() == 2);
        let threes = middle.iter().all(|group| group.len() == 3);
        if !(1..=3).contains(&first.len()) || last.len() != 3 || !(threes || lakhs) {
            return None;
        }
    }
    let whole = groups.concat();
    let whole = if whole.is_empty() { "0" } else { &whole };
    Some(if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") })
}

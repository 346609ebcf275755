//! Units as people write them behind numbers and over columns: magnitudes, currencies, measures.

mod currencies;
mod magnitudes;
mod measures;

use currencies::CURRENCIES;
use magnitudes::{MAGNITUDES, TRILLION_OF_MONEY, WATTS, before_currency};
pub(super) use measures::POUND;
use measures::{MEASURES, in_one_spelling};
use std::collections::BTreeSet;

/// The unit of a number, as its words say it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Unit {
    /// Power of ten: 6 for `million`; `None` where none is named.
    pub(super) exponent: Option<i32>,
    /// Currency of the unit, as ISO 4217 code, or a name that several have.
    pub(super) currency: Option<&'static str>,
    /// A length, an area or a mass.
    pub(super) measure: Option<Measure>,
    /// A share: percent points a unit, 1 for percent, 0.1 for per mille, 0.01 for basis points.
    pub(super) share: Option<f64>,
    /// Words that are none of these, in lower case; a rate as one word: `/month` of `per month`.
    pub(super) rest: String,
}

/// A physical unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measure {
    /// Kind of what the unit measures: units of different kinds do not convert.
    pub(super) kind: &'static str,
    /// Factor to the kind's base unit (metre, square metre, kilogram).
    pub(super) factor: f64,
}

/// Percent points of a share's unit.
const SHARES: &[(f64, &str)] = &[(1.0, "%|％|percent|per cent|pct|prozent"), (0.1, "‰"), (0.01, "basis point|bps|bp")];

impl Measure {
    /// The measure as a word that no other has.
    pub(super) fn word(self) -> String {
        format!("{}*{}", self.kind, self.factor)
    }
}

impl Unit {
    /// Reads a unit: `USD million`, `in thousands of euros`, `sq km`, `%`, `亿元`, `dwellings`.
    pub(super) fn read(text: &str) -> Self {
        let mut unit = Self::default();
        let lower = text.to_lowercase();
        let mut rest = lower.trim().trim_matches(['(', ')', '（', '）', '.', ',', ':']).trim();
        while !rest.is_empty() {
            rest = unit.one(rest).trim_start();
        }
        unit.rest = unit.rest.trim().to_owned();
        unit.of_money(false)
    }

    /// Takes millimetres for millions where the amount is money.
    pub(super) fn of_money(mut self, is_money: bool) -> Self {
        let is_mm = self.measure.is_some_and(|measure| measure.kind == "length" && measure.factor == 0.001);
        if is_mm && (is_money || self.currency.is_some()) {
            (self.measure, self.exponent) = (None, Some(self.exponent.unwrap_or(0) + 6));
        }
        self
    }

    /// Words that are neither magnitude nor currency nor measure, each in one spelling.
    pub(super) fn others(&self) -> impl Iterator<Item = &str> {
        self.rest.split_whitespace().map(in_one_spelling)
    }

    /// All words but the magnitude, each in one spelling.
    pub(super) fn words(&self) -> BTreeSet<String> {
        let named = self.currency.map(str::to_owned).into_iter().chain(self.measure.map(|measure| measure.word()));
        named.chain(self.others().map(str::to_owned)).collect()
    }

    fn push(&mut self, word: &str) {
        self.rest.push_str(word);
        self.rest.push(' ');
    }

    /// Reads what stands first and gives what follows.
    fn one<'t>(&mut self, text: &'t str) -> &'t str {
        // What stands behind `per` is neither a unit nor a magnitude of the number.
        if let Some(of) = rated(text).filter(|_| !text.starts_with("per cent")) {
            self.push(&rate(of));
            return "";
        }
        if let Some(found) = longest(text, SHARES) {
            self.share = Some(found.of);
            return found.rest;
        }
        // A tenth, as in `3成`.
        if text == "成" {
            self.share = Some(10.0);
            return "";
        }
        if let Some((prefix, power)) = WATTS.iter().find(|(name, _)| text.starts_with(name)) {
            self.exponent = Some(self.exponent.unwrap_or(0) + power);
            return &text[prefix.len() - "瓦".len()..];
        }
        if let Some(power) = before_currency(text) {
            self.exponent = Some(self.exponent.unwrap_or(0) + power);
            return &text[1..];
        }
        let measure = longest(text, MEASURES);
        let is_of_money = |found: &Named<'_, i32>| {
            found.name != TRILLION_OF_MONEY || found.rest.starts_with(['元', '円', '圓', '日', '美', '港', '韓', '韩'])
        };
        let magnitude = longest(text, MAGNITUDES).filter(is_of_money);
        let n_magnitude = magnitude.as_ref().map_or(0, |found| found.name.len());
        let currency = longest(text, CURRENCIES).or_else(|| glued(text));
        if let Some(found) = currency.filter(|found| found.name.len() >= n_magnitude) {
            // 新台币元 is all one currency.
            if found.name != "元" || self.currency.is_none() {
                self.currency = Some(found.of);
            }
            return found.rest;
        }
        // `mm` are millions of money alone, and else millimetres.
        let is_longest = |name: &str| measure.as_ref().is_none_or(|measure| name.len() >= measure.name.len());
        if let Some(found) = magnitude
            && is_longest(found.name)
            && (found.name != "mm" || self.currency.is_some())
        {
            self.exponent = Some(self.exponent.unwrap_or(0) + found.of);
            return found.rest;
        }
        // Behind money, or before nothing else that is measured, `m` is a million; a column in metres names them.
        if let Some(rest) = behind(text, "m").filter(|_| self.currency.is_some()) {
            self.exponent = Some(self.exponent.unwrap_or(0) + 6);
            return rest;
        }
        if let Some(found) = measure.filter(|_| self.measure.is_none()) {
            let (kind, factor) = found.of;
            self.measure = Some(Measure { kind, factor });
            return found.rest;
        }
        if text == "in" {
            self.measure = Some(Measure { kind: "length", factor: 0.0254 });
            return "";
        }
        let end = word_end(text);
        // `square yards` are not yards.
        let end = match &text[..end] {
            "square" | "cubic" | "sq" | "sq." | "cu" | "cu." => end + word_end(&text[end..]),
            _ => end,
        };
        let word = text[..end].trim_matches([',', '.', ';', ':', '(', ')']);
        let is_mark = word.chars().all(|c| "¹²³⁴⁵⁶⁷⁸⁹⁰*†‡".contains(c));
        if !is_mark && !matches!(word, "in" | "of" | "the" | "est" | "estimated" | "approx" | "approximately") {
            self.push(&word.split_whitespace().collect::<Vec<_>>().join("_"));
        }
        &text[end..]
    }
}

/// The end of the first word, before a blank or a slash.
fn word_end(text: &str) -> usize {
    let blanks = text.len() - text.trim_start().len();
    text[blanks..].find(|c: char| c.is_whitespace() || c == '/').map_or(text.len(), |end| blanks + end)
}

/// What a rate is of, as it is written: `month` of `per month` and `/month`.
fn rated(text: &str) -> Option<&str> {
    let of = ["per ", "a ", "an ", "/", "每"].iter().find_map(|name| text.strip_prefix(name))?;
    Some(of.trim())
}

/// A rate as one word, whatever the spelling of what it is of.
fn rate(of: &str) -> String {
    match longest(of, MEASURES).filter(|found| found.rest.is_empty()) {
        Some(Named { of: (kind, factor), .. }) => format!("/{}", Measure { kind, factor }.word()),
        None => format!("/{}", of.split_whitespace().map(in_one_spelling).collect::<Vec<_>>().join("_")),
    }
}

/// Whether an amount of one currency can stand in a column of another: `kr` where it is in SEK.
pub(super) fn may_be(own: &str, held: &str) -> bool {
    const SEVERAL: [(&str, &[&str]); 5] = [
        ("franc", &["CHF", "FRF", "XOF"]),
        ("krone", &["DKK", "ISK", "NOK", "SEK"]),
        ("peso", &["ARS", "CLP", "COP", "MXN", "PHP"]),
        ("pound", &["EGP", "GBP"]),
        ("rupee", &["INR", "LKR", "PKR"]),
    ];
    let is_one = |name: &str, code: &str| SEVERAL.iter().any(|(known, codes)| *known == name && codes.contains(&code));
    own == held || is_one(own, held) || is_one(held, own)
}

/// A name that a text begins with.
struct Named<'t, T> {
    of: T,
    name: &'static str,
    /// What follows the name.
    rest: &'t str,
}

/// The longest name of a table, which parts them by `|`, that the text begins with, as a word of its own.
fn longest<'t, T: Copy>(text: &'t str, table: &[(T, &'static str)]) -> Option<Named<'t, T>> {
    let names = table.iter().flat_map(|(of, names)| names.split('|').map(move |name| (*of, name)));
    let found = names.filter_map(|(of, name)| Some(Named { of, name, rest: behind(text, name)? }));
    found.max_by_key(|found| found.name.len())
}

/// The code of a currency to which a magnitude is glued: `EURm`.
fn glued(text: &str) -> Option<Named<'_, &'static str>> {
    let is_code = |name: &&str| name.len() == 3 && name.bytes().all(|byte| byte.is_ascii_lowercase());
    let codes = CURRENCIES.iter().flat_map(|(of, names)| names.split('|').filter(is_code).map(move |name| (*of, name)));
    let mut found = codes.filter_map(|(of, name)| Some(Named { of, name, rest: text.strip_prefix(name)? }));
    found.find(|found| ["k", "m", "mio", "mn", "mln", "bn"].iter().any(|name| behind(found.rest, name).is_some()))
}

/// Returns what follows `name` or its plural, if the text begins with it and no letter of a longer word follows: Chinese is
/// written without gaps.
fn behind<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(name)?;
    let is_latin = name.chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric());
    let is_end = |rest: &str| {
        let goes_on = |c: char| c.is_alphabetic() && c < '\u{2e80}' || c.is_ascii_digit() || matches!(c, '²' | '³');
        !is_latin || !rest.starts_with(goes_on)
    };
    let plural = rest.strip_prefix('s').filter(|_| is_latin && name.len() > 2);
    Some(rest).filter(|rest| is_end(rest)).or_else(|| plural.filter(|rest| is_end(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_a_magnitude_of_something() {
        let of = |text: &str| {
            let unit = Unit::read(text);
            (unit.exponent, unit.currency, unit.measure.map(|measure| measure.kind), unit.rest)
        };
        let none = String::new;
        assert_eq!(of("USD million"), (Some(6), Some("USD"), None, none()));
        assert_eq!(of("in thousands of euros"), (Some(3), Some("EUR"), None, none()));
        assert_eq!(of("€m"), (Some(6), Some("EUR"), None, none()));
        assert_eq!(of("US$ bn"), (Some(9), Some("USD"), None, none()));
        assert_eq!(of("亿元"), (Some(8), Some("CNY"), None, none()));
        assert_eq!(of("万美元"), (Some(4), Some("USD"), None, none()));
        assert_eq!(of("億円"), (Some(8), Some("JPY"), None, none()));
        assert_eq!(of("新台幣千元"), (Some(3), Some("TWD"), None, none()));
        assert_eq!(of("兆円"), (Some(12), Some("JPY"), None, none()));
        assert_eq!(of("兆瓦"), (Some(6), None, None, "瓦".to_owned()));
        assert_eq!(of("TEUR"), (Some(3), Some("EUR"), None, none()));
        assert_eq!(of("MSEK"), (Some(6), Some("SEK"), None, none()));
        assert_eq!(of("T€"), (Some(3), Some("EUR"), None, none()));
        assert_eq!(of("Mrd. €"), (Some(9), Some("EUR"), None, none()));
        assert_eq!(of("млн"), (Some(6), None, None, none()));
        assert_eq!(of("sq km"), (None, None, Some("area"), none()));
        assert_eq!(of("m"), (None, None, Some("length"), none()));
        assert_eq!(of("million sq km"), (Some(6), None, Some("area"), none()));
        assert_eq!(of("dwellings"), (None, None, None, "dwellings".to_owned()));
        assert_eq!(of("thousand members"), (Some(3), None, None, "members".to_owned()));
        assert_eq!(of("SEKm"), (Some(6), Some("SEK"), None, none()));
        assert_eq!(of("Swiss francs"), (None, Some("CHF"), None, none()));
        assert_eq!(of("mm USD"), (Some(6), Some("USD"), None, none()));
        assert_eq!(of("mm"), (None, None, Some("length"), none()));
        assert_eq!(of("people"), (None, None, None, "people".to_owned()));
        assert_eq!(Unit::read("%").share, Some(1.0));
        assert_eq!(Unit::read("basis points").share, Some(0.01));
    }
}

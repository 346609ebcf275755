//! Numbers of cells in the unit of their column.
//!
//! No list knows all units. So a number counts only if all that stands beside it is understood: nothing, a unit that
//! converts into the column's, words of the column's head, or, where the head names no unit, words that most cells have.

use super::number::{blank_before_m, digits, has_decimal_comma, in_words, is_unclear, together, with_fractions};
use super::{CellError, CellValue, NoNumber, is_bound, is_nothing, plain, with_remark, without_hedge};
use crate::corpusqa::column::{Column, ValueType, as_unit};
use crate::corpusqa::infer::title_and_unit;
use crate::corpusqa::unit::{Measure, POUND, Unit, may_be};
use std::collections::{BTreeMap, BTreeSet};

/// Most words behind a number that still are its unit.
const MOST_WORDS: usize = 4;

/// A number with what stands beside it.
struct Found {
    digits: String,
    own: Unit,
}

pub(super) fn number(text: &str, stated: Option<&str>, column: &Column) -> Result<CellValue, CellError> {
    let head = head(column);
    let held = Unit::read(head);
    let value = found(text, stated, head, &held).and_then(|found| {
        understood(&found.own, &held, column)?;
        converted(&found, stated.is_some(), head, column)
    });
    let refused = |why| CellError::NoNumber { text: text.to_owned(), why, column: column.named() };
    value.map(|value| CellValue::Number { value }).map_err(refused)
}

/// The words that more than half of a column's numbers have beside them, magnitudes left out; each number with the unit that is
/// stated apart.
pub(super) fn shared_words<'c>(cells: impl Iterator<Item = (&'c str, &'c str)>, column: &Column) -> Vec<String> {
    let head = head(column);
    let held = Unit::read(head);
    let of = |(text, stated): (&str, &str)| {
        let text = plain(text);
        let stated = Some(as_unit(stated)).filter(|unit| !unit.is_empty());
        let found = (!is_nothing(&text)).then(|| found(&text, stated, head, &held))?;
        found.ok().map(|found| found.own)
    };
    let units: Vec<Unit> = cells.filter_map(of).collect();
    let codes: BTreeSet<&str> = units.iter().filter_map(|unit| unit.currency).collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for unit in &units {
        for word in unit.words() {
            // Among amounts in GBP pounds are these.
            let is_name = word.starts_with(char::is_lowercase);
            let others: Vec<_> = codes.iter().filter(|code| is_name && **code != word && may_be(&word, code)).collect();
            let word = if let [code] = others[..] { (*code).to_owned() } else { word };
            *counts.entry(word).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, n)| 2 * n > units.len()).map(|(word, _)| word).collect()
}

/// The unit that the head of a column names: its own, or one in its title.
fn head(column: &Column) -> &str {
    match as_unit(&column.unit) {
        "" => as_unit(title_and_unit(&column.title).1),
        unit => unit,
    }
}

fn found(text: &str, stated: Option<&str>, head: &str, held: &Unit) -> Result<Found, NoNumber> {
    let text = with_remark(without_hedge(text));
    let bare = &*with_fractions(&text);
    if has_decimal_comma(bare) || is_unclear(bare) {
        return Err(NoNumber::NoNumber);
    }
    let (digits, cell) = match digits(bare) {
        Some(found) if !is_unit_before(&found.before, held) && !is_bound(&found.before) => {
            return Err(NoNumber::NoNumber);
        }
        Some(found) => (found.decimal, found.unit),
        None => in_words(bare).ok_or(NoNumber::NoNumber)?,
    };
    if is_bound(&cell.rest) {
        return Err(NoNumber::Bound);
    }
    if cell.rest.split_whitespace().count() > MOST_WORDS {
        return Err(NoNumber::NoNumber);
    }
    let own = match stated {
        Some(unit) => together(cell, Unit::read(unit)),
        None => cell,
    };
    let mut own = own.of_money(held.currency.is_some());
    // `1.2m` is 1.2 million where no length is asked for.
    if own.measure.is_some_and(|measure| measure.kind == "length" && measure.factor == 1.0)
        && held.measure.is_none_or(|measure| measure.kind != "length")
    {
        let is_told = own.currency.is_some() || !head.is_empty();
        let is_apart = stated.filter(|unit| unit.trim_end().ends_with(['m', 'M'])).map(|_| true);
        match is_apart.or_else(|| blank_before_m(bare)) {
            Some(true) if !is_told => return Err(NoNumber::MetresOrMillions),
            // `metres` are a length wherever they stand.
            None if own.currency.is_none() => {}
            _ => {
                own.measure = None;
                own.exponent = Some(own.exponent.unwrap_or(0) + 6);
            }
        }
    }
    if let (Some("pound"), None, Some(Measure { kind: "mass", .. })) = (own.currency, own.measure, held.measure) {
        (own.currency, own.measure) = (None, Some(Measure { kind: "mass", factor: POUND }));
    }
    Ok(Found { digits, own })
}

/// True if words before a number are signs of currencies, or the head names them.
fn is_unit_before(words: &str, held: &Unit) -> bool {
    let before = Unit { rest: words.to_owned(), ..Unit::default() };
    let is_sign = |word: &str| word.chars().all(|c| matches!(c, '\u{20a0}'..='\u{20cf}'));
    before.others().all(|word| is_sign(word) || held.others().any(|known| known == word))
}

/// Refuses a unit that is neither the head's nor, where the head names none, that of most cells.
fn understood(own: &Unit, held: &Unit, column: &Column) -> Result<(), NoNumber> {
    let is_share = column.value_type == ValueType::Percentage;
    if own.share.is_some() && !is_share {
        return Err(NoNumber::Share);
    }
    if let (Some(own), Some(held)) = (own.currency, held.currency)
        && !may_be(own, held)
    {
        return Err(NoNumber::Currency(own, held));
    }
    if let (Some(own), Some(held)) = (own.measure, held.measure)
        && own.kind != held.kind
    {
        return Err(NoNumber::Kind(own.kind, held.kind));
    }
    let is_rate = |word: &str| word.starts_with('/');
    let is_amount = held.currency.is_some() || held.measure.is_some() || held.share.is_some() && own.share.is_none();
    let has_words = held.others().any(|word| !is_rate(word));
    let has_rate = held.others().any(is_rate);
    let words = column.words.as_ref();
    let is_shared = |word: &str| words.is_none_or(|words| words.iter().any(|known| may_be(word, known)));
    // A unit such as `min` may be a remark as well.
    let remark = Unit::read(&column.unit);
    let is_known = |word: &str| match held.others().chain(remark.others()).any(|known| known == word) {
        true => true,
        false if is_rate(word) => !has_rate && is_shared(word),
        false => !is_amount && (is_in_title(word, &column.title) || !has_words && is_shared(word)),
    };
    // In `Weight (net)` all may be kg, but one number of a column in tons is not.
    let is_measured = |measure: Measure| !is_amount && is_shared(&measure.word()) && !(has_words && words.is_none());
    let is_all = own.others().all(is_known)
        && (held.currency.is_some() || own.currency.is_none_or(|own| !is_amount && is_shared(own)))
        && (held.measure.is_some() || own.measure.is_none_or(is_measured));
    if is_all { Ok(()) } else { Err(NoNumber::Unit) }
}

fn is_in_title(word: &str, title: &str) -> bool {
    let title = title.to_lowercase();
    if !word.is_ascii() {
        return title.contains(word);
    }
    let words = Unit { rest: title.replace(|c: char| !c.is_alphanumeric(), " "), ..Unit::default() };
    words.others().any(|known| known == word)
}

/// The number in the unit of the column.
fn converted(found: &Found, is_stated: bool, head: &str, column: &Column) -> Result<f64, NoNumber> {
    let Found { digits, own } = found;
    let held = Unit::read(head);
    let is_share = column.value_type == ValueType::Percentage;
    let names_unit = own.currency.is_some() || own.measure.is_some() || !own.rest.is_empty();
    let is_single = is_stated && !is_share && own.exponent.is_none() && names_unit;
    let exponent = match own.exponent {
        None if !is_single => 0,
        exponent => exponent.unwrap_or(0) - held.exponent.unwrap_or(0),
    };
    let factor = match (own.measure, held.measure) {
        (Some(own), Some(held)) => own.factor / held.factor,
        _ => own.share.filter(|_| is_share).map_or(1.0, |own| own / held.share.unwrap_or(1.0)),
    };
    let is_converted = is_single || own.exponent.is_some_and(|_| own.exponent != held.exponent) || factor != 1.0;
    let is_unlike = |word: &String| is_odd(word, own) && !is_in_title(word, &column.title);
    let hides = is_converted && hides_magnitude(head, own)
        || own.exponent.is_some() && column.words.iter().flatten().any(is_unlike);
    if hides && !is_share {
        return Err(NoNumber::Unit);
    }
    // A power of ten moves the point: multiplying would leave digits that nobody wrote.
    let value: f64 = format!("{digits}e{exponent}").parse().map_err(|_| NoNumber::NoNumber)?;
    let value = if factor == 1.0 { value } else { value * factor };
    if value.is_finite() { Ok(value) } else { Err(NoNumber::TooLarge) }
}

/// True if a word of the head that is not understood may be a magnitude: `mille` in `EUR mille` and `1000` in `1000 t`, but not
/// `members`, nor `CO2` in `t CO2`, nor what stands behind a comma; and of degrees, which have none: `280 K` are kelvins.
fn hides_magnitude(head: &str, own: &Unit) -> bool {
    let before = head.split([',', ';', '(', '，', '；', '（']).next().unwrap_or_default().trim().to_lowercase();
    let held = Unit::read(&before);
    let is_unknown = |word: &str| {
        let is_first = held.measure.is_some() && before.starts_with(word);
        held.currency.is_some() || is_first || word.starts_with(|c: char| c.is_ascii_digit() || c == '°')
    };
    held.others().any(|word| is_unknown(word) && is_odd(word, own))
}

/// True of a word that is no currency, no measure and no rate, and that does not stand beside the number.
fn is_odd(word: &str, own: &Unit) -> bool {
    let is_known = word.contains(['/', '*']) || Unit::read(word).currency.is_some();
    !is_known && own.others().all(|known| known != word)
}

#[cfg(test)]
mod tests {
    use super::super::read_cell;
    use super::*;

    /// The numbers of a column's cells, parted by `|`, with `no` for one that is refused.
    fn read(title: &str, unit: &str, cells: &str) -> String {
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        let kind = if unit.starts_with('%') { ValueType::Percentage } else { ValueType::Number };
        let column = Column::new(title, kind, unit).compared(cells.iter().map(|cell| (*cell, "")));
        let number = |cell: &&str| read_cell(cell, &column).map_or_else(|_| "no".to_owned(), |value| value.to_string());
        cells.iter().map(number).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_unit_that_nobody_knows_counts_where_most_cells_have_it() {
        for (unit, cells, outcome) in [
            ("", "5 pula | 7 pula | 9 pula", "5 7 9"),
            ("", "5 pula | 7 Pula | 9", "5 7 9"),
            ("", "5 pula | 7 | 9", "no 7 9"),
            ("", "5 pula | 7 lek | 9 pula", "5 no 9"),
            ("", "5 pula | 7 lek", "no no"),
            ("", "₭5 | ₭7 | 9", "5 7 9"),
            ("", "₭5 | 7 | 9", "no 7 9"),
            ("", "12 dozen | 7 | 9", "no 7 9"),
            ("", "5 Tausend | 7 Tausend | 9 Tausend", "5 7 9"),
            ("", "5 Tausend | 7 Tausend | 2 million", "5 7 no"),
            ("", "5 million pula | 7 pula | 9 k pula", "5000000 7 9000"),
            ("", "5万担 | 6担 | 7万吨", "50000 6 no"),
            ("", "300张 | 200张 | 150间", "300 200 no"),
            ("", "5 EUR net | 6 EUR | 7 EUR net", "5 6 7"),
            ("", "5 EUR net | 6 EUR | 7 EUR gross", "no 6 no"),
            ("", "1st | 2nd | T3 | 4th", "1 2 no 4"),
            ("", "M25 | M1 | M6", "no no no"),
            ("pula", "5 pula | 7 | pula 9", "5 7 9"),
            ("pula", "5 lek | 7 lek | 9 lek", "no no no"),
            ("USD", "5 pula | 7 pula | 9 pula", "no no no"),
            ("USD", "$5 net | $6 net", "no no"),
            ("members", "5 | 7 thousand | 9 thousand members | 5 guests", "5 7000 9000 no"),
        ] {
            assert_eq!(read("Figure", unit, cells), outcome, "{unit}: {cells}");
        }
        assert_eq!(read("Number of beds", "", "5 beds | 6 | 7 | 8 cots"), "5 6 7 no");
        assert_eq!(read("Beds", "", "5 beds | 6 beds | 7 thousand"), "5 6 7000");
        assert_eq!(read("员工人数", "", "300人 | 200 | 100 | 50名"), "300 200 100 no");
    }

    #[test]
    fn known_units_are_compared_over_a_column_without_a_head() {
        for (unit, cells, outcome) in [
            ("", "$5 | €7 | $9", "5 no 9"),
            ("", "£5 | 7 pounds | 9 GBP", "5 7 9"),
            ("", "5亿元 | 6000万元 | 7亿港元", "500000000 60000000 no"),
            ("", "5 kg | 600 g | 7 kg", "5 no 7"),
            ("net", "5 kg | 6 kg | 7", "5 6 7"),
            ("", "$5 per month | $7/mo | 8 dollars monthly | $9", "5 7 8 9"),
            ("", "$5 per month | $7 | $9", "no 7 9"),
            ("USD", "$5 per month | $7 per month | $9 per year", "5 7 no"),
            ("USD", "$5 per tonne | $7 / t | $9 per kg", "5 7 no"),
            ("", "5 per thousand | 7 per thousand | 9 per million", "5 7 no"),
            ("%", "5% | 25 bp | 7 Prozent | 8", "5 0.25 7 8"),
            ("%", "5% per month | 6% p.a. | 7% per year | 8% a year", "no 6 7 8"),
            ("‰", "5‰ | 6 | 7%", "no 6 no"),
            ("°C", "5 | 6 °C | 280 K | 70 °F", "5 6 no no"),
            ("", "5 °C | 6 °C | 280 K", "5 6 no"),
            ("cm", "5 | 10 in | 1 inch", "5 25.4 2.54"),
            ("", "5 in | 6 cm | 7 cm", "no 6 7"),
            ("min", "90 | 95 minutes | 100 | 2 h", "90 95 100 no"),
            ("% of GDP", "5% | 6 | 7% of GDP | 8% of revenue", "5 6 7 no"),
        ] {
            assert_eq!(read("Figure", unit, cells), outcome, "{unit}: {cells}");
        }
    }

    #[test]
    fn nothing_is_converted_into_a_head_that_may_hide_a_magnitude() {
        for (unit, cells, outcome) in [
            ("Tausend EUR", "5 | 7 Mio. EUR | €9", "5 no 9"),
            ("EUR mille", "5 | 7 EUR mille | 9 million", "5 7 no"),
            ("1000 t", "5 | 7 million t | 3 kg", "5 no no"),
            ("2015 prices", "5 | 7 bn", "5 no"),
            ("t CO2", "5 | 7 million t | 3 kg", "5 7000000 0.003"),
            ("USD m, restated", "5 | 7 bn", "5 7000"),
            ("USD per capita", "5 | 7 thousand", "5 7000"),
        ] {
            assert_eq!(read("Figure", unit, cells), outcome, "{unit}: {cells}");
        }
        assert_eq!(read("Revenue in millions", "2023", "5 | 7 bn"), "5 7000", "the title has the unit");
    }

    #[test]
    fn marks_hedges_and_remarks_are_no_units() {
        let cells = "$5 | approx. 6 | ~7 | $(8) | 9* | 14¹ | 11 [2] | 12 (unaudited) | 13 est. | n/a";
        assert_eq!(read("Revenue", "USD m", cells), "5 6 7 -8 9 14 11 12 13 ");
        assert_eq!(read("Revenue", "USD m", "≥5 | 5-7 | 5 to 7 | over 7 | 7,5"), "no no no no no");
        assert_eq!(read("Revenue", "USD m", "5 (thousand) | 6 (b) | 7 (EUR) | 8 ($)"), "0.005 6 no 8");
        assert_eq!(read("Area", "sq m", "5 square yards | 6 square metres | 7 yards"), "no 6 no");
    }
}

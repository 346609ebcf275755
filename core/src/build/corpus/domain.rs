//! What a language's file supplies: a kind of institution and the words to write about it.

use super::question::Query;
use super::rng::Rng;
use super::table::{Column, Field, Figures, Value};

/// One kind of institution, in one language.
pub(super) struct Domain {
    /// Name of the domain, the prefix of its items' ids and a label in reports.
    pub(super) name: &'static str,
    /// ISO 639-1 code.
    pub(super) language: &'static str,
    /// The columns in the order of [`Field`].
    pub(super) columns: [Column; 13],
    /// Invented regions.
    pub(super) regions: &'static [&'static str],
    /// Values of [`Field::Sort`].
    pub(super) sorts: &'static [&'static str],
    /// Patterns of a full name around `{n}`.
    pub(super) full_names: &'static [&'static str],
    /// Invents a place of some syllables more than usual.
    pub(super) place_name: fn(&mut Rng, usize) -> String,
    /// Names a part of an institution: an estate, a ward.
    pub(super) unit_name: fn(&mut Rng) -> String,
    /// Names a person.
    pub(super) person: fn(&mut Rng) -> String,
    /// Draws plausible figures.
    pub(super) draw: fn(&mut Rng) -> Figures,
    /// Writes a value into a sentence.
    pub(super) prose: fn(&Value, Scale) -> String,
    /// Writes a value into a table: the number and its unit, which is empty for a count of things.
    pub(super) cell: fn(&Value, Scale) -> (String, &'static str),
    /// Writes a question.
    pub(super) ask: fn(&Query) -> String,
    /// Bytes of Markdown a token takes, in tenths; measured with cl100k on reports of this domain.
    pub(super) tenths_of_bytes_per_token: usize,
    /// Currency units in a unit of the last column of the table of parts.
    pub(super) part_spending_unit: u64,
    /// The words of the reports.
    pub(super) wording: Wording,
}

impl Domain {
    /// What a column is called in reports and questions.
    pub(super) fn title(&self, field: Field) -> &'static str {
        self.columns[field as usize].title
    }
}

/// In which unit a value is written down. A value that the unit would round is written whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// As in the table: things, currency units, per cent.
    Whole,
    /// Thousands (in Chinese ten thousands) of the unit; of a share, per mille.
    Thousands,
    /// Millions (in Chinese hundred millions) of the unit; of a share, per mille.
    Millions,
}

/// Patterns, several for each purpose.
///
/// `{n}` is the institution's short name, `{v}` the value meant, `{p}` that of the year before, `{o}` another value that
/// distracts, `{w}` a value that is superseded, `{l}` the title of a column, `{d}` a month, `{y}` a year, `{u}` a part
/// of the institution, `{t}` a person, `{k}` a small count, `{e}` some money, `{s}` a little money.
pub(super) struct Wording {
    pub(super) titles: &'static [&'static str],
    pub(super) openings: &'static [&'static str],
    pub(super) profile_headings: &'static [&'static str],
    pub(super) work_headings: &'static [&'static str],
    pub(super) money_headings: &'static [&'static str],
    pub(super) unit_headings: &'static [&'static str],
    pub(super) diary_headings: &'static [&'static str],
    pub(super) archive_headings: &'static [&'static str],
    pub(super) outlook_headings: &'static [&'static str],
    pub(super) note_headings: &'static [&'static str],
    pub(super) region: &'static [&'static str],
    pub(super) sort: &'static [&'static str],
    pub(super) founded: &'static [&'static str],
    pub(super) inspected: &'static [&'static str],
    /// One list for each of [`Field::FIGURES`].
    pub(super) figures: [&'static [&'static str]; 8],
    pub(super) work_remarks: &'static [&'static str],
    pub(super) money_remarks: &'static [&'static str],
    pub(super) table_intros: &'static [&'static str],
    pub(super) unit_intros: &'static [&'static str],
    pub(super) archive_intros: &'static [&'static str],
    /// Headers of the first two columns of a table of figures: indicator and unit.
    pub(super) indicator_headers: [&'static str; 2],
    /// Headers of the table of parts: part, year, places, spending.
    pub(super) unit_headers: [&'static str; 4],
    /// Header of the years' column of the archive table.
    pub(super) year_header: &'static str,
    /// Headers of the profile table: fact and entry.
    pub(super) profile_headers: [&'static str; 2],
    /// Other lines of the money table with their part of the income in thousandths.
    pub(super) side_costs: &'static [(&'static str, u64)],
    pub(super) anecdotes: &'static [&'static str],
    pub(super) outlooks: &'static [&'static str],
    /// A later correction of a figure given elsewhere in the report.
    pub(super) errata: &'static [&'static str],
    /// An earlier figure that the report itself replaces.
    pub(super) provisional: &'static [&'static str],
    /// A correction of an earlier year's figure, which leaves this year's alone.
    pub(super) restated: &'static [&'static str],
    /// Between two sentences: a space, or nothing.
    pub(super) gap: &'static str,
}

/// `digits` with a comma after each group of three.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (idx, digit) in digits.char_indices() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `number / 10^places` as the shortest exact decimal.
pub(super) fn decimal(number: u64, places: u32) -> String {
    let unit = 10u64.pow(places);
    let fraction = format!("{:0width$}", number % unit, width = places as usize);
    let fraction = fraction.trim_end_matches('0');
    let whole = grouped(number / unit);
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_short() {
        assert_eq!(decimal(4_318_000, 6), "4.318");
        assert_eq!(decimal(725, 2), "7.25");
        assert_eq!(decimal(1_200_500, 2), "12,005");
        assert_eq!(decimal(5, 3), "0.005");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}

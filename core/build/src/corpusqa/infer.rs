//! The columns of a table that comes without a schema, from its cells.

use super::column::{Column, Entity, Schema, ValueType, as_unit};
use super::unit::Unit;
use super::value::{CellError, CellValue, NoNumber, is_nothing, read_cell};
use std::collections::BTreeSet;

/// Most different words of a category: a column with more is not asked about as one.
const MOST_CATEGORIES: usize = 24;

/// The columns of a table as it is, by its header and all its cells (`rows` of texts): the first column is the name; a column
/// is what all of its cells that say something can be read as. A unit stands in the header, in brackets.
pub fn inferred(header: &[String], rows: &[Vec<String>]) -> Schema {
    let mut columns: Vec<Column> = Vec::new();
    for (at, head) in header.iter().enumerate() {
        let cells: Vec<&str> = rows.iter().filter_map(|row| row.get(at)).map(String::as_str).collect();
        let (title, unit) = title_and_unit(head);
        let value_type = if at == 0 { ValueType::Name } else { type_of(title, &cells, unit) };
        let is_share = value_type == ValueType::Percentage;
        let unit = unit_of_shares(unit).filter(|_| is_share).unwrap_or(unit);
        let mut column = Column::new(title, value_type, unit).compared(alone(&cells));
        let taken = |key: &str| columns.iter().any(|other: &Column| other.key == key);
        if taken(&column.key) {
            let n = (2..).find(|n| !taken(&format!("{}_{n}", column.key))).unwrap_or(2);
            column.key = format!("{}_{n}", column.key);
        }
        columns.push(column);
    }
    Schema { entity: Entity::default(), columns }
}

/// The unit of a column of shares under that head: percent, `% of GDP` as it is; `None` if the head names another unit.
fn unit_of_shares(unit: &str) -> Option<&str> {
    let held = Unit::read(as_unit(unit));
    let is_other = held.currency.is_some() || held.measure.is_some() || held.share.is_some_and(|share| share != 1.0);
    let names_base = held.share.is_some() && !held.rest.is_empty();
    (!is_other).then_some(if names_base { unit } else { "%" })
}

/// Cells without units that are stated apart.
fn alone<'c>(cells: &[&'c str]) -> impl Iterator<Item = (&'c str, &'c str)> {
    cells.iter().map(|cell| (*cell, ""))
}

/// Splits a head into title and unit: `Revenue (USD million)` is the title `Revenue` in the unit `USD million`.
pub(super) fn title_and_unit(head: &str) -> (&str, &str) {
    let head = head.trim();
    for (open, close) in [('(', ')'), ('（', '）'), ('[', ']')] {
        let Some((title, rest)) = head.rsplit_once(open) else { continue };
        if let Some(unit) = rest.strip_suffix(close).filter(|_| !title.trim().is_empty()) {
            return (title.trim(), unit.trim());
        }
    }
    // In Chinese also `营收/万元`.
    let behind_slash = head.rsplit_once(['/', '／']).filter(|(title, rest)| {
        let unit = Unit::read(rest);
        title.contains(|c| matches!(c, '\u{4e00}'..='\u{9fff}')) && (unit.currency.is_some() || unit.exponent.is_some())
    });
    // `Area in km2`, but not `Born in London`.
    let behind_in = head.rsplit_once(" in ").or_else(|| head.rsplit_once(", ")).filter(|(title, rest)| {
        let unit = Unit::read(rest);
        let tells =
            unit.currency.is_some() || unit.exponent.is_some() || unit.measure.is_some() || unit.share.is_some();
        tells && unit.rest.is_empty() && !title.trim().is_empty()
    });
    behind_slash.or(behind_in).map_or((head, ""), |(title, unit)| (title.trim(), unit.trim()))
}

fn type_of(title: &str, cells: &[&str], unit: &str) -> ValueType {
    let unit = as_unit(unit);
    let reads_as = |value_type, unit| {
        let column = Column::new(title, value_type, unit).compared(alone(cells));
        let values: Vec<CellValue> = match cells.iter().map(|cell| read_cell(cell, &column)).collect() {
            Ok(values) => values,
            Err(_) => return None,
        };
        values.iter().any(|value| !matches!(value, CellValue::Missing)).then_some(values)
    };
    let number = Column::new(title, ValueType::Number, unit);
    let is_share =
        |cell: &&str| matches!(read_cell(cell, &number), Err(CellError::NoNumber { why: NoNumber::Share, .. }));
    if let Some(unit) = unit_of_shares(unit).filter(|_| unit == "%" || cells.iter().any(is_share))
        && reads_as(ValueType::Percentage, unit).is_some()
    {
        return ValueType::Percentage;
    }
    if unit.is_empty() && names_years(title) != Some(false) && are_years(cells.iter().copied()) {
        return ValueType::YearMonth;
    }
    let held = Unit::read(unit);
    if let Some(values) = reads_as(ValueType::Number, unit) {
        let whole = values.iter().all(|value| match value {
            CellValue::Number { value } => libm::trunc(*value) == *value,
            _ => true,
        });
        return match (held.currency.is_some() || cells.iter().any(|cell| is_money(cell)), whole) {
            (true, _) => ValueType::Money,
            (false, true) => ValueType::Count,
            (false, false) => ValueType::Number,
        };
    }
    match reads_as(ValueType::YearMonth, unit) {
        Some(_) => ValueType::YearMonth,
        None => ValueType::Category,
    }
}

/// True if each cell that says something could be a year.
fn are_years<'c>(cells: impl Iterator<Item = &'c str>) -> bool {
    let is_year = |cell: &str| {
        let year = cell.strip_suffix('年').unwrap_or(cell);
        year.len() == 4 && year.parse().is_ok_and(|year: u16| (1500..=2100).contains(&year))
    };
    let mut said = cells.map(str::trim).filter(|cell| !is_nothing(cell)).peekable();
    said.peek().is_some() && said.all(is_year)
}

/// Whether a title is of years (`Since`) or of a count (`Number of beds`), by its first word that tells; `None` without one.
fn names_years(title: &str) -> Option<bool> {
    const YEARS: &str = "year years date since founded founding established built opened completed published released \
                         started born died birth season";
    const COUNTS: &str = "number no count total quantity population people inhabitants households employees staff \
                          members students visitors beds seats";
    let is_of = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
    let title = title.to_lowercase();
    let words = || title.split(|c: char| !c.is_alphanumeric());
    // Whatever is counted in `Members since` and 数据年份, these are years.
    if words().any(|word| word == "since") || title.contains("年份") {
        return Some(true);
    }
    if title.contains(['数', '數']) || title.contains("人口") {
        return Some(false);
    }
    let told = words().find_map(|word| {
        let is_year = is_of(YEARS, word);
        (is_year || is_of(COUNTS, word)).then_some(is_year)
    });
    told.or(title.contains('年').then_some(true))
}

/// True if a column, at `at` in the rows, is taken for years by its numbers alone: its title says neither that nor a count.
pub fn is_years_by_numbers(column: &Column, rows: &[Vec<String>], at: usize) -> bool {
    let cells = rows.iter().filter_map(|row| row.get(at)).map(String::as_str);
    let says_so = cells.clone().any(|cell| cell.trim().ends_with('年'));
    !says_so && column.value_type == ValueType::YearMonth && names_years(&column.title).is_none() && are_years(cells)
}

/// The first cell of a column, at `at` in the rows, that makes it one of words, though most of its cells are numbers.
pub fn odd_cell<'c>(column: &Column, rows: &'c [Vec<String>], at: usize) -> Option<&'c str> {
    if column.value_type != ValueType::Category {
        return None;
    }
    let cells: Vec<&str> = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.trim()).collect();
    let numbers = [ValueType::Number, ValueType::Percentage]
        .map(|value_type| Column { value_type, ..column.clone() }.compared(alone(&cells)));
    let (mut n_numbers, mut n_odd, mut first) = (0, 0, None);
    for cell in cells {
        match numbers.iter().find_map(|numbers| read_cell(cell, numbers).ok()) {
            Some(CellValue::Missing) => {}
            Some(_) => n_numbers += 1,
            None => {
                n_odd += 1;
                first = first.or(Some(cell));
            }
        }
    }
    first.filter(|_| n_numbers > n_odd)
}

fn is_money(cell: &str) -> bool {
    cell.contains(['$', '€', '£', '¥', '￥'])
}

/// The words of a column that is asked about by them: at least two, not too many, not one a row.
pub(super) fn categories<'a>(cells: impl Iterator<Item = &'a CellValue>) -> Vec<&'a str> {
    let mut n = 0;
    let words: BTreeSet<&str> = cells
        .filter_map(|cell| match cell {
            CellValue::Text { text } => {
                n += 1;
                Some(text.as_str())
            }
            _ => None,
        })
        .collect();
    let asked = words.len() > 1 && words.len() <= MOST_CATEGORIES && 3 * words.len() <= 2 * n;
    if asked { words.into_iter().collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(header: &[&str], rows: &[&[&str]]) -> Vec<(String, ValueType, String)> {
        let texts = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = rows.iter().map(|row| texts(row)).collect();
        let schema = inferred(&texts(header), &rows).checked().unwrap();
        schema.columns.into_iter().map(|column| (column.key, column.value_type, column.unit)).collect()
    }

    #[test]
    fn a_column_is_what_all_of_its_cells_can_be_read_as() {
        let of = |key: &str, value_type, unit: &str| (key.to_owned(), value_type, unit.to_owned());
        assert_eq!(
            schema(
                &[
                    "Country",
                    "Area (sq km)",
                    "GDP (USD million)",
                    "Share",
                    "Since",
                    "Region",
                    "Rate",
                    "Share",
                    "Coast",
                    "Debt",
                    "Way"
                ],
                &[
                    &["Aa", "1,234", "$5", "4.5%", "1962-05", "west", "1.5", "x", "5 km", "$5", "3 hours"],
                    &["Bb", "-", "7 billion", "12%", "May 1960", "", "2", "12", "800 metres", "€7", "90 minutes"],
                ]
            ),
            [
                of("country", ValueType::Name, ""),
                of("area", ValueType::Count, "sq km"),
                of("gdp", ValueType::Money, "USD million"),
                of("share", ValueType::Percentage, "%"),
                of("since", ValueType::YearMonth, ""),
                of("region", ValueType::Category, ""),
                of("rate", ValueType::Number, ""),
                of("share_2", ValueType::Category, ""),
                of("coast", ValueType::Category, ""),
                of("debt", ValueType::Category, ""),
                of("way", ValueType::Category, ""),
            ]
        );
    }

    #[test]
    fn a_currency_may_have_several_names() {
        let kind = |cells: [&str; 3]| {
            let rows = cells.map(|cell| ["Aa", cell]);
            schema(&["Firm", "Pay"], &[&rows[0], &rows[1], &rows[2]]).remove(1).1
        };
        assert_eq!(kind(["£5", "7 pounds", "9 GBP"]), ValueType::Money);
        assert_eq!(kind(["5 hrs", "7 hours", "9"]), ValueType::Count);
        assert_eq!(kind(["5 kr", "7 SEK", "9 NOK"]), ValueType::Category);
        assert_eq!(kind(["$5 per month", "$7 a month", "$9"]), ValueType::Money);
        assert_eq!(kind(["$5 per month", "$7 per year", "$9"]), ValueType::Category);
    }

    #[test]
    fn years_stay_years_beside_cells_without_a_value() {
        let kind = |cells: [&str; 3]| {
            let rows = cells.map(|cell| ["Aa", cell]);
            schema(&["Firm", "Opened"], &[&rows[0], &rows[1], &rows[2]]).remove(1).1
        };
        for cells in [["1998", "n/a", "2001"], ["1998", "-", "2001"], ["1998年", "不适用", "2001年"]] {
            assert_eq!(kind(cells), ValueType::YearMonth, "{cells:?}");
        }
        assert_eq!(kind(["1998", "n/a", "20011"]), ValueType::Count);
        assert_eq!(kind(["-", "n/a", ""]), ValueType::Category);
    }

    #[test]
    fn a_unit_may_stand_behind_its_name_or_a_slash() {
        let header = ["公司", "营收（单位：万元）", "利润/万元", "产量／万吨", "单价/公斤", "Sales (unit: USD m)"];
        let rows: [&[&str]; 2] = [&["Aa", "5", "6亿", "7", "5元", "5"], &["Bb", "6亿元", "7", "8000吨", "6元", "6 bn"]];
        let columns = schema(&header, &rows);
        let units: Vec<&str> = columns.iter().map(|column| column.2.as_str()).collect();
        assert_eq!(units, ["", "单位：万元", "万元", "万吨", "", "unit: USD m"]);
        let read =
            |at: usize, cell: &str| read_cell(cell, &Column::new("x", columns[at].1, units[at])).unwrap().number();
        assert_eq!(
            [read(1, "6亿元"), read(2, "6亿"), read(5, "6 bn")],
            [Some(60_000.0), Some(60_000.0), Some(6_000.0)]
        );
    }

    #[test]
    fn a_unit_may_stand_behind_in_or_a_comma() {
        for (head, title, unit) in [
            ("Revenue in USD million", "Revenue", "USD million"),
            ("Area in km2", "Area", "km2"),
            ("Sales, EUR m", "Sales", "EUR m"),
            ("Share in %", "Share", "%"),
            ("Born in London", "Born in London", ""),
            ("Sales, net", "Sales, net", ""),
            ("Sales in 2023", "Sales in 2023", ""),
            ("Sales in EUR (2023)", "Sales in EUR", "2023"),
        ] {
            assert_eq!(title_and_unit(head), (title, unit), "{head}");
        }
    }

    #[test]
    fn a_year_or_a_remark_over_a_column_is_no_unit() {
        let kind = |head: &str, cells: [&str; 3]| {
            let rows = cells.map(|cell| ["Aa", cell]);
            schema(&["Firm", head], &[&rows[0], &rows[1], &rows[2]]).remove(1).1
        };
        for (head, cells) in [
            ("Revenue (2023)", ["$5", "€7", "£3"]),
            ("Revenue (thousands)", ["$5", "€7", "£3"]),
            ("Weight (max)", ["5 kg", "600 g", "7 kg"]),
            ("Height (est.)", ["5 m", "6 m", "7 m"]),
            ("收入（2023年）", ["5亿元", "6000万美元", "7亿元"]),
        ] {
            assert_eq!(kind(head, cells), ValueType::Category, "{head}");
        }
        assert_eq!(kind("Revenue (2023)", ["$5M", "$600K", "$7"]), ValueType::Money);
        assert_eq!(kind("Opened (est.)", ["1998", "2001", "-"]), ValueType::YearMonth);
        assert_eq!(kind("Beds (2000 units)", ["5", "6", "7"]), ValueType::Count);
    }

    #[test]
    fn numbers_that_letters_tell_apart_are_words() {
        let kind = |cells: [&str; 3]| {
            let rows = cells.map(|cell| ["Aa", cell]);
            schema(&["Firm", "Place"], &[&rows[0], &rows[1], &rows[2]]).remove(1).1
        };
        for cells in
            [["12A", "12B", "13"], ["48.8°N", "33.9°S", "40°N"], ["500 BC", "300 BC", "200 AD"], ["9am", "10pm", "-"]]
        {
            assert_eq!(kind(cells), ValueType::Category, "{cells:?}");
        }
        for cells in [["1st", "2nd", "3rd"], ["5K", "6M", "7B"], ["12A", "13A", "7"], ["5 hr", "6 h", "7"]] {
            assert_eq!(kind(cells), ValueType::Count, "{cells:?}");
        }
    }

    #[test]
    fn amounts_with_letters_of_magnitudes_are_money() {
        let rows: [&[&str]; 3] = [&["Aa", "$5M", "5 kt"], &["Bb", "$600K", "6 Mt"], &["Cc", "$7B", "7 kt"]];
        let types: Vec<ValueType> =
            schema(&["Firm", "Revenue", "CO2"], &rows).into_iter().map(|column| column.1).collect();
        assert_eq!(types, [ValueType::Name, ValueType::Money, ValueType::Category]);
    }

    #[test]
    fn whole_numbers_that_could_be_years_are_what_the_head_says() {
        use ValueType::{Count, Name, YearMonth};
        let rows: &[&[&str]] =
            &[&["Aa", "1600", "1962", "1700", "1650", "1999"], &["Bb", "2000", "2024", "1800", "", "2000"]];
        let header = ["Name", "Number of beds at year's end", "Since", "床位数", "成立年份", "Total"];
        let types: Vec<ValueType> = schema(&header, rows).into_iter().map(|(_, value_type, _)| value_type).collect();
        assert_eq!(types, [Name, Count, YearMonth, Count, YearMonth, Count]);
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
        let doubtful = |title: &str| is_years_by_numbers(&Column::new(title, YearMonth, ""), &rows, 1);
        assert_eq!(["Goats", "Term started", "年"].map(doubtful), [true, false, false]);
        for title in ["Members since", "数据年份", "人口普查年份"] {
            assert_eq!(names_years(title), Some(true), "{title}");
        }
    }

    #[test]
    fn a_cell_that_makes_a_column_of_numbers_one_of_words_is_named() {
        let of = |cells: &[&str]| {
            let rows: Vec<Vec<String>> = cells.iter().map(|cell| vec![(*cell).to_owned()]).collect();
            odd_cell(&Column::new("beds", ValueType::Category, ""), &rows, 0).map(str::to_owned)
        };
        assert_eq!(of(&["12", "", "over 5", "1,200"]).as_deref(), Some("over 5"));
        assert_eq!(of(&["4.5%", "-", "12%", "n/a 5"]).as_deref(), Some("n/a 5"));
        for words in [&["north", "5"][..], &["5 km", "800 m"], &["1", "x", "y"], &[]] {
            assert_eq!(of(words), None, "{words:?}");
        }
    }

    #[test]
    fn a_column_is_one_of_shares_only_under_a_head_of_shares() {
        let kind = |head: &str, cells: [&str; 3]| {
            let rows = cells.map(|cell| ["Aa", cell]);
            let column = schema(&["Firm", head], &[&rows[0], &rows[1], &rows[2]]).remove(1);
            (column.1, column.2)
        };
        for (head, cells, value_type, unit) in [
            ("Rate", ["5%", "6", "25 bp"], ValueType::Percentage, "%"),
            ("Rate (annual)", ["5%", "6", "-"], ValueType::Percentage, "%"),
            ("Debt (% of GDP)", ["5%", "6", "7% of GDP"], ValueType::Percentage, "% of GDP"),
            ("Rate (bps)", ["5", "6 bps", "7%"], ValueType::Category, "bps"),
            ("Rate (USD)", ["5%", "6", "7"], ValueType::Category, "USD"),
            ("Rate (pp)", ["5", "6 pp", "7%"], ValueType::Category, "pp"),
            ("Votes", ["5 votes (3%)", "6 votes", "7"], ValueType::Count, ""),
        ] {
            assert_eq!(kind(head, cells), (value_type, unit.to_owned()), "{head} {cells:?}");
        }
    }
}

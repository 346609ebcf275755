//! Points and commas in numbers: what they mean shows only in the whole column.

use super::column::{Column, ValueType};
use super::value::is_nothing;
use regex::Regex;
use std::sync::LazyLock;

/// Writes the numbers of the column `at` with points for decimals alone where one of them shows that they part thousands, as in
/// `1.234,50` and `1.234.500`, and all others can be read so: then `2.500` is no 2.5. Returns whether it did.
pub fn with_points(rows: &mut [Vec<String>], at: usize) -> bool {
    static SURE: LazyLock<Regex> =
        LazyLock::new(|| only_number(r"[0-9]{1,3}(?:(?:\.[0-9]{3})+,[0-9]+|(?:\.[0-9]{3}){2,})"));
    static POSSIBLE: LazyLock<Regex> =
        LazyLock::new(|| only_number(r"(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:,[0-9]+)?"));
    let says = |cell: &&String| cell.contains(|c: char| c.is_ascii_digit());
    let cells = || rows.iter().filter_map(|row| row.get(at)).filter(says);
    if !cells().any(|cell| SURE.is_match(cell)) || !cells().all(|cell| POSSIBLE.is_match(cell)) {
        return false;
    }
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(at)) {
        let Some(place) = POSSIBLE.captures(cell).and_then(|found| Some(found.get(1)?.range())) else { continue };
        let number = cell[place.clone()].replace('.', "").replace(',', ".");
        cell.replace_range(place, &number);
    }
    true
}

/// A cell with one number, besides which digits stand in remarks, such as `(2019)` and `[2]`, and in units, such as `m2`.
fn only_number(number: &str) -> Regex {
    let behind = r"(?:\([^()]*\)|\[[^\[\]]*\]|[A-Za-z][0-9]|[^0-9])*";
    Regex::new(&format!("^[^0-9]*({number}){behind}$")).expect("a valid pattern")
}

/// The first cell of a column, at `at` in the rows, that is taken for words because its numbers have decimal commas.
pub fn decimal_comma<'c>(column: &Column, rows: &'c [Vec<String>], at: usize) -> Option<&'c str> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        let whole = r"(?:[0-9]{1,3}(?:[\s.'’][0-9]{3})+|[0-9]+)";
        Regex::new(&format!(r"^[^0-9A-Za-z]*{whole}(?:,[0-9]+)?[^0-9,]*$")).expect("a valid pattern")
    });
    let cells = rows.iter().filter_map(|row| row.get(at));
    let said: Vec<&str> = cells.map(|cell| cell.trim()).filter(|cell| !is_nothing(cell)).collect();
    let first = said.iter().find(|cell| cell.contains(',')).copied();
    first.filter(|_| column.value_type == ValueType::Category && said.iter().all(|cell| NUMBER.is_match(cell)))
}

/// The first cell of a column of numbers, at `at` in the rows, whose point may part thousands: `1.234` beside `12.500`, and none as
/// `0.5` or `2.75`.
pub fn doubtful_point<'c>(column: &Column, rows: &'c [Vec<String>], at: usize) -> Option<&'c str> {
    static POINT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[0-9]\.[0-9]|\.[0-9]").expect("a valid pattern"));
    static THOUSANDS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[^0-9A-Za-z]*[1-9][0-9]{0,2}\.[0-9]{3}[^0-9A-Za-z]*$").expect("a valid pattern")
    });
    let cells = rows.iter().filter_map(|row| row.get(at)).map(String::as_str);
    let pointed: Vec<&str> = cells.filter(|cell| POINT.is_match(cell)).collect();
    let is_doubtful = pointed.len() > 1 && pointed.iter().all(|cell| THOUSANDS.is_match(cell));
    pointed.first().copied().filter(|_| is_doubtful && column.is_number())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_commas_are_seen_with_blanks_units_and_empty_cells() {
        let found = |cells: [&str; 3]| {
            let rows = cells.map(|cell| vec![cell.to_owned()]);
            decimal_comma(&Column::new("sales", ValueType::Category, ""), &rows, 0).map(str::to_owned)
        };
        for cells in [
            ["5,5", "-3,25", "7"],
            ["1 234,5", "n/a", "7,5"],
            ["5,5 %", "6 %", "-"],
            ["1\u{202f}234,5 €", "2,5 €", "9 €"],
        ] {
            assert_eq!(found(cells).as_deref(), Some(cells[0]), "{cells:?}");
        }
        for cells in [["5", "6", "7"], ["1,2,3", "4,5", "6"], ["a, 5", "5,5", "6"], ["north", "5,5", "6"]] {
            assert_eq!(found(cells), None, "{cells:?}");
        }
    }

    #[test]
    fn points_before_three_digits_throughout_are_doubtful() {
        let doubt = |cells: [&str; 3], value_type| {
            let rows = cells.map(|cell| vec![cell.to_owned()]);
            doubtful_point(&Column::new("people", value_type, ""), &rows, 0).map(str::to_owned)
        };
        for cells in [["1.234", "950", "12.500"], ["€1.234", "45.000 €", "-"]] {
            assert_eq!(doubt(cells, ValueType::Number).as_deref(), Some(cells[0]), "{cells:?}");
        }
        for cells in [["1.234", "0.950", "12.500"], ["1.234", "2.5", "7"], ["1.234", "950", "7"], ["5", "6", "7"]] {
            assert_eq!(doubt(cells, ValueType::Number), None, "{cells:?}");
        }
        assert_eq!(doubt(["1.234 million", "2.345 million", "7"], ValueType::Count), None);
        assert_eq!(doubt(["1.234", "12.500", "x"], ValueType::Category), None);
    }

    #[test]
    fn a_remark_or_a_unit_does_not_hide_that_points_part_thousands() {
        let read = |cells: [&str; 3]| {
            let mut rows = cells.map(|cell| vec![cell.to_owned()]);
            with_points(&mut rows, 0).then(|| rows.concat())
        };
        assert_eq!(read(["1.234.500 [2]", "950.000", "12"]).unwrap(), ["1234500 [2]", "950000", "12"]);
        assert_eq!(read(["1.234.500 (2019)", "950.000 (1.1.2020)", "-"]).unwrap()[1], "950000 (1.1.2020)");
        assert_eq!(read(["1.234,50 m2", "950.000 km2", "7"]).unwrap(), ["1234.50 m2", "950000 km2", "7"]);
        for cells in [["1.234.500", "2.5", ""], ["1.234.500", "7 8", ""], ["950.000", "12", ""]] {
            assert_eq!(read(cells), None, "{cells:?}");
        }
    }

    #[test]
    fn numbers_with_decimal_commas_are_told() {
        let column = Column::new("sales", ValueType::Category, "");
        let of = |cells: &[&str]| {
            let rows: Vec<Vec<String>> = cells.iter().map(|cell| vec![(*cell).to_owned()]).collect();
            decimal_comma(&column, &rows, 0).map(str::to_owned)
        };
        assert_eq!(of(&["11,5", "", "-1.150,25", "7"]).as_deref(), Some("11,5"));
        for words in [&["Rome, Italy"][..], &["1,5", "north"], &["7", "8"], &["1,5,2"], &[]] {
            assert_eq!(of(words), None, "{words:?}");
        }
    }
}

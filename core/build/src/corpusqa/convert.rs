//! CSV tables as Markdown, so that a document is one kind of text.

use closeread_eval::lines::Lines;
use closeread_eval::saved::{Sheet, sheet};
use csv::{Position, ReaderBuilder};

/// The reason why a text is no table in CSV.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// The text cannot be read as CSV.
    #[error("{0}: expected a table in CSV")]
    Csv(#[from] csv::Error),
    /// A record is longer or shorter than the header.
    #[error("line {line}: {cells} cells: expected {header}, as in the header")]
    Cells {
        /// Line of the row, from 1.
        line: usize,
        /// Number of cells of the row.
        cells: usize,
        /// Number of cells of the header.
        header: usize,
    },
    /// A cell that goes on to the end of the file.
    #[error("line {line}: a quotation mark is not closed: all behind it would be one cell")]
    Unclosed {
        /// Line in which the row begins, from 1.
        line: usize,
    },
    /// There is nothing behind the header.
    #[error("expected a header and at least one record")]
    Empty,
}

/// The records of a CSV file, the header first. The file names its separator, or the header tells it ([`sheet`]); a
/// quotation mark inside a cell is doubled, or escaped by a backslash where `\"` stands in the file.
///
/// # Errors
/// The line and what is wrong with it, for the first record that has another number of cells than the header, or for one
/// whose last cell is not closed.
pub fn csv_records(text: &str) -> Result<Vec<(usize, Vec<String>)>, CsvError> {
    let Sheet { bytes, separator } = sheet(text.as_bytes());
    let escape = text.contains("\\\"").then_some(b'\\');
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .escape(escape)
        .double_quote(escape.is_none())
        .from_reader(&*bytes);
    let mut records: Vec<(usize, Vec<String>)> = Vec::new();
    let mut lines = Lines::new(&bytes);
    let mut last = 0;
    for record in reader.records() {
        let record = record?;
        let line = lines.line_of(record.position().map_or(0, Position::byte));
        last = line;
        let cells: Vec<String> = record.iter().map(|cell| cell.trim().to_owned()).collect();
        if cells.iter().all(String::is_empty) {
            continue;
        }
        if let Some((_, header)) = records.first().filter(|(_, header)| header.len() != cells.len()) {
            return Err(CsvError::Cells { line, cells: cells.len(), header: header.len() });
        }
        records.push((line, cells));
    }
    if lines.unclosed(separator, escape).is_some() {
        return Err(CsvError::Unclosed { line: last });
    }
    if records.len() < 2 {
        return Err(CsvError::Empty);
    }
    Ok(records)
}

/// A table in CSV as a table in Markdown.
///
/// # Errors
/// As [`csv_records`].
pub fn csv_as_markdown(text: &str) -> Result<String, CsvError> {
    let mut out = String::new();
    for (at, (_, cells)) in csv_records(text)?.into_iter().enumerate() {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| cell.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|"))
            .collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
        if at == 0 {
            out.push_str(&format!("|{}\n", " --- |".repeat(cells.len())));
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_becomes_a_table() {
        let expected = "| a | b |\n| --- | --- |\n| x\\|y | 1,200 |\n";
        assert_eq!(csv_as_markdown("a,b\nx|y,\"1,200\"\n").unwrap(), expected);
        assert_eq!(csv_as_markdown("\u{feff}a;b\r\n\r\n x|y ;1,200\r\n").unwrap(), expected);
        assert_eq!(csv_as_markdown("\u{feff}sep=;\r\na;b\r\nx|y;1,200\r\n").unwrap(), expected);
        assert_eq!(
            csv_as_markdown("a,b\n\"he said \\\"no\\\"\",2").unwrap().lines().last(),
            Some("| he said \"no\" | 2 |")
        );
        assert_eq!(
            csv_as_markdown("a,b\n1,2,3").unwrap_err().to_string(),
            "line 2: 3 cells: expected 2, as in the header"
        );
        assert_eq!(csv_as_markdown("a,b\n").unwrap_err().to_string(), "expected a header and at least one record");
        let unclosed = csv_as_markdown("a\tb\n1\t2\n3\t\"4\n5\t6\n").unwrap_err().to_string();
        assert_eq!(unclosed, "line 3: a quotation mark is not closed: all behind it would be one cell");
        assert!(csv_as_markdown("a,b\n1,\"2\n3\"\n").is_ok(), "a cell may have lines");
    }
}

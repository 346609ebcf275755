//! The second round: another person decides where extraction and first reader differ (section 3.6). In the paper the extraction
//! was right every time.
//!
//! Both values stand side by side without saying which is whose, in an order that changes from cell to cell.

use super::{HandError, csv_records, rate};
use closeread_table::{Table, Value};
use closeread_text::hash::sha256;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The columns of the file, in its order. `right` is what the person writes: `a`, `b`, `both` or `neither`.
pub const DISPUTE_COLUMNS: [&str; 6] = ["document", "column", "asks for", "a", "b", "right"];

/// A cell on which extraction and first reader differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dispute {
    /// Id of the document.
    pub document: String,
    /// Key of the column.
    pub column: String,
    /// Description of what the column asks for.
    pub asks: String,
    /// Value that was extracted.
    pub extracted: String,
    /// Value that the first person read.
    pub by_hand: String,
}

impl fmt::Display for Dispute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { document, column, extracted, by_hand, .. } = self;
        write!(f, "{document}, {column}: extracted {extracted}, by hand {by_hand}")
    }
}

impl Dispute {
    /// Returns whether the extracted value stands first in the file.
    fn extracted_first(&self) -> bool {
        sha256(format!("{} {}", self.document, self.column).as_bytes()).as_bytes()[0].is_multiple_of(2)
    }
}

/// The file that the second person fills in, a dispute a line.
pub fn dispute_rows(disputes: &[Dispute]) -> Vec<[String; 6]> {
    let row = |dispute: &Dispute| {
        let Dispute { document, column, asks, extracted, by_hand } = dispute.clone();
        let (a, b) = if dispute.extracted_first() { (extracted, by_hand) } else { (by_hand, extracted) };
        [document, column, asks, a, b, String::new()]
    };
    disputes.iter().map(row).collect()
}

/// The agreement once the second person has decided: how often the extraction is right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Adjudicated {
    /// Table of both rates.
    pub table: Table,
    /// Lines that cannot be used, and why.
    pub problems: Vec<String>,
    /// Disputes that are not decided.
    pub open: usize,
}

/// Computes both rates of `checked` cells, of which `disputes` differed at first: that of first agreement, and with the
/// cells for which a second person bears the extraction out, as the file says.
///
/// # Errors
/// [`HandError`] if the file is no such table.
pub fn adjudicated(disputes: &[Dispute], checked: usize, file: &str) -> Result<Adjudicated, HandError> {
    let records = csv_records(file)?;
    let (_, header) = records.first().ok_or(HandError::Disputes)?;
    let place = |name: &str| header.iter().position(|head| head.trim().eq_ignore_ascii_case(name));
    let (Some(document), Some(column), Some(right)) = (place("document"), place("column"), place("right")) else {
        return Err(HandError::Disputes);
    };
    let known: BTreeMap<(&str, &str), &Dispute> =
        disputes.iter().map(|one| ((one.document.as_str(), one.column.as_str()), one)).collect();
    let mut decided: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    let mut problems = Vec::new();
    for (line, cells) in &records[1..] {
        let Some((name, dispute)) = known.get_key_value(&(cells[document].as_str(), cells[column].as_str())) else {
            problems.push(format!(
                "line {line}: extraction and hand do not differ on {}, {}",
                cells[document], cells[column]
            ));
            continue;
        };
        let extracted = if dispute.extracted_first() { "a" } else { "b" };
        match cells[right].trim().to_lowercase().as_str() {
            "" => {}
            "both" => drop(decided.insert(*name, true)),
            "neither" => drop(decided.insert(*name, false)),
            said @ ("a" | "b") => drop(decided.insert(*name, said == extracted)),
            other => problems.push(format!("line {line}: `right` is `{other}`: expected a, b, both or neither")),
        }
    }
    let agreed = checked - disputes.len().min(checked);
    let upheld = decided.values().filter(|upheld| **upheld).count();
    let columns = ["rate", "cells", "right", "share", "95%"].map(str::to_owned).to_vec();
    let mut table =
        Table::new("adjudicated", "Extracted values: first agreement, and after a second person decided", columns);
    table.source = "CorpusQA, section 3.6".to_owned();
    let judged = agreed + decided.len();
    for (name, n, hit) in [("first agreement", checked, agreed), ("after the second round", judged, agreed + upheld)] {
        let [share, interval] = rate(hit, n);
        table.rows.push(vec![Value::text(name), Value::count(n), Value::count(hit), share, interval]);
    }
    table.notes.push(
        "in the paper the second round found the extraction right in every case; 95%: Wilson's interval".to_owned(),
    );
    Ok(Adjudicated { table, problems, open: disputes.len() - decided.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_person_decides_without_knowing_whose_value_is_whose() {
        let dispute = |document: &str| Dispute {
            document: document.to_owned(),
            column: "beds".to_owned(),
            asks: "Beds".to_owned(),
            extracted: "84".to_owned(),
            by_hand: "132".to_owned(),
        };
        let disputes: Vec<Dispute> = (0..8).map(|n| dispute(&format!("d{n}"))).collect();
        let rows = dispute_rows(&disputes);
        let firsts = rows.iter().filter(|row| row[3] == "84").count();
        assert!((1..8).contains(&firsts), "the order changes: {firsts}");
        let mut file = DISPUTE_COLUMNS.join(",") + "\n";
        for (at, row) in rows.iter().enumerate() {
            let extracted = if row[3] == "84" { "a" } else { "b" };
            let hand = if extracted == "a" { "b" } else { "a" };
            let right = [extracted, extracted, extracted, hand, "neither", "both", "", "perhaps"][at];
            file += &format!("{},{},{},{},{},{right}\n", row[0], row[1], row[2], row[3], row[4]);
        }
        file += "d9,beds,,,,a\n";
        let found = adjudicated(&disputes, 20, &file).unwrap();
        let rows: Vec<Vec<String>> =
            found.table.rows.iter().map(|row| row.iter().map(Value::shown).collect()).collect();
        assert_eq!(rows[0][1..4], ["20", "12", "60.00"]);
        assert_eq!(rows[1][1..4], ["18", "16", "88.89"]);
        assert_eq!((found.open, found.problems.len()), (2, 2), "{:?}", found.problems);
        assert!(
            adjudicated(&disputes, 20, "a,b\n1,2\n").unwrap_err().to_string().contains("document, column and right")
        );
    }
}

//! Extracted values against values that a person read (section 3): the rate of first agreement.
//!
//! The paper draws 1,000 extracted schemas of a domain, has people read them, and reports how many agree with them at first,
//! before anything is corrected: 94.13% in one domain, 98.97% in another. It does not say whether a schema is a value or a
//! row: values are counted here. The person does not see what was extracted, and both values are read as the column's cells
//! are, so that `1.2 million` agrees with `1,200,000`.

use super::column::{Column, Schema};
use super::convert::{CsvError, csv_records};
use super::extract::Agreed;
use super::value::{CellError, CellValue, read_stated};
use crate::stage::Unit;
use closeread_metrics::random::SplitMix64;
use closeread_metrics::stats::proportion::wilson;
use closeread_table::{Table, Value};
use serde::Serialize;

/// The columns of the file, in its order.
pub const HAND_COLUMNS: [&str; 5] = ["document", "column", "asks for", "value", "unit"];

/// A cell to be read by hand, or one that was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandRead {
    /// Line of the file; 0 for one that is not read from a file.
    pub line: usize,
    /// Id of the document.
    pub document: String,
    /// Key of the column.
    pub column: String,
    /// Value as the person read it; empty: not read yet. `n/a` says that the document does not state it.
    pub value: String,
    /// Unit of the value, magnitude included; empty: the column's.
    pub unit: String,
}

/// The first agreement: how often extraction and person agree at first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FirstAgreement {
    /// Table with one row a column, and one for all.
    pub table: Table,
    /// The values that differ, in words.
    pub differ: Vec<String>,
    /// Cells on which they disagree, for a second person to decide.
    pub disputes: Vec<Dispute>,
    /// Lines that cannot be compared, and why.
    pub problems: Vec<String>,
    /// Number of lines without a value.
    pub open: usize,
}

/// Draws at most `n` extracted cells by the seed, in the order of documents and columns; names are read by nobody.
pub fn drawn_cells(agreed: &[Unit<Agreed>], schema: &Schema, n: usize, seed: u64) -> Vec<HandRead> {
    let columns = schema.columns.iter().enumerate().skip(1);
    let mut cells: Vec<(usize, usize)> =
        columns.flat_map(|(column, _)| (0..agreed.len()).map(move |document| (document, column))).collect();
    SplitMix64(super::seed::seeded(seed, "cells read by hand")).shuffle(&mut cells);
    cells.truncate(n);
    cells.sort_unstable();
    let cell = |(document, column): (usize, usize)| HandRead {
        line: 0,
        document: agreed[document].id.clone(),
        column: schema.columns[column].key.clone(),
        value: String::new(),
        unit: String::new(),
    };
    cells.into_iter().map(cell).collect()
}

/// The file that a person fills in, a list of cells a line.
pub fn hand_rows(cells: &[HandRead], schema: &Schema) -> Vec<[String; 5]> {
    let row = |cell: &HandRead| {
        let asks = schema.column(&cell.column).map(|(_, column)| asked(column)).unwrap_or_default();
        [cell.document.clone(), cell.column.clone(), asks, cell.value.clone(), cell.unit.clone()]
    };
    cells.iter().map(row).collect()
}

fn asked(column: &Column) -> String {
    let unit = if column.unit.is_empty() { String::new() } else { format!(" ({})", column.unit) };
    let says_more = !column.meaning.is_empty() && column.meaning != column.title;
    let meaning = if says_more { format!(": {}", column.meaning) } else { String::new() };
    format!("{}{unit}{meaning}", column.title)
}

/// The reason why a file that people filled in cannot be used, or a cell of it not compared.
#[derive(Debug, thiserror::Error)]
pub enum HandError {
    /// The file is no table.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// The file has other columns.
    #[error("expected a table in CSV with the columns document, column and value")]
    Columns,
    /// The file of the second round has other columns.
    #[error("expected a table in CSV with the columns document, column and right")]
    Disputes,
    /// The schema has no such column.
    #[error("there is no column `{column}`: expected one of {}", .known.join(", "))]
    Column {
        /// Name of the column in the file.
        column: String,
        /// Names of the columns that there are.
        known: Vec<String>,
    },
    /// Nothing was extracted from the document.
    #[error("no value was extracted from `{0}`: it is none of the documents, or was dropped")]
    Document(String),
    /// The value is none of its column.
    #[error(transparent)]
    Value(#[from] CellError),
}

/// Reads the file back. `document`, `column` and `value` must be among its columns.
///
/// # Errors
/// What is wrong with it, with the line.
pub fn read_hand(text: &str) -> Result<Vec<HandRead>, HandError> {
    let records = csv_records(text)?;
    let (_, header) = records.first().ok_or(HandError::Columns)?;
    let place = |name: &str| header.iter().position(|head| head.trim().eq_ignore_ascii_case(name));
    let (Some(document), Some(column), Some(value)) = (place("document"), place("column"), place("value")) else {
        return Err(HandError::Columns);
    };
    let read = |(line, cells): &(usize, Vec<String>)| HandRead {
        line: *line,
        document: cells[document].clone(),
        column: cells[column].clone(),
        value: cells[value].clone(),
        unit: place("unit").map_or_else(String::new, |at| cells[at].clone()),
    };
    Ok(records.iter().skip(1).map(read).collect())
}

/// Compares what people read with the values that the extraction gave the same cells. A document that was dropped has none
/// and is a problem; both not stated is agreement.
pub fn first_agreement(agreed: &[Unit<Agreed>], schema: &Schema, by_hand: &[HandRead], domain: &str) -> FirstAgreement {
    let (mut differ, mut disputes, mut problems, mut open) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let mut counts = vec![(0, 0); schema.columns.len()];
    for read in by_hand {
        if read.value.trim().is_empty() {
            open += 1;
            continue;
        }
        match compared(agreed, schema, read) {
            Err(why) => problems.push(format!("line {}: {why}", read.line)),
            Ok((at, difference)) => {
                counts[at].0 += 1;
                counts[at].1 += usize::from(difference.is_none());
                differ.extend(difference.as_ref().map(Dispute::to_string));
                disputes.extend(difference);
            }
        }
    }
    let columns = ["column", "checked", "first agreement", "rate", "95%"];
    let title = format!("Values extracted at first against values read by hand, {domain}");
    let mut table = Table::new("first agreement", &title, columns.map(str::to_owned).to_vec());
    table.source = "CorpusQA, section 3".to_owned();
    table.notes.push(
        "the paper reads 1,000 schemas a domain and prints 94.13% (education_en) and 98.97% (financial_zh); 95%: Wilson's interval"
            .to_owned(),
    );
    let all = counts.iter().fold((0, 0), |sum, (n, same)| (sum.0 + n, sum.1 + same));
    let named = schema.columns.iter().map(|column| column.key.as_str()).zip(counts);
    for (name, (n, same)) in named.filter(|(_, (n, _))| *n > 0).chain([("all", all)]) {
        let [rate, interval] = rate(same, n);
        table.rows.push(vec![Value::text(name), Value::count(n), Value::count(same), rate, interval]);
    }
    FirstAgreement { table, differ, disputes, problems, open }
}

/// A rate of `n` values and Wilson's 95% interval, with two decimals as in the paper.
fn rate(hits: usize, n: usize) -> [Value; 2] {
    if n == 0 {
        return ["nothing was read"; 2].map(Value::missing);
    }
    let (low, high) = wilson(hits, n, 0.95);
    let interval = format!("[{:.2}, {:.2}]", 100.0 * low, 100.0 * high);
    [Value::text(format!("{:.2}", 100.0 * hits as f64 / n as f64)), Value::text(interval)]
}

/// The place of the column, and what differs, if anything does.
fn compared(agreed: &[Unit<Agreed>], schema: &Schema, read: &HandRead) -> Result<(usize, Option<Dispute>), HandError> {
    let HandRead { document, column: key, value, unit, .. } = read;
    let known = |column: &Column| column.key == *key || column.title == *key;
    let Some((at, column)) = schema.columns.iter().enumerate().find(|(_, column)| known(column)) else {
        let known = schema.columns.iter().map(|column| column.key.clone()).collect();
        return Err(HandError::Column { column: key.clone(), known });
    };
    let found = agreed.iter().find(|unit| unit.id == *document);
    let found = found.ok_or_else(|| HandError::Document(document.clone()))?;
    let extracted = &found.input.reading.cells[at];
    let by_hand = read_stated(value, unit, column)?;
    if extracted.is_same(&by_hand) || (*extracted == CellValue::Missing && by_hand == CellValue::Missing) {
        return Ok((at, None));
    }
    let said = |value: &CellValue| match value {
        CellValue::Missing => "not stated".to_owned(),
        value => format!("{value} {}", column.unit).trim().to_owned(),
    };
    let dispute = Dispute {
        document: document.clone(),
        column: column.key.clone(),
        asks: asked(column),
        extracted: said(extracted),
        by_hand: said(&by_hand),
    };
    Ok((at, Some(dispute)))
}

mod second;

pub use second::{Adjudicated, DISPUTE_COLUMNS, Dispute, adjudicated, dispute_rows};

#[cfg(test)]
mod tests {
    use super::super::global::Reading;
    use super::*;
    use crate::corpusqa::ValueType;

    fn schema() -> Schema {
        let columns = vec![
            Column::new("Name", ValueType::Name, ""),
            Column::new("Income", ValueType::Money, "EUR thousand"),
            Column::new("Region", ValueType::Category, ""),
        ];
        Schema { columns, ..Schema::default() }
    }

    fn agreed(id: &str, income: Option<f64>, region: &str) -> Unit<Agreed> {
        let text = |text: &str| CellValue::Text { text: text.to_owned() };
        let income = income.map_or(CellValue::Missing, |value| CellValue::Number { value });
        let reading =
            Reading { documents: vec![id.to_owned()], cells: vec![text(id), income, text(region)], day: None };
        Unit { id: id.to_owned(), input: Agreed { reading, fields: Vec::new() } }
    }

    #[test]
    fn values_agree_however_they_are_written_and_the_rate_has_its_interval() {
        let agreed = [agreed("a", Some(1200.0), "west"), agreed("b", None, "East"), agreed("c", Some(7.0), "north")];
        let file = "document,column,asks for,value,unit\na,income,Income,1.2,EUR million\nb,income,,n/a,\nb,region,,east,\n\
                    c,income,,8,\nc,Region,,,\nd,income,,1,\na,beds,,1,\na,income,,many,\n";
        let found = first_agreement(&agreed, &schema(), &read_hand(file).unwrap(), "housing_en");
        let rows: Vec<Vec<String>> =
            found.table.rows.iter().map(|row| row.iter().map(Value::shown).collect()).collect();
        assert_eq!(rows[0], ["income", "3", "2", "66.67", "[20.77, 93.85]"]);
        assert_eq!(rows[2], ["all", "4", "3", "75.00", "[30.06, 95.44]"]);
        assert_eq!(found.differ, ["c, income: extracted 7 EUR thousand, by hand 8 EUR thousand"]);
        assert_eq!(found.open, 1);
        for (problem, words) in
            found.problems.iter().zip(["line 7: no value was", "line 8: there is no column `beds`", "line 9: "])
        {
            assert!(problem.starts_with(words), "{problem}");
        }
        assert_eq!(found.problems.len(), 3);
    }

    #[test]
    fn cells_are_drawn_by_the_seed_and_the_file_reads_back() {
        let agreed: Vec<Unit<Agreed>> = (0..20).map(|n| agreed(&format!("d{n}"), Some(1.0), "x")).collect();
        let drawn = drawn_cells(&agreed, &schema(), 12, 1);
        assert_eq!((drawn.len(), &drawn_cells(&agreed, &schema(), 12, 1)), (12, &drawn));
        assert_ne!(drawn_cells(&agreed, &schema(), 12, 2), drawn);
        assert!(drawn.iter().all(|cell| cell.column != "name"));
        let rows = hand_rows(&drawn, &schema());
        let text: String =
            std::iter::once(HAND_COLUMNS.map(str::to_owned)).chain(rows).map(|row| row.join(",") + "\n").collect();
        let read = read_hand(&text).unwrap();
        assert!(read.iter().zip(&drawn).all(|(a, b)| (&a.document, &a.column) == (&b.document, &b.column)));
        assert!(read_hand("a,b\n1,2\n").unwrap_err().to_string().contains("document, column and value"));
    }
}

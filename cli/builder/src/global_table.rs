//! The global table of `build corpusqa` as files: a ready table read, the finished one written.

use super::database::{fill, read_rows};
use anyhow::{Context, Result, bail};
use closeread_books::decode;
use closeread_build::corpusqa::{
    CellValue, Column, Corpus, DOCUMENT_DATE, Entity, Record, Row, Schema, ValueType, csv_records, decimal_comma,
    doubtful_point, inferred, is_years_by_numbers, odd_cell, with_points,
};
use closeread_files::write_atomically;
use rusqlite::{Connection, OpenFlags};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use tracing::info;

/// The table in a database, with its columns and sets.
pub const DATABASE: &str = "table.sqlite";
/// Columns of a ready table that name the documents of a line.
const DOCUMENTS: [&str; 2] = ["document", "documents"];

/// Reads `--schema`: JSON with `columns` and, if need be, `entity`, such as `sample/corpus/manifest.json`.
pub fn read_schema(path: &Path) -> Result<Schema> {
    let named = || format!("cannot use --schema {}", path.display());
    let bytes = closeread_files::read_file(path).with_context(named)?;
    let schema: Schema = serde_json::from_slice(&bytes)
        .context("expected JSON with columns, each with key, title and type, the first of the type `name`")
        .with_context(named)?;
    schema.checked().with_context(named)
}

/// Reads `--table`: its lines, and its columns by `schema` or as they look. A column `document` names the documents of a line,
/// parted by `;`.
pub fn read_table(path: &Path, schema: Option<Schema>) -> Result<(Schema, Vec<Record>)> {
    let named = || format!("cannot use --table {}", path.display());
    let bytes = closeread_files::read_file(path).with_context(named)?;
    let text = decode(&bytes, None).with_context(named)?.text;
    let mut records = csv_records(&text).map_err(anyhow::Error::msg).with_context(named)?;
    let (_, header) = records.remove(0);
    let sources = header.iter().position(|head| DOCUMENTS.contains(&head.trim().to_lowercase().as_str()));
    let without = |cells: &[String]| -> Vec<String> {
        cells.iter().enumerate().filter(|(at, _)| Some(*at) != sources).map(|(_, cell)| cell.clone()).collect()
    };
    let heads = without(&header);
    let mut rows: Vec<Vec<String>> = records.iter().map(|(_, cells)| without(cells)).collect();
    for (at, head) in heads.iter().enumerate().skip(1) {
        if with_points(&mut rows, at) {
            info!(
                "{}: points part thousands in the numbers of `{head}`, as in `1.234.500` and `1.234,50`",
                path.display()
            );
        }
    }
    let seen = inferred(&heads, &rows);
    let mut schema = match schema {
        None => {
            for (at, column) in seen.columns.iter().enumerate() {
                if let Some(note) = doubt(column, &rows, at) {
                    info!("{}: the column `{}` is read as {note}", path.display(), column.title);
                }
            }
            seen.clone().checked().with_context(named)?
        }
        Some(schema) => schema,
    };
    // A column without any date leaves the order of the ids.
    let says_some = |at: usize| rows.iter().any(|row| !row[at].trim().is_empty());
    if let Some((_, column)) = schema.column(DOCUMENT_DATE)
        && column.value_type != ValueType::YearMonth
        && seen.column(DOCUMENT_DATE).is_none_or(|(at, _)| says_some(at))
    {
        let kind = column.value_type.name();
        bail!("{}: its `{DOCUMENT_DATE}` is read as {kind}: expected dates such as 2024-03-31 or 2024-03", named());
    }
    let places = places(&schema, &seen, &heads, named)?;
    for (column, &at) in schema.columns.iter_mut().zip(&places) {
        *column = column.clone().compared(rows.iter().map(|row| (row[at].as_str(), "")));
    }
    let record = |((line, cells), row): (&(usize, Vec<String>), &Vec<String>)| {
        let documents = sources.map_or("", |at| cells[at].as_str());
        Record {
            line: *line,
            cells: places.iter().map(|&at| row[at].clone()).collect(),
            documents: documents.split(';').map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect(),
        }
    };
    Ok((schema, records.iter().zip(&rows).map(record).collect()))
}

/// Where the file that errors name has each column of the schema, found by key, head or title: `Area (ha)` and `Area (acres)` have
/// one title.
fn places(schema: &Schema, seen: &Schema, heads: &[String], named: impl Fn() -> String) -> Result<Vec<usize>> {
    let mut places: Vec<usize> = Vec::new();
    for column in &schema.columns {
        let by_key = seen.columns.iter().position(|known| known.key == column.key);
        let by_head = || heads.iter().position(|head| head.trim() == column.title);
        let by_title = || seen.columns.iter().position(|known| known.title == column.title);
        match by_key.or_else(by_head).or_else(by_title) {
            Some(at) if places.contains(&at) => {
                let head = &heads[at];
                bail!("{}: two columns of the schema are its column `{head}`: name each by its head", named())
            }
            Some(at) => places.push(at),
            None => bail!("{}: it has no column `{}`, which the schema names", named(), column.key),
        }
    }
    Ok(places)
}

/// What a reader should know of a column that is read as it looks.
fn doubt(column: &Column, rows: &[Vec<String>], at: usize) -> Option<String> {
    if let Some(cell) = decimal_comma(column, rows, at) {
        return Some(format!("words: its numbers have commas, such as `{cell}`; write them with points"));
    }
    if let Some(cell) = odd_cell(column, rows, at) {
        return Some(format!(
            "words: its cell `{cell}` is no number, as most others are; write one, or leave it empty"
        ));
    }
    if let Some(cell) = doubtful_point(column, rows, at) {
        return Some(format!(
            "decimals, such as `{cell}`: if its points part thousands, write the numbers without them"
        ));
    }
    is_years_by_numbers(column, rows, at).then(|| {
        "years, as its numbers look: if they are a count, give --schema, or a head such as `Number of ...`".to_owned()
    })
}

/// Reads an entity from `ONE,MANY`, as `--entity` gives it.
pub fn read_entity(text: &str) -> Result<Entity, String> {
    match text.split_once(',').map(|(one, many)| (one.trim(), many.trim())) {
        Some((one, many)) if !one.is_empty() && !many.is_empty() => {
            Ok(Entity { one: one.to_owned(), many: many.to_owned() })
        }
        _ => Err("expected what a row is, in the singular and the plural, as in company,companies".to_owned()),
    }
}

/// Writes `table.sqlite`, `table.csv`, `table.parquet`, `schema.json`, `sets.json` and `conflicts.jsonl`.
pub fn write_table(out: &Path, corpus: &Corpus) -> Result<()> {
    let schema = &corpus.schema;
    write_atomically(&out.join("table.csv"), csv(schema, &corpus.rows)?.as_slice())?;
    write_parquet(&out.join("table.parquet"), corpus)?;
    write_atomically(&out.join("schema.json"), &closeread_files::pretty(&json!(schema)))?;
    let sets: BTreeMap<&str, _> = corpus.sets.iter().map(|(id, set)| (id.as_str(), set)).collect();
    write_atomically(&out.join("sets.json"), &closeread_files::pretty(&json!(sets)))?;
    let conflicts: String = corpus
        .rows
        .iter()
        .flat_map(|row| {
            row.conflicts.iter().map(move |conflict| format!("{}\n", json!({"row": row.name, "conflict": conflict})))
        })
        .collect();
    write_atomically(&out.join("conflicts.jsonl"), conflicts.as_bytes())?;
    let path = out.join(DATABASE);
    let part = out.join(format!("{DATABASE}.part"));
    closeread_files::remove(&part)?;
    let named = || format!("cannot write {}", path.display());
    let connection = Connection::open(&part).with_context(named)?;
    fill(&connection, &schema.columns, corpus.rows.iter()).with_context(named)?;
    connection.close().map_err(|(_, error)| error).with_context(named)?;
    std::fs::rename(&part, &path).with_context(named)
}

#[cfg(feature = "parquet")]
fn write_parquet(path: &Path, corpus: &Corpus) -> Result<()> {
    write_atomically(path, &super::parquet_file::parquet(&corpus.schema, &corpus.rows)?)
}

/// Removes the file: one that is there is of an earlier table.
#[cfg(not(feature = "parquet"))]
fn write_parquet(path: &Path, _: &Corpus) -> Result<()> {
    tracing::info!("{} is not written: {}", path.display(), closeread_runner::light::lacking("Parquet", "parquet"));
    closeread_files::remove(path)
}

/// The columns of a finished build.
pub(crate) fn stored_schema(out: &Path) -> Result<Schema> {
    read_schema(&out.join("schema.json"))
        .with_context(|| format!("{}: expected the folder of a finished build corpusqa", out.display()))
}

/// The columns and rows of a finished build, from its database.
pub fn stored_table(out: &Path) -> Result<(Schema, Vec<Row>)> {
    let schema = stored_schema(out)?;
    let path = out.join(DATABASE);
    let named = || format!("cannot read {}", path.display());
    let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).with_context(named)?;
    let rows = read_rows(&connection, &schema.columns).with_context(named)?;
    Ok((schema, rows))
}

fn csv(schema: &Schema, rows: &[Row]) -> Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let keys = schema.columns.iter().map(|column| column.key.as_str());
    writer.write_record(keys.chain(["documents"]))?;
    for row in rows {
        let cells = row.cells.iter().map(CellValue::to_string);
        writer.write_record(cells.chain([row.documents.join(";")]))?;
    }
    writer.into_inner().context("cannot write the table as CSV")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use closeread_build::corpusqa::read_cell;

    /// Two rows, of which one lacks a number.
    pub(crate) fn example() -> (Schema, [Row; 2]) {
        let columns = vec![Column::new("name", ValueType::Name, ""), Column::new("beds", ValueType::Count, "")];
        let schema = Schema { columns, ..Schema::default() };
        let row = |name: &str, beds: CellValue| {
            let cells = vec![CellValue::Text { text: name.to_owned() }, beds];
            Row { name: name.to_owned(), cells, documents: vec!["d".to_owned()], conflicts: Vec::new() }
        };
        (schema, [row("Å", CellValue::Number { value: 2.5 }), row("B", CellValue::Missing)])
    }

    #[test]
    fn a_table_as_csv_leaves_out_what_is_missing() {
        let (schema, rows) = example();
        assert_eq!(String::from_utf8(csv(&schema, &rows).unwrap()).unwrap(), "name,beds,documents\nÅ,2.5,d\nB,,d\n");
    }

    #[test]
    fn a_table_is_read_by_its_header_or_by_a_schema() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.csv");
        std::fs::write(&path, "Country,Area (sq km),document\nA,\"1,200\",a;b\nB,7,\n").unwrap();
        let (schema, records) = read_table(&path, None).unwrap();
        assert_eq!(
            (schema.columns[1].unit.as_str(), records[0].documents.as_slice()),
            ("sq km", &["a", "b"].map(str::to_owned)[..])
        );
        assert_eq!((records[1].line, records[1].cells.as_slice()), (3, &["B", "7"].map(str::to_owned)[..]));
        let columns = vec![Column::new("Country", ValueType::Name, ""), Column::new("beds", ValueType::Count, "")];
        let refused = read_table(&path, Some(Schema { columns, ..Schema::default() })).unwrap_err().to_string();
        assert!(refused.contains("no column `beds`"), "{refused}");
        assert!(read_entity("a,b").is_ok() && read_entity("a").is_err());
    }

    #[test]
    fn the_columns_of_a_schema_know_the_unit_of_most_cells() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.csv");
        std::fs::write(&path, "Firm,Sales\nA,$5\nB,€7\nC,$9\n").unwrap();
        let columns = vec![Column::new("Firm", ValueType::Name, ""), Column::new("Sales", ValueType::Money, "")];
        let (schema, records) = read_table(&path, Some(Schema { columns, ..Schema::default() })).unwrap();
        let sales: Vec<_> = records.iter().map(|record| read_cell(&record.cells[1], &schema.columns[1])).collect();
        assert_eq!([sales[0].is_ok(), sales[1].is_ok(), sales[2].is_ok()], [true, false, true], "{sales:?}");
    }

    #[test]
    fn a_column_with_decimal_commas_has_points_for_thousands_throughout() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.csv");
        std::fs::write(&path, "Name;Sales (EUR);Mixed;People\nA;1.234,50;1.234,50;1.234.500\nB;2.500;2.5;950.000\nC;-999,5 €;7;12\nD;-;;\n").unwrap();
        let (schema, records) = read_table(&path, None).unwrap();
        let column = |at: usize| records.iter().map(|record| record.cells[at].as_str()).collect::<Vec<_>>();
        assert_eq!((column(1), schema.columns[1].is_number()), (vec!["1234.50", "2500", "-999.5 €", "-"], true));
        assert_eq!(column(2), ["1.234,50", "2.5", "7", ""]);
        assert_eq!(column(3), ["1234500", "950000", "12", ""]);
    }

    #[test]
    fn dates_that_tell_no_order_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.csv");
        let read = |dates: [&str; 2]| {
            std::fs::write(&path, format!("Firm,document_date\nA,{}\nB,{}\n", dates[0], dates[1])).unwrap();
            read_table(&path, None).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(read(["2024-01-31", "March 2024"]), Ok(()));
        assert_eq!(read(["2024-01-31 00:00:00", "2024-03-31T12:30:00Z"]), Ok(()));
        assert_eq!(read(["", " "]), Ok(()));
        assert!(read(["12 Jan 24", "5 Feb 24"]).unwrap_err().contains("is read as category: expected dates"));
        assert!(read(["45383", "9999"]).unwrap_err().contains("is read as count"));
    }

    #[test]
    fn a_column_whose_points_may_part_thousands_is_told() {
        let rows = ["1.234", "950", "12.500"].map(|cell| vec!["A".to_owned(), cell.to_owned()]);
        let note = doubt(&Column::new("People", ValueType::Number, ""), &rows, 1).unwrap();
        assert!(note.starts_with("decimals, such as `1.234`: if its points"), "{note}");
        assert_eq!(doubt(&Column::new("People", ValueType::Number, ""), &rows[..2], 1), None);
    }

    #[test]
    fn columns_of_one_title_keep_their_own_cells() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.csv");
        std::fs::write(&path, "Country,Area (ha),Area (acres),Note,Note\nA,10,24.7,x,y\n").unwrap();
        let (schema, records) = read_table(&path, None).unwrap();
        assert_eq!(records[0].cells, ["A", "10", "24.7", "x", "y"]);
        let units: Vec<&str> = schema.columns.iter().map(|column| column.unit.as_str()).collect();
        assert_eq!(units, ["", "ha", "acres", "", ""]);
        let column = |title, kind| Column::new(title, kind, "");
        let by_heads = ["Area (acres)", "Area (ha)"].map(|title| column(title, ValueType::Number));
        let columns = [vec![column("Country", ValueType::Name)], by_heads.to_vec()].concat();
        let (_, records) = read_table(&path, Some(Schema { columns, ..Schema::default() })).unwrap();
        assert_eq!(records[0].cells, ["A", "24.7", "10"]);
        let twice = ["Country", "Area", "Area (ha)"].map(|title| column(title, ValueType::Number)).to_vec();
        let refused = read_table(&path, Some(Schema { columns: twice, ..Schema::default() })).unwrap_err().to_string();
        assert!(refused.contains("two columns of the schema are its column `Area (ha)`"), "{refused}");
    }
}

//! The global table: rows are entities, columns are attributes (section 3, step 4).

use super::column::Schema;
use super::value::{CellValue, day, folded, form, read_cell};
use crate::line::End;
use crate::stage::{Made, Unit};
use closeread_books::{Book, TextError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Key of the column that says of which time a document is: it settles conflicts and is not asked about.
pub const DOCUMENT_DATE: &str = "document_date";

/// The values that a document states, or a line of a ready table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Ids of the documents that state them.
    pub documents: Vec<String>,
    /// Cells, one a column, the name first.
    pub cells: Vec<CellValue>,
    /// Day of the month in [`DOCUMENT_DATE`], where a line names one: it tells which of two documents is the later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<u8>,
}

/// A row of the global table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the entity that the row is about.
    pub name: String,
    /// Cells, one a column, the name first.
    pub cells: Vec<CellValue>,
    /// The documents it comes from, in their order.
    pub documents: Vec<String>,
    /// Conflicts, where documents contradict each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
}

/// Documents that give different values of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conflict {
    /// Key of the column.
    pub column: String,
    /// The value that stands in the table: that of the latest document.
    pub kept: Statement,
    /// Statements of the other documents.
    pub others: Vec<Statement>,
}

/// A value with the documents that state it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// Value that is stated.
    pub value: CellValue,
    /// Ids of the documents that state it.
    pub documents: Vec<String>,
}

/// All readings of one entity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Said {
    pub(super) schema: Schema,
    /// Readings, the latest last.
    pub(super) readings: Vec<Reading>,
}

/// The readings by entity, in the order in which each comes first; two names are one if their letters, digits, `+` and `#`
/// are the same.
pub(super) fn entities(schema: &Schema, readings: &[Unit<Reading>]) -> Vec<Unit<Said>> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut entities: Vec<Unit<Said>> = Vec::new();
    for Unit { input: reading, .. } in readings {
        let Some(CellValue::Text { text: name }) = reading.cells.first() else { continue };
        let place = *places.entry(form(name)).or_insert(entities.len());
        if place == entities.len() {
            entities.push(Unit { id: name.clone(), input: Said { schema: schema.clone(), readings: Vec::new() } });
        }
        entities[place].input.readings.push(reading.clone());
    }
    for entity in &mut entities {
        if let Some((at, _)) = schema.column(DOCUMENT_DATE) {
            // A stable sort: of the same time, the later in the order of the documents counts.
            let month = |reading: &Reading| reading.cells.get(at).map_or_else(String::new, CellValue::to_string);
            entity.input.readings.sort_by_key(|reading| (month(reading), reading.day));
        }
    }
    entities
}

/// Merges all readings to one row: of values that differ that of the latest document counts, as CorpusQA's prompt says.
pub(super) fn merged(name: &str, said: &Said) -> Made<Row> {
    let mut row = Row { name: name.to_owned(), cells: Vec::new(), documents: Vec::new(), conflicts: Vec::new() };
    for reading in &said.readings {
        for document in &reading.documents {
            if !row.documents.contains(document) {
                row.documents.push(document.clone());
            }
        }
    }
    for (at, column) in said.schema.columns.iter().enumerate() {
        let mut statements: Vec<Statement> = Vec::new();
        for reading in said.readings.iter().rev() {
            let Some(value) = reading.cells.get(at).filter(|value| **value != CellValue::Missing) else { continue };
            match statements.iter_mut().find(|statement| statement.value.is_same(value)) {
                Some(known) => known.documents.extend(reading.documents.clone()),
                None => statements.push(Statement { value: value.clone(), documents: reading.documents.clone() }),
            }
        }
        let mut statements = statements.into_iter();
        let kept = statements.next();
        let value = kept.as_ref().map_or(CellValue::Missing, |kept| kept.value.clone());
        row.cells.push(if at == 0 { CellValue::Text { text: name.to_owned() } } else { value });
        let others: Vec<Statement> = statements.collect();
        if let Some(kept) = kept.filter(|_| !others.is_empty() && column.key != DOCUMENT_DATE) {
            row.conflicts.push(Conflict { column: column.key.clone(), kept, others });
        }
    }
    Made::of(End::Kept { value: row })
}

/// A line of a ready table, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Line of the file, from 1.
    pub line: usize,
    /// Cells of the line in the order of the schema.
    pub cells: Vec<String>,
    /// Documents that the line names; empty: they are looked for.
    pub documents: Vec<String>,
}

/// Lines as units, named by their line.
pub fn records(records: Vec<Record>) -> Vec<Unit<Record>> {
    records.into_iter().map(|record| Unit { id: format!("line-{}", record.line), input: record }).collect()
}

/// A line with what it is read by: the schema, and the documents that it is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Lined {
    pub(super) record: Record,
    pub(super) schema: Schema,
    /// Ids of the documents that it is about.
    pub(super) documents: Vec<String>,
}

/// Reads a line: one with a cell that cannot be read is dropped, and so is one without a document.
pub(super) fn read_record(lined: &Lined, allow_missing: bool) -> Made<Reading> {
    let Lined { record, schema, documents } = lined;
    let mut cells = Vec::new();
    let mut problems = Vec::new();
    for (column, text) in schema.columns.iter().zip(&record.cells) {
        match read_cell(text, column) {
            Ok(CellValue::Missing) if !allow_missing || cells.is_empty() => {
                problems.push(format!("{} is empty", column.key));
            }
            Ok(value) => cells.push(value),
            Err(problem) => problems.push(problem.to_string()),
        }
    }
    if !problems.is_empty() {
        return Made::of(End::dropped("unreadable", format!("line {}: {}", record.line, problems.join("; "))));
    }
    Made::of(match documents.is_empty() {
        true => {
            let (line, name) = (record.line, &record.cells[0]);
            let detail = match record.documents.join("`, `") {
                named if named.is_empty() => format!(
                    "line {line}: no document is about `{name}`: no id, title or first line holds it; a column \
                     `document` can name one"
                ),
                named => format!(
                    "line {line}: no document that was kept is called `{named}`: an id is a file's name without its ending"
                ),
            };
            End::dropped("no document", detail)
        }
        false => End::Kept {
            value: Reading {
                documents: documents.clone(),
                cells,
                day: schema.column(DOCUMENT_DATE).and_then(|(at, _)| day(record.cells.get(at)?)),
            },
        },
    })
}

/// The documents by what names them, letters and digits only.
pub(super) struct Catalogue(Vec<Entry>);

struct Entry {
    id: String,
    /// Names of the document: the last part of the id, and the title.
    names: [String; 2],
    /// First line of the text, where it is short enough for a heading.
    heading: String,
}

/// Most characters that a heading may have.
const HEADING: usize = 200;

impl Catalogue {
    /// Makes the catalogue of these books.
    pub(super) fn of(books: &[&Arc<Book>]) -> Result<Self, TextError> {
        let named = |book: &&Arc<Book>| {
            let last = book.id.rsplit('/').next().unwrap_or(&book.id);
            let text = book.text()?;
            let first =
                text.source()[book.body().range()].lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let heading = if first.chars().count() <= HEADING { folded(first) } else { String::new() };
            Ok(Entry { id: book.id.clone(), names: [folded(last), folded(&book.title)], heading })
        };
        Ok(Self(books.iter().map(named).collect::<Result<_, TextError>>()?))
    }

    /// The documents that are called so; where none is, those in whose id or title the name stands, or else in whose first
    /// line, if no longer name of `names` stands there as well.
    pub(super) fn about(&self, name: &str, names: &[String]) -> Vec<String> {
        let name = folded(name);
        if name.is_empty() {
            return Vec::new();
        }
        let longer: Vec<&String> = names.iter().filter(|other| **other != name && other.contains(&name)).collect();
        let holds = |known: &String| known.contains(&name) && !longer.iter().any(|other| known.contains(*other));
        let ids = |is: &dyn Fn(&Entry) -> bool| -> Vec<String> {
            self.0.iter().filter(|entry| is(entry)).map(|entry| entry.id.clone()).collect()
        };
        let exact = ids(&|entry| entry.names.contains(&name));
        let named = || ids(&|entry| entry.names.iter().any(holds));
        let headed = || ids(&|entry| holds(&entry.heading));
        let found = |ids: Vec<String>| (!ids.is_empty()).then_some(ids);
        found(exact).or_else(|| found(named())).unwrap_or_else(headed)
    }
}

/// Counts where documents contradict each other, by column.
pub(super) fn conflicts(rows: &[Row]) -> BTreeMap<&str, usize> {
    let mut n = BTreeMap::new();
    for conflict in rows.iter().flat_map(|row| &row.conflicts) {
        *n.entry(conflict.column.as_str()).or_default() += 1;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::super::Column;
    use super::*;
    use crate::corpusqa::ValueType;
    use closeread_books::ReadOptions;

    fn schema(keys: &[(&str, ValueType)]) -> Schema {
        let columns = keys.iter().map(|(key, value_type)| Column::new(key, *value_type, "")).collect();
        Schema { columns, ..Schema::default() }
    }

    fn reading(document: &str, cells: &[&str], schema: &Schema) -> Unit<Reading> {
        let cells = cells.iter().map(|cell| (*cell).to_owned()).collect();
        let record = Record { line: 1, cells, documents: Vec::new() };
        let lined = Lined { record, schema: schema.clone(), documents: vec![document.to_owned()] };
        let End::Kept { value } = read_record(&lined, true).end else { panic!("a line is kept") };
        Unit { id: document.to_owned(), input: value }
    }

    #[test]
    fn of_values_that_differ_the_latest_document_counts_and_the_others_are_listed() {
        let schema =
            schema(&[("name", ValueType::Name), ("beds", ValueType::Count), (DOCUMENT_DATE, ValueType::YearMonth)]);
        let readings = [
            reading("b", &["Saint Ana", "120", "2024-05"], &schema),
            reading("a", &["Saint-Ana", "110", "2023-05"], &schema),
            reading("c", &["Bo", "7", ""], &schema),
            reading("d", &["SAINT ANA", "110.0", "2022-01"], &schema),
        ];
        let entities = entities(&schema, &readings);
        assert_eq!(entities.iter().map(|unit| unit.id.as_str()).collect::<Vec<_>>(), ["Saint Ana", "Bo"]);
        let End::Kept { value: row } = merged("Saint Ana", &entities[0].input).end else { panic!("a row is kept") };
        assert_eq!(row.cells[1], CellValue::Number { value: 120.0 });
        assert_eq!(row.documents, ["d", "a", "b"]);
        let conflict = &row.conflicts[0];
        assert_eq!((row.conflicts.len(), conflict.kept.documents.as_slice()), (1, &["b".to_owned()][..]));
        assert_eq!(conflict.others[0].documents, ["a", "d"]);
    }

    #[test]
    fn of_two_documents_of_a_month_the_later_day_counts() {
        let schema =
            schema(&[("name", ValueType::Name), ("beds", ValueType::Count), (DOCUMENT_DATE, ValueType::YearMonth)]);
        for (early, late) in [("2024-05-03", "2024-05-31"), ("3 May 2024", "May 21st, 2024"), ("2024-05", "5/13/2024")]
        {
            let readings = [reading("a", &["Bo", "120", late], &schema), reading("b", &["Bo", "110", early], &schema)];
            let End::Kept { value: row } = merged("Bo", &entities(&schema, &readings)[0].input).end else { panic!() };
            assert_eq!(row.cells[1], CellValue::Number { value: 120.0 }, "{late}");
        }
    }

    #[test]
    fn names_that_differ_in_signs_are_things_of_their_own() {
        let schema = schema(&[("name", ValueType::Name), ("rating", ValueType::Category)]);
        let names = ["C", "C++", "C#", "c", "★", "★★"];
        let readings = names.map(|name| reading(name, &[name, "AA-"], &schema));
        let entities = entities(&schema, &readings);
        assert_eq!(entities.iter().map(|unit| unit.id.as_str()).collect::<Vec<_>>(), ["C", "C++", "C#", "★", "★★"]);
        let rating = |text: &str| CellValue::Text { text: text.to_owned() };
        assert!(!rating("AA-").is_same(&rating("AA+")) && rating("Saint-Ana").is_same(&rating("saint Ana.")));
    }

    #[test]
    fn documents_are_found_by_name() {
        let with = |id: &str, title: &str, text: &str| {
            Arc::new(Book::new(id, title, text.to_owned(), &ReadOptions::default()).unwrap())
        };
        let book = |id: &str, title: &str| with(id, title, "text");
        let long = format!("{} Cleo Court.", "A line that is no heading. ".repeat(20));
        let books = [
            book("x/Niger", "Niger"),
            book("x/nigeria", "Nigeria"),
            book("r1", "Report of Ana Homes for 2025"),
            with("r2", "r2", "\n# Bo House: report for 2025\n\nAna Homes did better.\n"),
            with("r3", "r3", &long),
        ];
        let catalogue = Catalogue::of(&books.iter().collect::<Vec<_>>()).unwrap();
        let names = ["niger", "nigeria", "anahomes", "bohouse", "cleocourt"].map(str::to_owned);
        assert_eq!(catalogue.about("Niger", &names), ["x/Niger"]);
        assert_eq!(catalogue.about("Ana Homes", &names), ["r1"]);
        assert_eq!(catalogue.about("Bo House", &names), ["r2"], "by its first line");
        assert_eq!(catalogue.about("Cleo Court", &names), [""; 0]);
        assert_eq!(catalogue.about("Chad", &names), [""; 0]);
    }
}

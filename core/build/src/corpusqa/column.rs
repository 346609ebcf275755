//! The columns of the global table, and what is known of them.

use super::unit::Unit;
use super::value::{CellValue, read_cell};
use closeread_prompts::variables::Field;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Most different words of a category: a column with more is not asked about as one.
const MOST_CATEGORIES: usize = 24;

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueType {
    /// A name; unique in the table.
    Name,
    /// One of a few words.
    Category,
    /// A whole number of things.
    Count,
    /// A whole amount of the unit's currency.
    Money,
    /// Any other number, in the column's unit.
    Number,
    /// A share in percent.
    Percentage,
    /// A month, `YYYY-MM`.
    YearMonth,
}

impl ValueType {
    /// Its name, in schemas and prompts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Category => "category",
            Self::Count => "count",
            Self::Money => "money",
            Self::Number => "number",
            Self::Percentage => "percentage",
            Self::YearMonth => "year-month",
        }
    }
}

/// A column of the global table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Name in the database: a letter, then letters, digits and `_`, unique in the table.
    pub key: String,
    /// Name in questions.
    pub title: String,
    /// What its cells are.
    #[serde(rename = "type")]
    pub value_type: ValueType,
    /// Unit of its numbers, such as `EUR`, `USD million` or `sq km`; empty where there is none.
    #[serde(default)]
    pub unit: String,
    /// What is looked for in a document, for who extracts; empty: the title says it.
    #[serde(default)]
    pub meaning: String,
}

/// What the rows of the table are, in the singular and in the plural, as questions name them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// `cooperative`.
    pub one: String,
    /// `cooperatives`.
    pub many: String,
}

impl Default for Entity {
    fn default() -> Self {
        Self { one: "entity".to_owned(), many: "entities".to_owned() }
    }
}

/// What the table is made of: its first column is the name of the entity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// What a row is.
    #[serde(default)]
    pub entity: Entity,
    /// The columns.
    pub columns: Vec<Column>,
}

/// Why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The first column is no name.
    #[error("the first column must have the type `name`: it says what a row is about")]
    NoName,
    /// A second column of names.
    #[error(
        "column `{0}` is a second one of the type `name`: expected one, the first; give this one the type `category`"
    )]
    Names(String),
    /// A key that a database cannot have.
    #[error("column `{0}`: expected a key of lower-case letters, digits and `_`, beginning with a letter")]
    Key(String),
    /// A key that is there twice.
    #[error("two columns have the key `{0}`: rename one")]
    Twice(String),
    /// Nothing to ask about.
    #[error("no column holds a number, a category or a date: there is nothing to ask about")]
    Nothing,
}

impl Schema {
    /// Holds a schema to what the pipeline needs.
    ///
    /// # Errors
    /// [`SchemaError`].
    pub fn checked(self) -> Result<Self, SchemaError> {
        if self.columns.first().is_none_or(|column| column.value_type != ValueType::Name) {
            return Err(SchemaError::NoName);
        }
        let mut seen = BTreeSet::new();
        for column in &self.columns {
            if key_of(&column.key) != column.key {
                return Err(SchemaError::Key(column.key.clone()));
            }
            if !seen.insert(column.key.as_str()) {
                return Err(SchemaError::Twice(column.key.clone()));
            }
        }
        if let Some(other) = self.columns.iter().skip(1).find(|column| column.value_type == ValueType::Name) {
            return Err(SchemaError::Names(other.key.clone()));
        }
        if self.columns.len() < 2 {
            return Err(SchemaError::Nothing);
        }
        Ok(self)
    }

    /// The column of that key with its place.
    pub fn column(&self, key: &str) -> Option<(usize, &Column)> {
        self.columns.iter().enumerate().find(|(_, column)| column.key == key)
    }
}

impl Column {
    /// The column as prompts show it that ask about a document.
    pub(super) fn as_field(&self) -> Field<'_> {
        let Self { key, title, value_type, unit, meaning } = self;
        Field { key, title, r#type: value_type.name(), unit, meaning }
    }

    /// A column of that title, whose key is made from it.
    pub fn new(title: &str, value_type: ValueType, unit: &str) -> Self {
        let (key, title, unit) = (key_of(title), title.trim().to_owned(), unit.trim().to_owned());
        Self { key, title, value_type, unit, meaning: String::new() }
    }

    /// True for numbers of any type.
    pub fn is_number(&self) -> bool {
        use ValueType::{Count, Money, Number, Percentage};
        matches!(self.value_type, Count | Money | Number | Percentage)
    }

    /// The title with the unit, as a question names it.
    pub fn named(&self) -> String {
        let unit = self.unit.trim();
        let told = unit.is_empty() || unit == "%" || self.title.to_lowercase().contains(&unit.to_lowercase());
        if told { self.title.clone() } else { format!("{} ({unit})", self.title) }
    }
}

/// A title as a key: lower case, every other character as `_`. Chinese and other letters stay; a key that begins with no
/// letter gets a `c` before it.
pub fn key_of(title: &str) -> String {
    let mut key = String::new();
    for c in title.trim().chars().flat_map(char::to_lowercase) {
        match c.is_alphanumeric() {
            true => key.push(c),
            false if !key.ends_with('_') && !key.is_empty() => key.push('_'),
            false => {}
        }
    }
    let key = key.trim_end_matches('_').to_owned();
    match key.chars().next() {
        None => "column".to_owned(),
        Some(first) if first.is_alphabetic() => key,
        Some(_) => format!("c{key}"),
    }
}

/// The columns of a table as it is, by its header and all its cells (`rows` of texts): the first column is the name; a column
/// is what all of its cells that say something can be read as. A unit stands in the header, in brackets.
pub fn inferred(header: &[String], rows: &[Vec<String>]) -> Schema {
    let mut columns: Vec<Column> = Vec::new();
    for (at, head) in header.iter().enumerate() {
        let cells: Vec<&str> = rows.iter().filter_map(|row| row.get(at)).map(String::as_str).collect();
        let (title, unit) = title_and_unit(head);
        let value_type = if at == 0 { ValueType::Name } else { type_of(&cells, unit) };
        let unit = if value_type == ValueType::Percentage { "%" } else { unit };
        let mut column = Column::new(title, value_type, unit);
        let taken = |key: &str| columns.iter().any(|other: &Column| other.key == key);
        if taken(&column.key) {
            let n = (2..).find(|n| !taken(&format!("{}_{n}", column.key))).unwrap_or(2);
            column.key = format!("{}_{n}", column.key);
        }
        columns.push(column);
    }
    Schema { entity: Entity::default(), columns }
}

/// `Revenue (USD million)` is the title `Revenue` in the unit `USD million`.
fn title_and_unit(head: &str) -> (&str, &str) {
    let head = head.trim();
    for (open, close) in [('(', ')'), ('（', '）'), ('[', ']')] {
        let Some((title, rest)) = head.rsplit_once(open) else { continue };
        if let Some(unit) = rest.strip_suffix(close).filter(|_| !title.trim().is_empty()) {
            return (title.trim(), unit.trim());
        }
    }
    (head, "")
}

fn type_of(cells: &[&str], unit: &str) -> ValueType {
    let reads_as = |value_type| {
        let column = Column::new("x", value_type, unit);
        let values: Vec<CellValue> = match cells.iter().map(|cell| read_cell(cell, &column)).collect() {
            Ok(values) => values,
            Err(_) => return None,
        };
        values.iter().any(|value| !matches!(value, CellValue::Missing)).then_some(values)
    };
    let has_sign = cells.iter().any(|cell| cell.contains(['%', '％']));
    if (has_sign || unit == "%") && reads_as(ValueType::Percentage).is_some() {
        return ValueType::Percentage;
    }
    let is_year = |cell: &&str| cell.len() == 4 && cell.parse().is_ok_and(|year: u16| (1500..=2100).contains(&year));
    let said = cells.iter().filter(|cell| !cell.trim().is_empty());
    if said.clone().next().is_some() && said.clone().all(is_year) && unit.is_empty() {
        return ValueType::YearMonth;
    }
    if let Some(values) = reads_as(ValueType::Number) {
        let whole = values.iter().all(|value| match value {
            CellValue::Number { value } => libm::trunc(*value) == *value,
            _ => true,
        });
        return match (Unit::read(unit).currency.is_some() || cells.iter().any(|cell| is_money(cell)), whole) {
            (true, _) => ValueType::Money,
            (false, true) => ValueType::Count,
            (false, false) => ValueType::Number,
        };
    }
    match reads_as(ValueType::YearMonth) {
        Some(_) => ValueType::YearMonth,
        None => ValueType::Category,
    }
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
                &["Country", "Area (sq km)", "GDP (USD million)", "Share", "Since", "Region", "Rate", "Share"],
                &[
                    &["Aa", "1,234", "$5", "4.5%", "1962-05", "west", "1.5", "x"],
                    &["Bb", "-", "7 billion", "12%", "May 1960", "", "2", "12"],
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
            ]
        );
    }

    #[test]
    fn a_schema_that_no_table_can_have_is_refused() {
        let column = |key: &str, value_type| Column { key: key.to_owned(), ..Column::new("t", value_type, "") };
        let of = |columns| Schema { columns, ..Schema::default() }.checked().unwrap_err();
        let name = || column("name", ValueType::Name);
        assert_eq!(of(vec![column("a", ValueType::Count)]), SchemaError::NoName);
        assert_eq!(of(vec![name()]), SchemaError::Nothing);
        assert_eq!(of(vec![name(), name()]), SchemaError::Twice("name".to_owned()));
        assert_eq!(of(vec![name(), column("b", ValueType::Name)]), SchemaError::Names("b".to_owned()));
        for key in ["a b", "1a", "A", "a\"; DROP TABLE corpus", ""] {
            assert_eq!(of(vec![name(), column(key, ValueType::Count)]), SchemaError::Key(key.to_owned()), "{key}");
        }
    }

    #[test]
    fn keys_are_made_from_titles() {
        for (title, key) in [
            ("Income from charges", "income_from_charges"),
            (" % of total ", "of_total"),
            ("2024 sales", "c2024_sales"),
            ("营业收入", "营业收入"),
            ("--", "column"),
        ] {
            assert_eq!((key_of(title).as_str(), key_of(&key_of(title))), (key, key.to_owned()));
        }
    }
}

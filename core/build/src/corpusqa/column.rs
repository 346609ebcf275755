//! The columns of the global table, and what is known of them.

use closeread_prompts::variables::Field;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The type of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueType {
    /// A name; unique in the table.
    Name,
    /// One of a few words of a category.
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
    /// Returns the type's name, in schemas and prompts.
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
    /// Type of the cells.
    #[serde(rename = "type")]
    pub value_type: ValueType,
    /// Unit of its numbers, such as `EUR`, `USD million` or `sq km`; empty where there is none.
    #[serde(default)]
    pub unit: String,
    /// Description of what to look for in a document, for the model that extracts; empty: the title says it.
    #[serde(default)]
    pub meaning: String,
    /// Words that most of its numbers have beside them, such as a unit that the head does not name; `None`: not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<String>>,
}

/// The entity that each row of the table is about, in the singular and in the plural, as questions name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// Name in the singular, such as `cooperative`.
    pub one: String,
    /// Name in the plural, such as `cooperatives`.
    pub many: String,
}

impl Default for Entity {
    fn default() -> Self {
        Self { one: "entity".to_owned(), many: "entities".to_owned() }
    }
}

/// The schema of the table: its first column is the name of the entity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// Entity that a row is about.
    #[serde(default)]
    pub entity: Entity,
    /// The columns.
    pub columns: Vec<Column>,
}

/// The reason why a schema cannot be used.
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
    /// The schema has no column to ask about.
    #[error("no column holds a number, a category or a date: there is nothing to ask about")]
    Nothing,
}

/// A text as a unit, without the word `unit:` before it: empty for what says none, a year or a word such as `est.` and `max`, as
/// in `Revenue (2023)`.
pub(super) fn as_unit(text: &str) -> &str {
    static REMARK: LazyLock<Regex> = LazyLock::new(|| {
        let year = r"(?:[0-9]{1,2}[./-])*(?:1[5-9]|2[01])[0-9]{2}(?:\s*[-–/]\s*[0-9]{2,4})?年?";
        let words = "est|estimated?|max|maximum|min|minimum|all|total|avg|average|mean|median|latest|current|approx|best|year|no";
        let chinese = "估计|估計|预计|預計|最大|最小|最高|最低|平均|总计|總計|合计|合計";
        Regex::new(&format!(r"(?i)^(?:{year}|(?:{words})\.?|{chinese})$")).expect("a valid pattern")
    });
    static NAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)^(?:单位|單位|units?)\s*[:：]\s*").expect("a valid pattern"));
    let text = text.trim();
    let text = NAME.find(text).map_or(text, |name| &text[name.end()..]);
    if REMARK.is_match(text) { "" } else { text }
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
        let Self { key, title, value_type, unit, meaning, .. } = self;
        Field { key, title, r#type: value_type.name(), unit, meaning }
    }

    /// A column of that title, whose key is made from it.
    pub fn new(title: &str, value_type: ValueType, unit: &str) -> Self {
        let (key, title, unit) = (key_of(title), title.trim().to_owned(), unit.trim().to_owned());
        Self { key, title, value_type, unit, meaning: String::new(), words: None }
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

#[cfg(test)]
mod tests {
    use super::*;

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

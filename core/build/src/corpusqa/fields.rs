//! Fields of the table: one model proposes them from a few documents, and several vote on them (section 3, step 2).

use super::column::ValueType;
use super::column::{Column, Entity, Schema, SchemaError, key_of};
use super::consensus::is_clear;
use crate::ask;
use crate::line::End;
use crate::stage::{Made, Unit};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, TextError};
use closeread_eval::answer::json::json_values;
use closeread_eval::rows::scalar;
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use closeread_prompts::builds::{CorpusQaFieldVotes, CorpusQaFields};
use closeread_prompts::variables::Titled;
use closeread_text::Language;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Documents that fields are proposed from and voted on.
pub(super) const SAMPLED: usize = 3;
/// Tokens of each that are shown.
const SHOWN: usize = 6_000;
/// Fields that are asked for, the name not counted.
const WANTED: usize = 12;

/// The fields that a model says a document states: whether it states a value, by key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stated {
    /// Whether a value is stated, by key of the field.
    pub stated: BTreeMap<String, bool>,
}

/// The look of one model at one document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Look {
    /// Number of the model.
    pub(super) by: usize,
    pub(super) document: String,
    pub(super) schema: Schema,
}

/// A field with its votes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Elected {
    pub(super) column: Column,
    /// Looks that found it stated.
    pub(super) votes: usize,
    /// Looks; 0 where the schema was given and nobody was asked.
    pub(super) of: usize,
}

/// The beginning of a document, as far as it is shown.
pub(super) fn shown(book: &Book, tokenizer: &Tokenizer) -> Result<String, TextError> {
    let text = book.text()?;
    let text = text.source();
    let ends = tokenizer.token_ends(text);
    Ok(match ends.get(SHOWN) {
        None => text.to_owned(),
        Some(&end) => {
            let end = (0..=end).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            text[..end].to_owned()
        }
    })
}

/// The prompt that proposes; the first document says the language.
pub(super) fn prompt<'p>(books: &[&'p Arc<Book>], tokenizer: &Tokenizer) -> Result<CorpusQaFields<'p>, TextError> {
    let document = |book: &&'p Arc<Book>| Ok(Titled { title: &book.title, text: shown(book, tokenizer)?.into() });
    let documents = books.iter().map(document).collect::<Result<_, TextError>>()?;
    let language = books.first().map_or(Language::ENGLISH, |book| book.language);
    Ok(CorpusQaFields { documents, n: WANTED, language })
}

/// Has a model propose the fields.
pub(super) async fn propose<H: Host>(
    host: &H,
    settings: Settings<'_>,
    books: &[&Arc<Book>],
) -> Result<Made<Schema>, MethodError> {
    ask::one(host, settings, &prompt(books, settings.tokenizer)?, "", |response, _| read(response)).await
}

/// The reason why a response gives no fields.
#[derive(Debug, thiserror::Error)]
enum FieldsError {
    #[error("it holds no JSON object with fields")]
    NoObject,
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

fn read(response: &str) -> Result<Schema, FieldsError> {
    let mut problem = FieldsError::NoObject;
    for value in json_values(response).into_iter().rev() {
        let Some(fields) = value.get("fields").and_then(Value::as_array) else { continue };
        let word = |name: &str| value.pointer(&format!("/entity/{name}")).and_then(scalar);
        let entity = match (word("one"), word("many")) {
            (Some(one), Some(many)) => Entity { one, many },
            _ => Entity::default(),
        };
        let columns = std::iter::once(Column::new("name", ValueType::Name, "")).chain(fields.iter().filter_map(column));
        let mut schema = Schema { entity, columns: Vec::new() };
        for column in columns {
            // The name and as many as were asked for: each further one would be in the prompt of every extraction.
            if schema.columns.len() <= WANTED && schema.column(&column.key).is_none() {
                schema.columns.push(column);
            }
        }
        match schema.checked() {
            Ok(schema) => return Ok(schema),
            Err(error) => problem = error.into(),
        }
    }
    Err(problem)
}

fn column(field: &Value) -> Option<Column> {
    let text = |name: &str| field.get(name).and_then(scalar).unwrap_or_default();
    let title = field.get("title").and_then(scalar).filter(|title| !title.is_empty())?;
    let value_type = serde_json::from_value(json!(text("type").to_lowercase())).ok()?;
    let unit = if value_type == ValueType::Percentage { "%".to_owned() } else { text("unit") };
    let is_name = value_type == ValueType::Name || key_of(&title) == "name";
    let column = Column { meaning: text("meaning"), ..Column::new(&title, value_type, &unit) };
    (!is_name).then_some(column)
}

#[derive(Debug, thiserror::Error)]
#[error("expected true or false for every key")]
struct NoVotes;

/// The prompt of a vote, given what is [`shown`] of the document.
pub(super) fn look_prompt<'p>(book: &'p Book, text: &'p str, schema: &'p Schema) -> CorpusQaFieldVotes<'p> {
    CorpusQaFieldVotes { title: &book.title, text, fields: schema.columns.iter().map(Column::as_field).collect() }
}

/// Has a model say which fields a document states.
pub(super) async fn look<H: Host>(
    host: &H,
    settings: Settings<'_>,
    book: &Book,
    schema: &Schema,
) -> Result<Made<Stated>, MethodError> {
    let text = shown(book, settings.tokenizer)?;
    ask::one(host, settings, &look_prompt(book, &text, schema), "", |response, _| {
        let yes = |value: &Value| match value {
            Value::Bool(yes) => Some(*yes),
            Value::String(text) => match text.trim().to_lowercase().as_str() {
                "yes" | "true" => Some(true),
                "no" | "false" => Some(false),
                _ => None,
            },
            _ => None,
        };
        let of = |value: Value| -> Option<BTreeMap<String, bool>> {
            let votes = schema.columns.iter().map(|column| Some((column.key.clone(), yes(value.get(&column.key)?)?)));
            votes.collect()
        };
        let stated = json_values(response).into_iter().rev().find_map(of);
        stated.map(|stated| Stated { stated }).ok_or(NoVotes)
    })
    .await
}

/// The fields with their votes, one unit each.
pub(super) fn elections(schema: &Schema, looks: &[Unit<Stated>], given: bool) -> Vec<Unit<Elected>> {
    let of = |column: &Column| {
        let votes = looks.iter().filter(|look| look.input.stated.get(&column.key).copied().unwrap_or_default()).count();
        let (votes, of) = if given { (0, 0) } else { (votes, looks.len()) };
        Unit { id: column.key.clone(), input: Elected { column: column.clone(), votes, of } }
    };
    schema.columns.iter().map(of).collect()
}

/// Keeps the name, what was given, and what the clear majority of all looks found.
pub(super) fn elected(field: &Elected) -> Made<Column> {
    let Elected { column, votes, of } = field;
    let keeps = column.value_type == ValueType::Name || *of == 0 || is_clear(*votes, *of);
    Made::of(match keeps {
        true => End::Kept { value: column.clone() },
        false => End::dropped("no majority", format!("{votes} of {of} found it stated")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_with_a_name_before_them() {
        let response = r#"{"entity": {"one": "bank", "many": "banks"}, "fields": [
            {"title": "Name", "type": "name"}, {"title": "Net profit", "type": "money", "unit": "EUR million", "meaning": "after tax"},
            {"title": "Margin", "type": "percentage", "unit": "per cent"}, {"title": "Net profit", "type": "count"}, {"title": "X", "type": "odd"}]}"#;
        let schema = read(response).unwrap();
        let keys: Vec<&str> = schema.columns.iter().map(|column| column.key.as_str()).collect();
        assert_eq!((keys, schema.entity.many.as_str()), (vec!["name", "net_profit", "margin"], "banks"));
        assert_eq!((schema.columns[1].meaning.as_str(), schema.columns[2].unit.as_str()), ("after tax", "%"));
        assert_eq!(read("{}").unwrap_err().to_string(), "it holds no JSON object with fields");
        assert!(read(r#"{"fields": []}"#).unwrap_err().to_string().contains("nothing to ask about"));
        let many: Vec<Value> = (0..99).map(|n| json!({"title": format!("f{n}"), "type": "count"})).collect();
        let schema = read(&json!({"fields": many}).to_string()).unwrap();
        assert_eq!(
            (schema.columns.len(), &*schema.columns[WANTED].key),
            (1 + WANTED, "f11"),
            "no more than are asked for"
        );
    }
}

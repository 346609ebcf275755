//! Values out of documents: several models, several queries a field (section 3, step 2).

use super::column::{Column, Schema};
use super::consensus::{Consensus, Vote, clear_majority};
use super::global::Reading;
use super::value::{CellValue, read_stated};
use crate::ask;
use crate::line::End;
use crate::stage::{Made, Unit};
use closeread_books::Book;
use closeread_eval::answer::json::json_values;
use closeread_eval::rows::scalar;
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use closeread_prompts::builds::CorpusQaExtract;
use closeread_prompts::variables::Field;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The query that has one model read one document once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Query {
    pub(super) document: String,
    /// SHA-256 of the document's text.
    pub(super) sha256: String,
    /// Number of the model.
    pub(super) by: usize,
    /// Number of the query: each asks for the fields in another order.
    pub(super) round: usize,
    pub(super) schema: Schema,
}

/// The statements of a model on the fields of a document, by key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extraction {
    /// Values by key; a field that the response leaves out is not there.
    pub fields: BTreeMap<String, StatedValue>,
}

/// A value as a document states it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedValue {
    /// The value; empty: the document does not state it.
    pub value: String,
    /// Unit of the value, magnitude included.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Words of the document that hold it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
}

/// All extractions of a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Ballots {
    pub(super) document: String,
    pub(super) schema: Schema,
    /// Extractions, each with the name of its model; `None` for a response that could not be used.
    pub(super) extractions: Vec<(String, Option<Extraction>)>,
}

/// The values of a document that have a clear majority, and all votes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreed {
    /// Values, one a column.
    pub reading: Reading,
    /// The votes, one list a column.
    pub fields: Vec<FieldVotes>,
}

/// The votes on a field, and their consensus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldVotes {
    /// Key of the column.
    pub key: String,
    /// Consensus of the votes.
    pub consensus: Consensus,
    /// All votes on the field.
    pub votes: Vec<Vote>,
    /// Words of the document that hold the value, as the first vote for it quoted them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
}

/// The order of `n` fields in the query with this number: turned by thirds, every second time backwards.
fn order(n: usize, round: usize) -> Vec<usize> {
    // Of four fields a half would come round at the third query.
    let turn = match n {
        0..=2 => 0,
        4 => 1,
        n => n.div_ceil(3),
    };
    let mut order: Vec<usize> = (0..n).collect();
    order.rotate_left((round * turn) % n.max(1));
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

/// The number of queries, at most `most`, that each ask for `n` fields in an order of their own. One that asks as an earlier one
/// would get that one's remembered response, and a single response would count as two votes.
pub(super) fn rounds(n: usize, most: usize) -> usize {
    let most = most.max(1);
    (1..most).find(|&round| order(n, round) == order(n, 0)).unwrap_or(most)
}

/// The prompt, with the fields in the order of the query's number.
pub(super) fn prompt<'p>(book: &'p Book, text: &'p str, schema: &'p Schema, round: usize) -> CorpusQaExtract<'p> {
    let order = order(schema.columns.len(), round).into_iter();
    let fields: Vec<Field<'p>> = order.map(|at| schema.columns[at].as_field()).collect();
    CorpusQaExtract { title: &book.title, text, entity: &schema.entity.one, fields }
}

/// Has a model read a document.
pub(super) async fn extract<H: Host>(
    host: &H,
    settings: Settings<'_>,
    book: &Book,
    query: &Query,
) -> Result<Made<Extraction>, MethodError> {
    let text = book.text()?;
    let text = text.source();
    ask::one(host, settings, &prompt(book, text, &query.schema, query.round), text, |response, last| {
        read(response, &query.schema, last)
    })
    .await
}

/// The reason why a response does not give every field.
#[derive(Debug, thiserror::Error)]
enum ExtractionError {
    #[error("it holds no JSON object with the fields as keys")]
    NoObject,
    #[error("these fields are left out: {}", .0.join(", "))]
    LeftOut(Vec<String>),
}

/// The values of a response; at the last attempt fields may be left out.
fn read(response: &str, schema: &Schema, last: bool) -> Result<Extraction, ExtractionError> {
    let mut problem = ExtractionError::NoObject;
    for value in json_values(response).into_iter().rev() {
        let value = value.get("fields").cloned().unwrap_or(value);
        let fields: BTreeMap<String, StatedValue> = schema
            .columns
            .iter()
            .filter_map(|column| Some((column.key.clone(), stated(value.get(&column.key)?)?)))
            .collect();
        let missing: Vec<String> =
            schema.columns.iter().map(|column| column.key.clone()).filter(|key| !fields.contains_key(key)).collect();
        if missing.is_empty() || last && !fields.is_empty() {
            return Ok(Extraction { fields });
        }
        if !fields.is_empty() {
            problem = ExtractionError::LeftOut(missing);
        }
    }
    Err(problem)
}

fn stated(value: &Value) -> Option<StatedValue> {
    match value {
        Value::Null => Some(StatedValue::default()),
        Value::Object(fields) => {
            // Neither several values nor none says that the document states none: the model is asked again.
            let value = match fields.get("value")? {
                Value::Array(list) => list.first().filter(|_| list.len() == 1)?,
                Value::Object(_) => return None,
                value => value,
            };
            let text = |value: Option<&Value>| value.and_then(scalar).unwrap_or_default();
            Some(StatedValue {
                value: text(Some(value)),
                unit: text(fields.get("unit")),
                quote: text(fields.get("quote")),
            })
        }
        other => Some(StatedValue { value: scalar(other)?, ..StatedValue::default() }),
    }
}

/// The votes of all extractions on each field, and the reading that they agree on.
///
/// A document that fails in any field is dropped, as in the paper; with `allow_missing` a field that the clear majority did
/// not find stays empty, unless it is the name.
pub(super) fn agree(ballots: &Ballots, allow_missing: bool) -> Made<Agreed> {
    let (mut fields, mut cells, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for (at, column) in ballots.schema.columns.iter().enumerate() {
        let mut votes = Vec::new();
        for (by, extraction) in &ballots.extractions {
            let found = extraction.as_ref().and_then(|extraction| extraction.fields.get(&column.key));
            let Some(found) = found else {
                let problem = "the response left it out".to_owned();
                votes.push(Vote { by: by.clone(), value: CellValue::Missing, stated: String::new(), problem });
                continue;
            };
            let (value, problem) = match read_stated(&found.value, &found.unit, column) {
                Ok(value) => (value, String::new()),
                Err(problem) => (CellValue::Missing, problem.to_string()),
            };
            let stated = [found.value.trim(), found.unit.trim()].join(" ").trim().to_owned();
            votes.push(Vote { by: by.clone(), value, stated, problem });
        }
        let consensus = clear_majority(&votes);
        let mut quote = String::new();
        match &consensus {
            Consensus::Agreed { value, .. } => {
                let voters = votes.iter().zip(&ballots.extractions).filter(|(vote, _)| vote.value.is_same(value));
                let quotes =
                    voters.filter_map(|(_, (_, made))| Some(made.as_ref()?.fields.get(&column.key)?.quote.as_str()));
                quote = quotes.filter(|quote| !quote.is_empty()).map(str::to_owned).next().unwrap_or_default();
                cells.push(value.clone());
            }
            Consensus::Absent { votes, of } => {
                if !allow_missing || at == 0 {
                    failed.push(format!("{} (not found by {votes} of {of})", column.key));
                }
                cells.push(CellValue::Missing);
            }
            Consensus::Split { most, of } => {
                failed.push(format!("{} (at most {most} of {of} agree)", column.key));
                cells.push(CellValue::Missing);
            }
        }
        fields.push(FieldVotes { key: column.key.clone(), consensus, votes, quote });
    }
    if !failed.is_empty() {
        return Made::of(End::dropped("no majority", failed.join(", ")));
    }
    let reading = Reading { documents: vec![ballots.document.clone()], cells, day: None };
    Made::of(End::Kept { value: Agreed { reading, fields } })
}

/// The schema whose columns know what stands beside most of the numbers that were extracted for them.
fn compared(schema: &Schema, made: &BTreeMap<String, Extraction>) -> Schema {
    let of = |column: &Column| {
        let found = made.values().filter_map(|extraction| extraction.fields.get(&column.key));
        column.clone().compared(found.map(|found| (found.value.as_str(), found.unit.as_str())))
    };
    Schema { columns: schema.columns.iter().map(of).collect(), ..schema.clone() }
}

/// The extractions of each document, in the order of models and queries; `made` by the name of the unit.
pub(super) fn ballots(
    documents: &[String],
    schema: &Schema,
    models: &[&str],
    rounds: usize,
    made: &BTreeMap<String, Extraction>,
) -> Vec<Unit<Ballots>> {
    let schema = compared(schema, made);
    let of = |document: &String| {
        let extractions = (0..models.len()).flat_map(|by| (0..rounds).map(move |round| (by, round)));
        let extractions =
            extractions.map(|(by, round)| (models[by].to_owned(), made.get(&unit_id(document, by, round)).cloned()));
        let input = Ballots { document: document.clone(), schema: schema.clone(), extractions: extractions.collect() };
        Unit { id: document.clone(), input }
    };
    documents.iter().map(of).collect()
}

/// The name of an extraction.
pub(super) fn unit_id(document: &str, by: usize, round: usize) -> String {
    format!("{document}-m{}-q{}", by + 1, round + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpusqa::ValueType;

    fn schema() -> Schema {
        let columns =
            vec![Column::new("name", ValueType::Name, ""), Column::new("income", ValueType::Money, "EUR thousand")];
        Schema { columns, ..Schema::default() }
    }

    #[test]
    fn values_are_read_in_the_forms_that_models_write() {
        let value = |response: &str| match read(response, &schema(), false) {
            Ok(made) => Ok(made.fields["income"].value.clone()),
            Err(problem) => Err(problem.to_string()),
        };
        assert_eq!(
            value(r#"{"name": {"value": "A"}, "income": {"value": 1200, "unit": "EUR"}}"#).as_deref(),
            Ok("1200")
        );
        assert_eq!(value("```json\n{\"fields\": {\"name\": \"A\", \"income\": null}}\n```").as_deref(), Ok(""));
        assert_eq!(value("none").unwrap_err(), "it holds no JSON object with the fields as keys");
        assert_eq!(value(r#"{"name": "A"}"#).unwrap_err(), "these fields are left out: income");
        assert!(read(r#"{"name": "A"}"#, &schema(), true).is_ok(), "at the last attempt");
        let income = |of: &str| value(&format!(r#"{{"name": "A", "income": {of}}}"#));
        assert_eq!(income(r#"{"value": ["1200"], "unit": "EUR"}"#).as_deref(), Ok("1200"));
        assert_eq!(income(r#"{"value": null}"#).as_deref(), Ok(""));
        for unclear in [r#"{"value": ["1200", "1300"]}"#, r#"{"value": {"2023": 7}}"#, r#"{"amount": 7}"#] {
            assert_eq!(income(unclear).unwrap_err(), "these fields are left out: income", "{unclear}");
        }
    }

    #[test]
    fn no_two_queries_ask_alike() {
        for n in 1..=30 {
            let most = rounds(n, 40);
            let orders: std::collections::BTreeSet<Vec<usize>> = (0..most).map(|round| order(n, round)).collect();
            assert_eq!(orders.len(), most, "{n} fields");
        }
        assert_eq!([1, 2, 3, 4, 12].map(|n| rounds(n, 40)), [1, 2, 6, 4, 6]);
        assert_eq!([0, 1, 2].map(|most| rounds(2, most)), [1, 1, 2]);
    }

    fn agreed(responses: &[&str], allow_missing: bool) -> Made<Agreed> {
        let extractions =
            responses.iter().map(|response| ("m".to_owned(), read(response, &schema(), true).ok())).collect();
        agree(&Ballots { document: "d".to_owned(), schema: schema(), extractions }, allow_missing)
    }

    #[test]
    fn a_document_that_fails_in_any_field_is_dropped() {
        let a = r#"{"name": "A", "income": {"value": "1,200", "unit": "EUR thousand", "quote": "income of 1,200"}}"#;
        let b = r#"{"name": "a", "income": {"value": "1.2", "unit": "EUR million"}}"#;
        let c = r#"{"name": "A", "income": {"value": "7", "unit": "EUR"}}"#;
        let none = r#"{"name": "A", "income": null}"#;
        let End::Kept { value } = agreed(&[a, b, c], false).end else { panic!("two of three agree") };
        assert_eq!(value.reading.cells[1], CellValue::Number { value: 1200.0 });
        assert_eq!(value.fields[1].quote, "income of 1,200");
        let reason = |made: Made<Agreed>| match made.end {
            End::Dropped { detail, .. } => detail,
            other => panic!("{other:?}"),
        };
        assert_eq!(reason(agreed(&[a, c], false)), "income (at most 1 of 2 agree)");
        assert_eq!(reason(agreed(&[none, none, a], false)), "income (not found by 2 of 3)");
        assert!(matches!(agreed(&[none, none, a], true).end, End::Kept { .. }));
        assert_eq!(reason(agreed(&["?", "?", a], true)), "name (at most 1 of 3 agree), income (at most 1 of 3 agree)");
    }

    #[test]
    fn a_unit_that_the_other_documents_do_not_have_is_refused() {
        let mut schema = schema();
        schema.columns[1].unit.clear();
        let stated = |value: &str, unit: &str| StatedValue {
            value: value.to_owned(),
            unit: unit.to_owned(),
            quote: String::new(),
        };
        let documents = ["a", "b", "c"].map(str::to_owned);
        let values = [stated("5", "million pula"), stated("$6", "million"), stated("7", "million pula")];
        let extraction = |value: &StatedValue| {
            let name = ("name".to_owned(), stated("A", ""));
            Extraction { fields: BTreeMap::from([name, ("income".to_owned(), value.clone())]) }
        };
        let made = documents.iter().zip(&values).map(|(id, value)| (unit_id(id, 0, 0), extraction(value))).collect();
        let ballots = ballots(&documents, &schema, &["m"], 1, &made);
        let problems = ballots.iter().map(|unit| {
            let Ballots { schema, extractions, .. } = &unit.input;
            let found = &extractions[0].1.as_ref().unwrap().fields["income"];
            read_stated(&found.value, &found.unit, &schema.columns[1]).map_err(|problem| problem.to_string())
        });
        let problems: Vec<_> = problems.collect();
        assert_eq!(problems[0], Ok(CellValue::Number { value: 5e6 }));
        assert!(problems[1].as_ref().unwrap_err().contains("`$6` has a unit that does not convert"), "{problems:?}");
        assert_eq!(problems[2], Ok(CellValue::Number { value: 7e6 }));
    }
}

//! CorpusQA's construction (section 3): questions over whole collections of documents, answered from a table.
//!
//! Several models read the same fields out of every document; values with a clear majority make one global table; templates
//! over its columns give questions, which a model paraphrases and another call turns into SQL; what the database answers is
//! the gold answer, and the documents of the rows are what a reader gets. A table that is at hand goes in behind the
//! extraction ([`from_table`]).

mod answer;
mod column;
mod consensus;
mod convert;
mod corpus;
mod cost;
mod database;
mod document;
mod draw;
mod expand;
mod extract;
mod fields;
mod global;
mod gold;
mod hand;
mod infer;
mod parameters;
mod people;
mod query;
mod questions;
mod seed;
mod sets;
mod tables;
mod template;
mod unit;
mod value;

pub use answer::{Answered, Asked, FailedSql, NoAnswer, gold_again};
pub use column::{Column, Entity, Schema, SchemaError, ValueType, key_of};
pub use consensus::{Consensus, Vote, clear_majority, is_clear};
pub use convert::{CsvError, csv_as_markdown, csv_records};
pub use corpus::Corpus;
use corpus::unknown;
pub use cost::{cost, cost_from_table};
pub use database::{Database, Selected, SqlError, SqlValue, TABLE};
pub use document::{Source, sources};
pub use draw::shares;
pub use expand::{EXPAND_STAGES, Proposed, expand, expand_cost};
pub use extract::{Agreed, Extraction, FieldVotes, StatedValue};
pub use fields::Stated;
pub use global::{Conflict, DOCUMENT_DATE, Reading, Record, Row, Statement, records};
pub use gold::{AnswerKind, GoldError, gold};
pub use hand::{
    Adjudicated, DISPUTE_COLUMNS, Dispute, FirstAgreement, HAND_COLUMNS, HandError, HandRead, adjudicated,
    dispute_rows, drawn_cells, first_agreement, hand_rows, read_hand,
};
pub use infer::inferred;
pub use parameters::CorpusQa;
pub use query::Query;
pub use sets::{DocumentSet, Length, LengthError};
pub use template::{Difficulty, Template, TemplateError};
pub use value::{CellError, CellValue, NoNumber, read_cell, read_stated};

use super::line::End;
use super::stage::{BuildError, Building, Made, StageStore, Unit, kept};
use closeread_books::Book;
use closeread_methods::Host;
use closeread_methods::Settings;
use global::{Catalogue, Lined};
use questions::Tail;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The stages from documents, in their order.
pub const STAGES: [&str; 11] = [
    "documents",
    "fields",
    "votes",
    "columns",
    "extraction",
    "consensus",
    "table",
    "sets",
    "queries",
    "paraphrases",
    "sql",
];

/// The stages from a ready table, in their order.
pub const TABLE_STAGES: [&str; 7] = ["documents", "rows", "table", "sets", "queries", "paraphrases", "sql"];

/// The models that are asked.
#[derive(Debug, Clone)]
pub struct Crew<'a, H> {
    /// Model that proposes fields, paraphrases and writes SQL; without one the templates' words and SQL stay.
    pub writer: Option<&'a H>,
    /// Models that read documents, each with its name; three in the paper.
    pub extractors: Vec<(&'a str, &'a H)>,
}

/// The sources that all queries are made from.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The documents.
    pub books: &'a [Arc<Book>],
    /// Schema of the table; `None`: a model proposes it.
    pub schema: Option<&'a Schema>,
    /// The query templates.
    pub templates: &'a [Template],
}

/// The books of kept documents.
fn of_sources<'b>(
    sources: &[Unit<Source>],
    books: &'b [Arc<Book>],
) -> Result<BTreeMap<String, &'b Arc<Book>>, BuildError> {
    let by_id: HashMap<&str, &Arc<Book>> = books.iter().map(|book| (book.id.as_str(), book)).collect();
    let of = |unit: &Unit<Source>| {
        let id = &unit.input.document;
        by_id.get(id.as_str()).map(|book| (id.clone(), *book)).ok_or_else(|| unknown(id))
    };
    sources.iter().map(of).collect()
}

/// Makes questions over documents.
///
/// # Errors
/// [`BuildError`].
pub async fn corpusqa<H: Host, S: StageStore, D: Database>(
    crew: &Crew<'_, H>,
    settings: Settings<'_>,
    mut building: Building<'_, S>,
    database: &D,
    given: Sources<'_>,
    parameters: &CorpusQa,
) -> Result<Corpus, BuildError> {
    let units = sources(given.books, settings.tokenizer)?;
    let documents = building
        .stage("documents", &units, async |unit: &Unit<Source>| Ok(document::rich(&unit.input, parameters)))
        .await?;
    let documents: Vec<Unit<Source>> = kept(documents);
    let books = of_sources(&documents, given.books)?;
    let order: Vec<String> = documents.iter().map(|unit| unit.input.document.clone()).collect();
    let sampled: Vec<&Arc<Book>> = order.iter().take(fields::SAMPLED).map(|id| books[id]).collect();

    let hashes: Vec<&str> = sampled.iter().map(|book| book.hash()).collect();
    let proposed = [Unit { id: "schema".to_owned(), input: json!({"schema": given.schema, "documents": hashes}) }];
    let proposed = building
        .stage("fields", &proposed, async |_: &Unit<serde_json::Value>| match (given.schema, crew.writer) {
            (Some(schema), _) => Ok(Made::of(End::Kept { value: schema.clone() })),
            (None, Some(writer)) if !sampled.is_empty() => fields::propose(writer, settings, &sampled).await,
            (None, _) => Ok(Made::of(End::dropped("nobody asked", "there is no document, or no model"))),
        })
        .await?;
    let proposed: Schema = kept(proposed).into_iter().next().map(|unit| unit.input).unwrap_or_default();

    let mut looks = Vec::new();
    if given.schema.is_none() {
        for (by, _) in crew.extractors.iter().enumerate() {
            for document in order.iter().take(fields::SAMPLED) {
                let input = fields::Look { by, document: document.clone(), schema: proposed.clone() };
                looks.push(Unit { id: format!("{document}-m{}", by + 1), input });
            }
        }
    }
    let looks = building
        .stage("votes", &looks, async |unit: &Unit<fields::Look>| {
            let fields::Look { by, document, schema } = &unit.input;
            fields::look(crew.extractors[*by].1, settings, books[document], schema).await
        })
        .await?;
    let elections = fields::elections(&proposed, &kept(looks), given.schema.is_some());
    let columns = building
        .stage("columns", &elections, async |unit: &Unit<fields::Elected>| Ok(fields::elected(&unit.input)))
        .await?;
    let columns: Vec<Column> = kept(columns).into_iter().map(|unit| unit.input).collect();
    let schema = Schema { entity: proposed.entity, columns };

    let mut queries = Vec::new();
    for document in order.iter().filter(|_| schema.columns.len() > 1) {
        for by in 0..crew.extractors.len() {
            for round in 0..parameters.queries.max(1) {
                let sha256 = books[document].hash().to_owned();
                let input = extract::Query { document: document.clone(), sha256, by, round, schema: schema.clone() };
                queries.push(Unit { id: extract::unit_id(document, by, round), input });
            }
        }
    }
    let extracted = building
        .stage("extraction", &queries, async |unit: &Unit<extract::Query>| {
            let query = &unit.input;
            extract::extract(crew.extractors[query.by].1, settings, books[&query.document], query).await
        })
        .await?;
    let extracted: BTreeMap<String, Extraction> =
        kept(extracted).into_iter().map(|unit| (unit.id, unit.input)).collect();
    let models: Vec<&str> = crew.extractors.iter().map(|(name, _)| *name).collect();
    let read: Vec<String> = if queries.is_empty() { Vec::new() } else { order };
    let ballots = extract::ballots(&read, &schema, &models, parameters.queries.max(1), &extracted);
    let agreed = building
        .stage("consensus", &ballots, async |unit: &Unit<extract::Ballots>| {
            Ok(extract::agree(&unit.input, parameters.allow_missing))
        })
        .await?;
    let agreed: Vec<Unit<Agreed>> = kept(agreed);
    let readings: Vec<Unit<Reading>> =
        agreed.iter().map(|unit| Unit { id: unit.id.clone(), input: unit.input.reading.clone() }).collect();
    let mut tables = vec![tables::agreement(&schema, &ballots)];
    let mut questions = people::extraction(&agreed, &schema, &books)?;
    let tail = Tail { writer: crew.writer, settings, database, books: &books, sources: &documents, schema: &schema };
    let mut corpus = tail.ask(building, &readings, given.templates, parameters).await?;
    tables.append(&mut corpus.built.tables);
    questions.append(&mut corpus.built.questions);
    (corpus.built.tables, corpus.built.questions) = (tables, questions);
    corpus.agreed = agreed;
    Ok(corpus)
}

/// Makes questions over a ready table, whose lines are `lines`.
///
/// # Errors
/// [`BuildError`].
pub async fn from_table<H: Host, S: StageStore, D: Database>(
    writer: Option<&H>,
    settings: Settings<'_>,
    mut building: Building<'_, S>,
    database: &D,
    (books, schema, templates): (&[Arc<Book>], &Schema, &[Template]),
    lines: &[Unit<Record>],
    parameters: &CorpusQa,
) -> Result<Corpus, BuildError> {
    let units = sources(books, settings.tokenizer)?;
    let documents = building
        .stage("documents", &units, async |unit: &Unit<Source>| Ok(document::rich(&unit.input, parameters)))
        .await?;
    let documents: Vec<Unit<Source>> = kept(documents);
    let books = of_sources(&documents, books)?;
    let catalogue = Catalogue::of(&books.values().copied().collect::<Vec<_>>())?;
    let name = |unit: &Unit<Record>| unit.input.cells.first().cloned().unwrap_or_default();
    let names: Vec<String> = lines.iter().map(|unit| value::folded(&name(unit))).collect();
    let of = |unit: &Unit<Record>| {
        let record = unit.input.clone();
        let documents = match record.documents.is_empty() {
            true => catalogue.about(&name(unit), &names),
            false => record.documents.iter().filter(|id| books.contains_key(*id)).cloned().collect(),
        };
        Unit { id: unit.id.clone(), input: Lined { record, schema: schema.clone(), documents } }
    };
    let lined: Vec<Unit<Lined>> = lines.iter().map(of).collect();
    let readings = building
        .stage("rows", &lined, async |unit: &Unit<Lined>| {
            Ok(global::read_record(&unit.input, parameters.allow_missing))
        })
        .await?;
    let tail = Tail { writer, settings, database, books: &books, sources: &documents, schema };
    tail.ask(building, &kept(readings), templates, parameters).await
}

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
mod readers;
mod seed;
mod separators;
mod sets;
mod tables;
mod template;
mod unit;
mod value;

pub use answer::{Answered, Asked, FailedSql, NoAnswer, gold_again};
pub use column::{Column, Entity, Schema, SchemaError, ValueType, key_of};
pub use consensus::{Consensus, Vote, is_clear};
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
pub use infer::{inferred, is_years_by_numbers, odd_cell};
pub use parameters::CorpusQa;
pub use query::Query;
pub use separators::{decimal_comma, doubtful_point, with_points};
pub use sets::{DocumentSet, Length, LengthError};
pub use template::{Difficulty, Template, TemplateError};
pub use value::{CellError, CellValue, NoNumber, read_cell};

use super::stage::{BuildError, Building, StageStore, Unit, kept};
use closeread_books::Book;
use closeread_methods::Host;
use closeread_methods::Settings;
use closeread_prompts::builds::{
    BuildAgain, CorpusQaExtract, CorpusQaFieldVotes, CorpusQaFields, CorpusQaParaphrase, CorpusQaSql,
};
use global::{Catalogue, Lined};
use questions::Tail;
use readers::Readers;
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
/// The prompts by which they ask.
pub const PROMPTS: [&str; 6] = [
    CorpusQaFields::NAME,
    CorpusQaFieldVotes::NAME,
    CorpusQaExtract::NAME,
    CorpusQaParaphrase::NAME,
    CorpusQaSql::NAME,
    BuildAgain::NAME,
];

/// The stages from a ready table, in their order.
pub const TABLE_STAGES: [&str; 7] = ["documents", "rows", "table", "sets", "queries", "paraphrases", "sql"];
/// The prompts by which they ask.
pub const TABLE_PROMPTS: [&str; 3] = [CorpusQaParaphrase::NAME, CorpusQaSql::NAME, BuildAgain::NAME];

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

/// The documents that have enough to ask about.
async fn rich<S: StageStore>(
    building: &mut Building<'_, S>,
    books: &[Arc<Book>],
    settings: Settings<'_>,
    parameters: &CorpusQa,
) -> Result<Vec<Unit<Source>>, BuildError> {
    let units = sources(books, settings.tokenizer)?;
    let is_rich = async |unit: &Unit<Source>| Ok(document::rich(&unit.input, parameters));
    Ok(kept(building.stage("documents", &units, is_rich).await?))
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
    let documents = rich(&mut building, given.books, settings, parameters).await?;
    let books = of_sources(&documents, given.books)?;
    let order: Vec<String> = documents.iter().map(|unit| unit.input.document.clone()).collect();
    let readers = Readers { crew, settings, books: &books, order: &order, parameters };
    let schema = readers.schema(&mut building, given.schema).await?;
    let (ballots, agreed) = readers.agree(&mut building, &schema).await?;
    let readings: Vec<Unit<Reading>> =
        agreed.iter().map(|unit| Unit { id: unit.id.clone(), input: unit.input.reading.clone() }).collect();
    let mut tables = vec![tables::agreement(&schema, &ballots, parameters.queries)];
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
    let documents = rich(&mut building, books, settings, parameters).await?;
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

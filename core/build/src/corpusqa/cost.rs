//! Cost of the pipeline, told before it begins.

use super::answer::{Asked, SetTable, paraphrase_prompt, sql_prompt};
use super::column::ValueType;
use super::column::{Column, Schema};
use super::document::rich;
use super::gold::AnswerKind;
use super::query::Query;
use super::sets::Length;
use super::template::Difficulty;
use super::{CorpusQa, extract, fields, sources};
use crate::StageCost;
use crate::assumed::{Prompt, tokens_of};
use crate::line::End;
use crate::stage::Unit;
use closeread_books::Book;
use closeread_methods::{MethodError, Settings};
use closeread_text::Language;
use std::sync::Arc;

/// The calls of each stage that asks, from documents; those of the votes and of the extraction for one model that extracts.
/// Without a schema it reckons with one of twelve columns.
///
/// # Errors
/// [`MethodError`] if a prompt cannot be filled.
pub fn cost(
    settings: Settings<'_>,
    books: &[Arc<Book>],
    schema: Option<&Schema>,
    parameters: &CorpusQa,
) -> Result<Vec<StageCost>, MethodError> {
    let units = sources(books, settings.tokenizer)?;
    let is_rich = |unit: &Unit<super::Source>| matches!(rich(&unit.input, parameters).end, End::Kept { .. });
    let kept: Vec<&Arc<Book>> =
        units.iter().zip(books).filter(|(unit, _)| is_rich(unit)).map(|(_, book)| book).collect();
    let assumed = Schema {
        columns: (0..12).map(|n| Column::new(&format!("a field with a name {n}"), ValueType::Number, "unit")).collect(),
        ..Schema::default()
    };
    let held = schema.unwrap_or(&assumed);
    let (mut proposals, mut looks, mut extractions) = (Vec::new(), Vec::new(), Vec::new());
    let responses = u64::from(settings.response_limit.reserved());
    let of_fields = if schema.is_some() { 0 } else { responses };
    let sampled: Vec<&Arc<Book>> = kept.iter().copied().take(fields::SAMPLED).collect();
    if schema.is_none() && !sampled.is_empty() {
        let known = tokens_of(settings, &fields::prompt(&sampled, settings.tokenizer)?)?;
        proposals.push(Prompt { known, responses: 0 });
        for book in &sampled {
            let text = fields::shown(book, settings.tokenizer)?;
            let known = tokens_of(settings, &fields::look_prompt(book, &text, held))?;
            looks.push(Prompt { known, responses });
        }
    }
    let rounds = match schema {
        Some(schema) => extract::rounds(schema.columns.len(), parameters.queries),
        None => parameters.queries.max(1),
    };
    for book in &kept {
        let known = tokens_of(settings, &extract::prompt(book, book.text()?.source(), held, 0))?;
        extractions.extend((0..rounds).map(|_| Prompt { known, responses: of_fields }));
    }
    let limit = settings.response_limit.reserved();
    let mut stages = vec![
        StageCost::of("fields", &proposals, limit),
        StageCost::of("votes", &looks, limit),
        StageCost::of("extraction", &extractions, limit),
    ];
    stages.extend(cost_from_table(settings, held, parameters)?);
    Ok(stages)
}

/// The calls of each stage that asks once the table is there.
///
/// # Errors
/// [`MethodError`] if a prompt cannot be filled.
pub fn cost_from_table(
    settings: Settings<'_>,
    schema: &Schema,
    parameters: &CorpusQa,
) -> Result<Vec<StageCost>, MethodError> {
    let question =
        "Which entity of those whose category is a certain word has the highest value of a column?".to_owned();
    let query = Query {
        set: String::new(),
        template: String::new(),
        difficulty: Difficulty::Easy,
        question: question.clone(),
        answer: AnswerKind::String,
        rows: None,
        columns: Vec::new(),
        literals: vec!["a certain word".to_owned()],
        scope: None,
        sql: None,
    };
    let paraphrase = tokens_of(settings, &paraphrase_prompt(&query, Language::ENGLISH))?;
    let asked = Asked { query, question };
    let table = SetTable { id: "", schema, rows: Vec::new(), documents: &[] };
    let sql = tokens_of(settings, &sql_prompt(&table, &asked))?;
    let lengths: &[Length] = &parameters.lengths;
    let n = lengths.len() * parameters.copies.max(1) * parameters.per_set;
    let responses = u64::from(settings.response_limit.reserved());
    let prompts = |known: u64, responses: u64| -> Vec<Prompt> { (0..n).map(|_| Prompt { known, responses }).collect() };
    let limit = settings.response_limit.reserved();
    Ok(vec![
        StageCost::of("paraphrases", &prompts(paraphrase, 0), limit),
        StageCost::of("sql", &prompts(sql, responses), limit),
    ])
}

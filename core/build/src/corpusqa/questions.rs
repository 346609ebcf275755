//! Questions with their answers from readings of documents or of a ready table: the global table, sets of documents,
//! queries, their words, their SQL.

use super::answer::{Answered, Asked, SetTable};
use super::corpus::{Corpus, unknown};
use super::database::Database;
use super::document::Source;
use super::global::{Reading, Row};
use super::query::{Drawing, Query};
use super::seed::seeded;
use super::sets::DocumentSet;
use super::{CorpusQa, Schema, Template, people, tables};
use crate::Built;
use crate::corpusqa::answer;
use crate::corpusqa::draw;
use crate::corpusqa::global;
use crate::corpusqa::sets;
use crate::line::End;
use crate::stage::{BuildError, Building, Made, StageStore, Unit, kept};
use closeread_books::Book;
use closeread_eval::{Item, Task};
use closeread_methods::Host;
use closeread_methods::Settings;
use closeread_text::Language;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tail that both ways share: from readings to items.
pub(super) struct Tail<'a, H, D> {
    pub(super) writer: Option<&'a H>,
    pub(super) settings: Settings<'a>,
    pub(super) database: &'a D,
    pub(super) books: &'a BTreeMap<String, &'a Arc<Book>>,
    pub(super) sources: &'a [Unit<Source>],
    pub(super) schema: &'a Schema,
}

impl<H: Host, D: Database> Tail<'_, H, D> {
    pub(super) async fn ask<S: StageStore>(
        &self,
        mut building: Building<'_, S>,
        readings: &[Unit<Reading>],
        templates: &[Template],
        parameters: &CorpusQa,
    ) -> Result<Corpus, BuildError> {
        let Self { writer, settings, database, schema, .. } = *self;
        for document in readings.iter().flat_map(|unit| &unit.input.documents) {
            if !self.books.contains_key(document) {
                return Err(unknown(document));
            }
        }
        let entities = global::entities(schema, readings);
        let rows = building
            .stage("table", &entities, async |unit: &Unit<global::Said>| Ok(global::merged(&unit.id, &unit.input)))
            .await?;
        let rows: Vec<Row> = kept(rows).into_iter().map(|unit| unit.input).collect();
        let by_name: BTreeMap<&str, &Row> = rows.iter().map(|row| (row.name.as_str(), row)).collect();

        let tokens = self.sources.iter().map(|unit| (unit.input.document.clone(), unit.input.tokens)).collect();
        let draws = sets::draws(&rows, &tokens, &parameters.lengths, parameters.copies.max(1), parameters.seed);
        let drawn = building
            .stage("sets", &draws, async |unit: &Unit<sets::Draw>| Ok(sets::drawn(&unit.input, parameters.fill)))
            .await?;
        let sets: Vec<Unit<DocumentSet>> = kept(drawn);
        let tables: BTreeMap<&str, SetTable<'_>> =
            sets.iter().map(|set| (set.id.as_str(), SetTable::of(&set.id, schema, &set.input, &by_name))).collect();

        let language = self.language();
        let of_sets = sets.iter().filter_map(|set| tables.get(set.id.as_str()));
        let (candidates, ends) = self.candidates(of_sets, language, templates, parameters);
        let queries = building
            .stage("queries", &candidates, async |unit: &Unit<Query>| {
                let unlisted = || End::dropped("unlisted", "it is no candidate of its set");
                Ok(Made::of(ends.get(&unit.id).cloned().unwrap_or_else(unlisted)))
            })
            .await?;
        let queries: Vec<Unit<Query>> = kept(queries);

        let asked = building
            .stage("paraphrases", &queries, async |unit: &Unit<Query>| match writer {
                Some(writer) => answer::paraphrase(writer, settings, &unit.input, language).await,
                None => {
                    let question = unit.input.question.clone();
                    Ok(Made::of(End::Kept { value: Asked { query: unit.input.clone(), question } }))
                }
            })
            .await?;
        let asked: Vec<Unit<Asked>> = kept(asked);
        let answered = building
            .stage("sql", &asked, async |unit: &Unit<Asked>| {
                let Some(table) = tables.get(unit.input.query.set.as_str()) else {
                    return Ok(Made::of(End::dropped("no set", "its set was removed")));
                };
                match writer {
                    Some(writer) => answer::answer(writer, settings, database, table, &unit.input, parameters).await,
                    None => Ok(answer::answer_by_template(database, table, &unit.input, parameters)),
                }
            })
            .await?;
        let answered: Vec<Unit<Answered>> = kept(answered);

        let mut items = Vec::new();
        for Unit { id, input } in &answered {
            if let Some(table) = tables.get(input.asked.query.set.as_str()) {
                let set = sets.iter().find(|set| set.id == table.id).map_or("", |set| set.input.length.label.as_str());
                items.push(item(id, input, table, database, set, &parameters.domain));
            }
        }
        let tables = vec![tables::sets(&sets, &rows, &items), tables::counts(&sets, &items), tables::conflicts(&rows)];
        let questions = people::paraphrases(&answered);
        let sets = sets.into_iter().map(|unit| (unit.id, unit.input)).collect();
        let built =
            Built { items, funnel: building.into_funnel(), tables, questions, sheet: None, about: Default::default() };
        Ok(Corpus { built, schema: schema.clone(), rows, sets, agreed: Vec::new() })
    }

    /// The queries that the templates give over each set, and the end of each.
    fn candidates<'t>(
        &self,
        tables: impl Iterator<Item = &'t SetTable<'t>>,
        language: Language,
        templates: &[Template],
        parameters: &CorpusQa,
    ) -> (Vec<Unit<Query>>, BTreeMap<String, End<Query>>) {
        let (mut candidates, mut ends) = (Vec::new(), BTreeMap::new());
        for table in tables {
            let longest_list = parameters.longest_list;
            let drawing = Drawing { set: table.id, schema: self.schema, rows: &table.rows, language, longest_list };
            let seed = seeded(parameters.seed, &format!("queries of {}", table.id));
            let queries = draw::candidates(&drawing, templates, parameters.per_set, seed);
            let unit = |(n, input)| Unit { id: format!("{}-{:03}", table.id, n + 1), input };
            let units: Vec<Unit<Query>> = queries.into_iter().enumerate().map(unit).collect();
            ends.extend(answer::chosen(table, self.database, &units, parameters));
            candidates.extend(units);
        }
        (candidates, ends)
    }

    /// The language of most documents: Chinese, or English for all others.
    fn language(&self) -> Language {
        let n_chinese = self.books.values().filter(|book| book.language == Language::CHINESE).count();
        if 2 * n_chinese > self.books.len() { Language::CHINESE } else { Language::ENGLISH }
    }
}

fn item(
    id: &str,
    answered: &Answered,
    table: &SetTable<'_>,
    database: &impl Database,
    set: &str,
    domain: &str,
) -> Item {
    let query = &answered.asked.query;
    let mut item = Item::new(format!("{domain}_{id}"), "", &answered.asked.question, Task::Generative)
        .label("domain", domain)
        .label("length_set", set)
        .label("difficulty", query.difficulty.name())
        .label("answer_type", query.answer.name());
    item.documents = table.documents.to_vec();
    item.answers = vec![answered.gold.clone()];
    let conflicting: Vec<&str> = table
        .rows
        .iter()
        .filter(|row| row.conflicts.iter().any(|conflict| query.columns.contains(&conflict.column)))
        .map(|row| row.name.as_str())
        .collect();
    for (name, value) in [
        ("set", json!(query.set)),
        ("template", json!(query.template)),
        ("sql", json!(answered.sql)),
        ("columns", json!(query.columns)),
        ("dispersion", json!(table.dispersion(database, query).ok())),
        ("conflicts", json!(conflicting)),
    ] {
        item.other.insert(name.to_owned(), value);
    }
    item
}

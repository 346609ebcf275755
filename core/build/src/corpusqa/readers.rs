//! Reading documents into records: models propose the fields, vote on them and fill them, each by itself.

use super::extract::{self, Agreed, Ballots, Extraction, Query};
use super::fields::{self, Elected, Look};
use super::{Column, CorpusQa, Crew, Schema};
use crate::line::End;
use crate::stage::{BuildError, Building, Made, StageStore, Unit, kept};
use closeread_books::Book;
use closeread_methods::Host;
use closeread_methods::Settings;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The models that read, and what they read.
pub(super) struct Readers<'a, H> {
    pub(super) crew: &'a Crew<'a, H>,
    pub(super) settings: Settings<'a>,
    pub(super) books: &'a BTreeMap<String, &'a Arc<Book>>,
    /// Ids of the documents, in their order.
    pub(super) order: &'a [String],
    pub(super) parameters: &'a CorpusQa,
}

impl<H: Host> Readers<'_, H> {
    /// The schema that is given, or the one that a model proposes from a few documents and the others vote on.
    pub(super) async fn schema<S: StageStore>(
        &self,
        building: &mut Building<'_, S>,
        given: Option<&Schema>,
    ) -> Result<Schema, BuildError> {
        let Self { crew, settings, books, .. } = *self;
        let sampled: Vec<&String> = self.order.iter().take(fields::SAMPLED).collect();
        let shown: Vec<&Arc<Book>> = sampled.iter().map(|id| books[*id]).collect();
        let hashes: Vec<&str> = shown.iter().map(|book| book.hash()).collect();
        let asked = [Unit { id: "schema".to_owned(), input: json!({"schema": given, "documents": hashes}) }];
        let propose = async |_: &Unit<Value>| match (given, crew.writer) {
            (Some(schema), _) => Ok(Made::of(End::Kept { value: schema.clone() })),
            (None, Some(writer)) if !shown.is_empty() => fields::propose(writer, settings, &shown).await,
            (None, _) => Ok(Made::of(End::dropped("nobody asked", "there is no document, or no model"))),
        };
        let proposed: Vec<Unit<Schema>> = kept(building.stage("fields", &asked, propose).await?);
        let proposed = proposed.into_iter().next().map(|unit| unit.input).unwrap_or_default();

        let voters = if given.is_none() && !proposed.columns.is_empty() { crew.extractors.len() } else { 0 };
        let look = |by, document: &String| {
            let input = Look { by, document: document.clone(), schema: proposed.clone() };
            Unit { id: format!("{document}-m{}", by + 1), input }
        };
        let looks = (0..voters).flat_map(|by| sampled.iter().map(move |document| (by, *document)));
        let looks: Vec<Unit<Look>> = looks.map(|(by, document)| look(by, document)).collect();
        let vote = async |unit: &Unit<Look>| {
            let Look { by, document, schema } = &unit.input;
            fields::look(crew.extractors[*by].1, settings, books[document], schema).await
        };
        let votes = kept(building.stage("votes", &looks, vote).await?);

        let elections = fields::elections(&proposed, &votes, given.is_some());
        let elect = async |unit: &Unit<Elected>| Ok(fields::elected(&unit.input));
        let columns: Vec<Unit<Column>> = kept(building.stage("columns", &elections, elect).await?);
        Ok(Schema { entity: proposed.entity, columns: columns.into_iter().map(|unit| unit.input).collect() })
    }

    /// What each model read in each document, and what they agree on.
    pub(super) async fn agree<S: StageStore>(
        &self,
        building: &mut Building<'_, S>,
        schema: &Schema,
    ) -> Result<(Vec<Unit<Ballots>>, Vec<Unit<Agreed>>), BuildError> {
        let Self { crew, settings, books, parameters, .. } = *self;
        let rounds = extract::rounds(schema.columns.len(), parameters.queries);
        let mut queries = Vec::new();
        for document in self.order.iter().filter(|_| schema.columns.len() > 1) {
            for by in 0..crew.extractors.len() {
                for round in 0..rounds {
                    let sha256 = books[document].hash().to_owned();
                    let input = Query { document: document.clone(), sha256, by, round, schema: schema.clone() };
                    queries.push(Unit { id: extract::unit_id(document, by, round), input });
                }
            }
        }
        let read = async |unit: &Unit<Query>| {
            let query = &unit.input;
            extract::extract(crew.extractors[query.by].1, settings, books[&query.document], query).await
        };
        let extracted: Vec<Unit<Extraction>> = kept(building.stage("extraction", &queries, read).await?);
        let extracted: BTreeMap<String, Extraction> = extracted.into_iter().map(|unit| (unit.id, unit.input)).collect();

        let models: Vec<&str> = crew.extractors.iter().map(|(name, _)| *name).collect();
        let documents = if queries.is_empty() { &[] } else { self.order };
        let ballots = extract::ballots(documents, schema, &models, rounds, &extracted);
        let compare = async |unit: &Unit<Ballots>| Ok(extract::agree(&unit.input, parameters.allow_missing));
        let agreed = kept(building.stage("consensus", &ballots, compare).await?);
        Ok((ballots, agreed))
    }
}

//! A finished run again, without asking anyone: every response comes from its record, everything else is computed anew.

use super::book_indexes::BookIndexes;
use super::grouping::groups;
use super::plan::{Plan, Unit, units_of};
use super::prepare::key_of;
use super::trials::recorded;
use crate::benchmark::Benchmark;
use crate::host::QueryEncoder;
use crate::progress::Progress;
use crate::reranker::Reranker;
use crate::run_folder;
use crate::texts::BookTexts;
use anyhow::{Context as _, Result};
use closeread_books::{Book, BookText};
use closeread_embed::{PairScores, Role, Vectors};
use closeread_eval::Outcome;
use closeread_llm::{Call, HostError, Response};
use closeread_methods::record::{CallTrace, Context, Record, TrialKey};
use closeread_methods::{AnyPrepared, Host, Preparation, Trial};
use closeread_text::Span;
use closeread_text::hash::sha256;
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

/// A difference between the record and the computation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Key of the trial.
    #[serde(flatten)]
    pub trial: TrialKey,
    /// A metric, `outcome`, `prompts`, `passages`, `preparation`, or `prompts of the preparation`.
    pub what: String,
    /// Value in the record; null where it has none.
    pub stored: Value,
    /// Value as it is computed now; null where there is none.
    pub recomputed: Value,
}

/// The result of a replay.
#[derive(Debug, Default)]
pub struct ReplayedTrials {
    /// Trials whose parsing and scoring were done again.
    pub trials: usize,
    /// Trials that ended without a response to read, of which only the scores were computed again.
    pub scored_only: usize,
    /// Number of trials by method that were not looked at: the folder does not hold what the method had made of their
    /// books.
    pub not_replayed: BTreeMap<String, usize>,
    /// Differences, in the order of the records.
    pub differences: Vec<Difference>,
}

/// Computes every record of the run in `folder` again.
pub async fn replay(
    plan: &Plan<'_>,
    benchmark: &Benchmark,
    evidence: &HashMap<String, Vec<(usize, Span)>>,
    folder: &Path,
    records: &[Record],
) -> Result<ReplayedTrials> {
    let stored: HashMap<&TrialKey, &Record> = records.iter().map(|record| (&record.key, record)).collect();
    let progress = Progress::new("trials", stored.len());
    let mut replayed = ReplayedTrials::default();
    for (documents, items) in groups(&benchmark.items) {
        let mut units = units_of(plan, &items);
        for unit in &mut units {
            let (cell, repeat) = (unit.cell, unit.repeat);
            unit.items.retain(|item| stored.contains_key(&Unit { cell, repeat, items: Vec::new() }.key(item)));
        }
        units.retain(|unit| !unit.items.is_empty());
        if units.is_empty() {
            continue;
        }
        let (indexes, _) =
            BookIndexes::open(plan, (benchmark.books_of(documents), &benchmark.texts), &units, &progress).await?;
        let mut seen = BTreeSet::new();
        for unit in &units {
            let records: Vec<&Record> = unit.items.iter().map(|item| stored[&unit.key(item)]).collect();
            let (method, name) = (&unit.cell.method, &unit.cell.key.method);
            let key = key_of(plan, &indexes, unit.cell);
            // Each part that was joined made its own; a trial read one of them.
            let made = key.as_ref().map_or_else(Vec::new, |key| run_folder::preparations_of_parts(folder, key));
            let is_new = key.is_some_and(|key| seen.insert(key.hash()));
            let is_made_again = |made: &&Preparation| is_new && !made.prepared.as_ref().is_err_and(ended_early);
            for preparation in made.iter().filter(is_made_again) {
                let again = prepared_once_more(plan, &indexes, unit, preparation).await?;
                compare_preparations(&records[0].key, preparation, &again, &mut replayed.differences);
            }
            let early = records.iter().any(|record| ended_early(&record.outcome));
            records.iter().for_each(|_| progress.tick());
            if !early && made.is_empty() && method.preparation().is_some() {
                *replayed.not_replayed.entry(name.clone()).or_default() += records.len();
                continue;
            }
            *(if early { &mut replayed.scored_only } else { &mut replayed.trials }) += records.len();
            let differences = least_different(plan, &indexes, evidence, unit, &records, &made).await?;
            replayed.differences.extend(differences);
        }
    }
    progress.finish();
    Ok(replayed)
}

/// What differs between the records of a unit and its trials made again. Of several preparations, which parts of the run made
/// each for itself, that counts with which nothing differs, or else the first.
async fn least_different(
    plan: &Plan<'_>,
    indexes: &BookIndexes,
    evidence: &HashMap<String, Vec<(usize, Span)>>,
    unit: &Unit<'_>,
    records: &[&Record],
    made: &[Preparation],
) -> Result<Vec<Difference>> {
    let early = records.iter().any(|record| ended_early(&record.outcome));
    let mut found: Option<Vec<Difference>> = None;
    for number in 0..made.len().max(1) {
        let prepared = made.get(number).map(|preparation| &preparation.prepared);
        let again: Vec<Trial> = match prepared {
            _ if early => records.iter().map(|record| as_stored(record)).collect(),
            Some(Err(outcome)) => records.iter().map(|_| Trial::ended(outcome.clone())).collect(),
            prepared => once_more(plan, indexes, prepared.and_then(|made| made.as_ref().ok()), unit, records).await?,
        };
        let mut differences = Vec::new();
        for ((item, record), again) in unit.items.iter().zip(records).zip(again) {
            let scores = recorded(item, &again, indexes, evidence, &plan.words)?;
            compare(record, &again, &scores, &mut differences);
        }
        if differences.is_empty() {
            return Ok(differences);
        }
        found.get_or_insert(differences);
    }
    Ok(found.unwrap_or_default())
}

/// Returns whether no response was read: what the provider said is all there is.
fn ended_early(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed { .. } | Outcome::Blocked { .. } | Outcome::Overflow { .. })
}

/// The trial that a record is of.
fn as_stored(record: &Record) -> Trial {
    let Record { outcome, prompt_tokens, context, calls, measures, evidence, shared_call, .. } = record.clone();
    Trial { outcome, prompt_tokens, context, calls, measures, evidence, shared_call }
}

/// The preparation of a unit with the responses that it holds.
async fn prepared_once_more(
    plan: &Plan<'_>,
    indexes: &BookIndexes,
    unit: &Unit<'_>,
    stored: &Preparation,
) -> Result<Option<Preparation>> {
    let host = Stored::new(&stored.calls, unit, indexes);
    let preparer = plan.preparer.as_ref().unwrap_or(&unit.cell.key.model);
    let again = unit.cell.method.prepare(&indexes.session(plan, unit.cell, preparer, &host)).await;
    again.with_context(|| format!("method {}", unit.cell.key.method))
}

/// The trials of a unit with the responses that their records hold.
async fn once_more(
    plan: &Plan<'_>,
    indexes: &BookIndexes,
    prepared: Option<&AnyPrepared>,
    unit: &Unit<'_>,
    records: &[&Record],
) -> Result<Vec<Trial>> {
    let host = Stored::new(records.iter().flat_map(|record| &record.calls), unit, indexes);
    let session = indexes.session(plan, unit.cell, &unit.cell.key.model, &host);
    let trials = unit.cell.method.run(&session, &unit.items, prepared).await;
    trials.with_context(|| format!("item `{}`, method {}", unit.items[0].id, unit.cell.key.method))
}

/// Finds what differs between a preparation and the one made again, which is said of the first trial that reads it.
/// What was made is long: its hash stands for it.
fn compare_preparations(
    trial: &TrialKey,
    stored: &Preparation,
    again: &Option<Preparation>,
    differences: &mut Vec<Difference>,
) {
    let hash = |preparation: &Preparation| {
        let made = serde_json::to_vec(&preparation.prepared).expect("what is kept has string keys only");
        json!(sha256(&made))
    };
    let mut differ = |what: &str, stored: Value, recomputed: Value| {
        if stored != recomputed {
            differences.push(Difference { trial: trial.clone(), what: what.to_owned(), stored, recomputed });
        }
    };
    differ("preparation", hash(stored), json!(again.as_ref().map(hash)));
    differ("prompts of the preparation", prompts(&stored.calls), json!(again.as_ref().map(|p| prompts(&p.calls))));
}

/// Finds what differs between a record and the trial made again.
fn compare(stored: &Record, again: &Trial, scores: &BTreeMap<String, f64>, differences: &mut Vec<Difference>) {
    let mut differ = |what: &str, stored_value: Value, recomputed: Value| {
        if stored_value != recomputed {
            let trial = stored.key.clone();
            differences.push(Difference { trial, what: what.to_owned(), stored: stored_value, recomputed });
        }
    };
    let passages = |context: Option<&Context>| {
        let places = context.iter().flat_map(|context| &context.passages);
        json!(places.map(|p| (&p.document, p.start, p.end)).collect::<Vec<_>>())
    };
    differ("passages", passages(stored.context.as_ref()), passages(again.context.as_ref()));
    differ("prompts", prompts(&stored.calls), prompts(&again.calls));
    differ("outcome", json!(stored.outcome), json!(again.outcome));
    let metrics: BTreeSet<&String> = stored.scores.keys().chain(scores.keys()).collect();
    for metric in metrics {
        differ(metric, json!(stored.scores.get(metric)), json!(scores.get(metric)));
    }
}

/// The hashes of what was sent, in order.
fn prompts(calls: &[CallTrace]) -> Value {
    json!(calls.iter().map(|call| &call.sha256).collect::<Vec<_>>())
}

/// A host that knows the responses of one unit or preparation, in their order.
struct Stored<'a> {
    responses: RefCell<VecDeque<Response>>,
    encoder: Option<&'a QueryEncoder>,
    reranker: Option<&'a Reranker>,
    texts: &'a BookTexts,
}

impl<'a> Stored<'a> {
    fn new<'c>(calls: impl IntoIterator<Item = &'c CallTrace>, unit: &'a Unit<'_>, indexes: &'a BookIndexes) -> Self {
        let responses = calls.into_iter().map(CallTrace::to_response).collect();
        let reranker = unit.cell.reranking.as_ref().map(|reranking| &*reranking.reranker);
        let encoder = unit.cell.encoder.as_deref();
        Self { responses: RefCell::new(responses), encoder, reranker, texts: indexes.texts() }
    }
}

impl Host for Stored<'_> {
    async fn chat(&self, _call: Call) -> Result<Response, HostError> {
        let response = self.responses.borrow_mut().pop_front();
        response.ok_or_else(|| HostError::Failed("the record holds no response to this call".to_owned()))
    }

    async fn text(&self, book: &Book) -> Result<Arc<BookText>, HostError> {
        self.texts.open(book).map_err(|error| HostError::Text(error.to_string()))
    }

    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vectors, HostError> {
        let Some(encoder) = self.encoder else {
            return Err(HostError::Embedding("the run embedded nothing for this method".to_owned()));
        };
        encoder.vectors(role, texts).await.map_err(|error| HostError::Embedding(format!("{error:#}")))
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<PairScores, HostError> {
        let Some(reranker) = self.reranker else {
            return Err(HostError::Reranking("the run reranked nothing for this method".to_owned()));
        };
        let scored = reranker.score(query, texts).await;
        scored.map_err(|error| HostError::Reranking(format!("{error:#}")))
    }
}

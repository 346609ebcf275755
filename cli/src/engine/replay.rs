//! A finished run again, without asking anyone: every reply comes from its record, everything else is computed anew.

use super::{Plan, Room, Unit, groups, recorded, units_of};
use crate::benchmark::Benchmark;
use crate::host::QueryEncoder;
use crate::progress::Progress;
use crate::run_folder::{self, PreparationKey};
use anyhow::{Context as _, Result};
use closeread_core::embed::{Role, Vectors};
use closeread_core::host::{Call, Host, HostError, Reply};
use closeread_core::method::{Prepared, Trial};
use closeread_core::record::{CallTrace, Context, Outcome, Record, TrialKey};
use closeread_core::report::CellKey;
use closeread_core::text::Span;
use serde::Serialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::Path;

/// Where the record and the computation disagree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Difference {
    /// The trial.
    #[serde(flatten)]
    pub(crate) trial: TrialKey,
    /// A metric, `outcome`, `prompts`, `passages`, or `record`.
    pub(crate) what: String,
    /// As the record has it; null where it has nothing.
    pub(crate) stored: Value,
    /// As it comes out now; null where nothing does.
    pub(crate) recomputed: Value,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    /// Trials whose parsing and scoring were done again.
    pub(crate) trials: usize,
    /// Trials that ended without a reply to read, of which only the scores were computed again.
    pub(crate) scored_only: usize,
    /// Where something differs, in the order of the records.
    pub(crate) differences: Vec<Difference>,
}

/// Computes every record of the run in `folder` again.
pub(crate) async fn replay(
    plan: &Plan<'_>,
    benchmark: &Benchmark,
    evidence: &HashMap<String, Vec<(usize, Span)>>,
    folder: &Path,
    records: &[Record],
) -> Result<Replayed> {
    let stored: HashMap<&TrialKey, &Record> = records.iter().map(|record| (&record.key, record)).collect();
    let progress = Progress::new("trials", stored.len());
    let mut replayed = Replayed::default();
    for (documents, items) in groups(&benchmark.items) {
        let mut units = units_of(plan, &items);
        for unit in &mut units {
            let (cell, sample) = (unit.cell, unit.sample);
            unit.items.retain(|item| stored.contains_key(&Unit { cell, sample, items: Vec::new() }.key(item)));
        }
        units.retain(|unit| !unit.items.is_empty());
        if units.is_empty() {
            continue;
        }
        let (room, _) = Room::open(plan, benchmark.books_of(documents), &units, &progress).await?;
        for unit in &units {
            let records: Vec<&Record> = unit.items.iter().map(|item| stored[&unit.key(item)]).collect();
            let again: Vec<Trial> = if records.iter().any(|record| ended_early(&record.outcome)) {
                replayed.scored_only += records.len();
                records.iter().map(|record| as_stored(record)).collect()
            } else {
                replayed.trials += records.len();
                once_more(plan, &room, folder, unit, &records).await?
            };
            for ((item, record), again) in unit.items.iter().zip(&records).zip(again) {
                let scores = recorded(item, &again, &room, evidence);
                compare(record, &again, &scores, &mut replayed.differences);
                progress.tick();
            }
        }
    }
    progress.finish();
    Ok(replayed)
}

/// No reply was read: what the provider said is all there is.
fn ended_early(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed { .. } | Outcome::Blocked { .. } | Outcome::Overflow { .. })
}

/// The trial that a record is of.
fn as_stored(record: &Record) -> Trial {
    let Record { outcome, prompt_tokens, context, calls, measures, evidence, asked_with, .. } = record.clone();
    Trial { outcome, prompt_tokens, context, calls, measures, evidence, asked_with }
}

/// The trials of a unit with the replies that their records hold.
async fn once_more(
    plan: &Plan<'_>,
    room: &Room,
    folder: &Path,
    unit: &Unit<'_>,
    records: &[&Record],
) -> Result<Vec<Trial>> {
    let CellKey { method: name, model, budget } = &unit.cell.key;
    let key = PreparationKey {
        method: name.clone(),
        model: model.clone(),
        documents: room.books().iter().map(|book| book.id.clone()).collect(),
        sample: unit.sample,
    };
    let prepared: Option<Prepared> = run_folder::preparation(folder, &key).and_then(|p| p.prepared.ok());
    let material = room.material(plan, unit.cell, prepared.as_ref());
    let calls = records.iter().flat_map(|record| &record.calls);
    let replies = calls.map(|call| Reply { text: call.reply.clone(), usage: call.usage, ..Reply::default() });
    let host = Stored { replies: RefCell::new(replies.collect()), encoder: unit.cell.encoder.as_deref() };
    let trials = unit.cell.method.run(&host, plan.setting, &material, &unit.items, *budget).await;
    trials.with_context(|| format!("item `{}`, method {name}", unit.items[0].id))
}

/// What differs between a record and the trial made again.
fn compare(stored: &Record, again: &Trial, scores: &BTreeMap<String, f64>, differences: &mut Vec<Difference>) {
    let mut differ = |what: &str, stored_value: Value, recomputed: Value| {
        if stored_value != recomputed {
            let trial = stored.key.clone();
            differences.push(Difference { trial, what: what.to_owned(), stored: stored_value, recomputed });
        }
    };
    let prompts = |calls: &[CallTrace]| json!(calls.iter().map(|call| &call.sha256).collect::<Vec<_>>());
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

/// A host that knows the replies of one unit, in their order.
struct Stored<'a> {
    replies: RefCell<VecDeque<Reply>>,
    encoder: Option<&'a QueryEncoder>,
}

impl Host for Stored<'_> {
    async fn chat(&self, _call: Call) -> Result<Reply, HostError> {
        let reply = self.replies.borrow_mut().pop_front();
        reply.ok_or_else(|| HostError::Failed("the record holds no reply to this call".to_owned()))
    }

    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vectors, HostError> {
        let Some(encoder) = self.encoder else {
            return Err(HostError::Embedding("the run embedded nothing for this method".to_owned()));
        };
        encoder.vectors(role, texts).map_err(|error| HostError::Embedding(format!("{error:#}")))
    }
}

//! A trial, from its unit to its record.

use super::book_indexes::BookIndexes;
use super::plan::{Plan, PlannedCell, Unit};
use super::prepare::Preparations;
use crate::journal::{Journal, Journals};
use anyhow::{Context, Result};
use closeread_books::{Book, TextError};
use closeread_eval::{Item, Outcome, score};
use closeread_methods::record::{Record, TrialKey};
use closeread_methods::{ShownOfBooks as Shown, Trial, WordScores, recorded_scores};
use closeread_text::{Language, Span};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;
use tracing::{debug, trace};

/// Makes the trials of a unit; none if the run is to stop before there is room for them, or keeps them from a response.
pub(super) async fn attempt(
    plan: &Plan<'_>,
    indexes: &BookIndexes,
    preparations: &Preparations,
    journals: &Journals,
    evidence: &HashMap<String, Vec<(usize, Span)>>,
    unit: Unit<'_>,
    stop: &Cell<bool>,
) -> Result<Option<(Vec<Record>, Journal)>> {
    let _permit = plan.hosts[&unit.cell.key.model].permit().await;
    if stop.get() {
        return Ok(None);
    }
    let started = Instant::now();
    let journal = journals.of(&unit.name())?;
    let Unit { cell, repeat, items } = &unit;
    let PlannedCell { key, method, encoder, reranking } = cell;
    let trials = match preparations.of(plan, indexes, cell) {
        Some(Err(outcome)) => items.iter().map(|_| Trial::ended(outcome.clone())).collect(),
        prepared => {
            let host = &plan.hosts[&key.model]
                .repetition(*repeat, encoder.as_deref())
                .reranking(reranking.as_ref().map(|reranking| &*reranking.reranker))
                .of_method(&key.method)
                .journalled(&journal)
                .reading(indexes.texts());
            let session = indexes.session(plan, cell, &key.model, host);
            let trials = method.run(&session, items, prepared.and_then(|p| p.as_ref().ok())).await;
            if host.was_cut_off() {
                return Ok(None);
            }
            trials.with_context(|| format!("item `{}`, method {}", items[0].id, key.method))?
        }
    };
    let seconds = started.elapsed().as_secs_f64() + journal.replayed_seconds();
    let records = items.iter().zip(trials).map(|(item, trial)| {
        let (trial, scores) = match recorded(item, &trial, indexes, evidence, &plan.words) {
            Ok(scores) => (trial, scores),
            Err(gone) => failed(item, trial, &gone.to_string(), indexes.books(), &plan.words),
        };
        match &trial.outcome {
            Outcome::Failed { error } => debug!(seconds, "trial failed: {error}"),
            outcome => trace!(seconds, "trial ended: {}", outcome.name()),
        }
        record(unit.key(item), trial, scores, seconds)
    });
    let records = records.collect();
    Ok(Some((records, journal)))
}

/// A trial that fails for want of a text, with its scores.
pub(super) fn failed(
    item: &Item,
    trial: Trial,
    error: &str,
    books: &[Arc<Book>],
    words: &WordScores,
) -> (Trial, BTreeMap<String, f64>) {
    let outcome = Outcome::Failed { error: error.to_owned() };
    let language = books.first().map_or(Language::ENGLISH, |book| book.language);
    let mut scores = score(item, &outcome, language);
    scores.extend(words.scores(item, &outcome, language));
    (Trial { outcome, context: None, evidence: None, ..trial }, scores)
}

/// A trial as it is kept; of several with one call the first has the time.
pub(super) fn record(key: TrialKey, trial: Trial, scores: BTreeMap<String, f64>, seconds: f64) -> Record {
    Record {
        key,
        outcome: trial.outcome,
        scores,
        prompt_tokens: trial.prompt_tokens,
        context: trial.context,
        calls: trial.calls,
        measures: trial.measures,
        evidence: trial.evidence,
        seconds: if trial.shared_call.is_some() { 0.0 } else { seconds },
        shared_call: trial.shared_call,
    }
}

/// The scores of a trial as its record holds them.
pub(super) fn recorded(
    item: &Item,
    trial: &Trial,
    indexes: &BookIndexes,
    evidence: &HashMap<String, Vec<(usize, Span)>>,
    words: &WordScores,
) -> Result<BTreeMap<String, f64>, TextError> {
    let shown = Shown { context: trial.context.as_ref(), cited: trial.evidence.as_deref() };
    let gold = evidence.get(&item.id).map(Vec::as_slice);
    let mut scores =
        recorded_scores(item, &trial.outcome, shown, gold, indexes.books(), |book| indexes.texts().open(book))?;
    let language = indexes.books().first().map_or(Language::ENGLISH, |book| book.language);
    scores.extend(words.scores(item, &trial.outcome, language));
    Ok(scores)
}

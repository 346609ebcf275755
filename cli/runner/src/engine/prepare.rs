//! Preparations that methods make of the books before their questions, made once and kept in the run folder.

use super::book_indexes::BookIndexes;
use super::plan::{Plan, PlannedCell, Unit};
use crate::journal::Journals;
use crate::run_folder::{PreparationKey, RunFolder};
use anyhow::{Context, Result};
use closeread_eval::Outcome;
use closeread_methods::AnyPrepared;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;

/// Longest that it takes until a preparation hears that the run is to stop.
const STOP_SEEN_WITHIN: Duration = Duration::from_millis(50);

/// The preparations by the hash of their key: what was made, or how every question on these books ends because it could
/// not be.
pub(super) struct Preparations(HashMap<String, Result<AnyPrepared, Outcome>>);

/// Returns the key of the preparation of a cell's method on the indexed books; `None` if it makes none.
pub(super) fn key_of(plan: &Plan<'_>, indexes: &BookIndexes, cell: &PlannedCell) -> Option<PreparationKey> {
    let inputs = cell.method.preparation()?;
    let hash = |name: &&str| Some(((*name).to_owned(), plan.setting.prompts.hashes().get(*name)?.clone()));
    Some(PreparationKey {
        method: cell.key.method.clone(),
        parameters: inputs.parameters,
        model: plan.preparer.as_ref().unwrap_or(&cell.key.model).clone(),
        documents: indexes.books().iter().map(|book| book.id.clone()).collect(),
        texts: indexes.books().iter().map(|book| book.hash().to_owned()).collect(),
        embedder: indexes.embedder(plan, cell),
        prompts: inputs.prompts.iter().filter_map(hash).collect(),
    })
}

impl Preparations {
    /// Makes what the units need and the folder does not hold, one after the other: within one, calls run in parallel.
    /// Whoever reads, a preparation is asked for by the preparing model, as for the first repetition.
    pub(super) async fn make(
        plan: &Plan<'_>,
        indexes: &BookIndexes,
        units: &[Unit<'_>],
        folder: &RefCell<&mut RunFolder>,
        journals: &Journals,
        stop: &Cell<bool>,
    ) -> Result<Self> {
        let mut made = HashMap::new();
        for Unit { cell, .. } in units {
            let Some(key) = key_of(plan, indexes, cell) else { continue };
            if stop.get() || made.contains_key(&key.hash()) {
                continue;
            }
            let kept = folder.borrow().preparation(&key);
            let preparation = match kept {
                Some(preparation) => {
                    journals.discard(&key)?;
                    Some(preparation)
                }
                None => {
                    let journal = journals.of(&key)?;
                    let host = &plan.hosts[&key.model]
                        .repetition(0, cell.encoder.as_deref())
                        .of_method(&key.method)
                        .journalled(&journal)
                        .reading(indexes.texts());
                    let session = indexes.session(plan, cell, &key.model, host);
                    let preparation = tokio::select! {
                        biased;
                        made = cell.method.prepare(&session) => made,
                        // The responses there are stand in the journal; what was computed is computed again.
                        () = given_up(plan, stop) => break,
                    };
                    if host.was_cut_off() {
                        break;
                    }
                    let preparation = preparation.with_context(|| format!("method {}", key.method))?;
                    if let Some(preparation) = &preparation {
                        folder.borrow().keep_preparation(&key, preparation)?;
                        match preparation.prepared {
                            Err(Outcome::Failed { .. }) => journal.forget_empty()?,
                            _ => journal.remove()?,
                        }
                    }
                    preparation
                }
            };
            made.extend(preparation.map(|preparation| (key.hash(), preparation.prepared)));
        }
        Ok(Self(made))
    }

    /// Returns what was made for a cell; `None` if its method makes nothing.
    pub(super) fn of(
        &self,
        plan: &Plan<'_>,
        indexes: &BookIndexes,
        cell: &PlannedCell,
    ) -> Option<&Result<AnyPrepared, Outcome>> {
        self.0.get(&key_of(plan, indexes, cell)?.hash())
    }
}

/// Returns when the run is to stop and no call is under way that somebody pays for.
async fn given_up(plan: &Plan<'_>, stop: &Cell<bool>) {
    while !stop.get() || plan.spending.taken().in_flight > 0 {
        tokio::time::sleep(STOP_SEEN_WITHIN).await;
    }
}

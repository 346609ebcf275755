//! What methods make of the books before their questions, made once and kept in the run folder.

use super::{Plan, Room, Unit};
use crate::journal::Journals;
use crate::run_folder::{PreparationKey, RunFolder};
use anyhow::{Context, Result};
use closeread_core::method::Prepared;
use closeread_core::record::Outcome;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// Longest that it takes until a preparation hears that the run is to stop.
const STOP_SEEN_WITHIN: Duration = Duration::from_millis(50);

/// By method, model and repetition: what was made, or how every question on these books ends because it could not be.
pub(super) struct Preparations(HashMap<(String, String, u32), Result<Prepared, Outcome>>);

impl Preparations {
    /// Makes what the units need and the folder does not hold, one after the other: within one, calls run in parallel.
    pub(super) async fn make(
        plan: &Plan<'_>,
        room: &Room,
        units: &[Unit<'_>],
        folder: &RefCell<&mut RunFolder>,
        journals: &Journals,
        stop: &Cell<bool>,
    ) -> Result<Self> {
        let mut made = HashMap::new();
        let mut seen = BTreeSet::new();
        for Unit { cell, sample, .. } in units {
            let (method, model) = (&cell.key.method, &cell.key.model);
            if stop.get() || !seen.insert((method, model, *sample)) {
                continue;
            }
            let key = PreparationKey {
                method: method.clone(),
                model: model.clone(),
                documents: room.books().iter().map(|book| book.id.clone()).collect(),
                sample: *sample,
            };
            let kept = folder.borrow().preparation(&key);
            let preparation = match kept {
                Some(preparation) => {
                    journals.discard(&key)?;
                    Some(preparation)
                }
                None => {
                    let journal = journals.of(&key)?;
                    let material = room.material(plan, cell, None);
                    let host = &plan.hosts[model]
                        .repetition(*sample, cell.encoder.as_deref())
                        .of_method(method)
                        .journalled(&journal);
                    let preparation = tokio::select! {
                        biased;
                        made = cell.method.prepare(host, plan.setting, &material) => made,
                        // The replies there are stand in the journal; what was computed is computed again.
                        () = given_up(plan, stop) => break,
                    };
                    let preparation = preparation.with_context(|| format!("method {method}"))?;
                    if let Some(preparation) = &preparation {
                        folder.borrow().keep_preparation(&key, preparation)?;
                        if !matches!(preparation.prepared, Err(Outcome::Failed { .. })) {
                            journal.remove()?;
                        }
                    }
                    preparation
                }
            };
            made.extend(preparation.map(|p| ((method.clone(), model.clone(), *sample), p.prepared)));
        }
        Ok(Self(made))
    }

    pub(super) fn of(&self, method: &str, model: &str, sample: u32) -> Option<&Result<Prepared, Outcome>> {
        self.0.get(&(method.to_owned(), model.to_owned(), sample))
    }
}

/// Returns when the run is to stop and no call is under way that somebody pays for.
async fn given_up(plan: &Plan<'_>, stop: &Cell<bool>) {
    while !stop.get() || plan.spending.taken().in_flight > 0 {
        tokio::time::sleep(STOP_SEEN_WITHIN).await;
    }
}

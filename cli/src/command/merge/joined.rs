//! Items and trials of several parts, joined.

use super::{Part, name};
use closeread_eval::{Item, Outcome};
use closeread_judges::Subject;
use closeread_methods::record::{Record, TrialKey};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What the parts hold together, each item and trial once.
pub(super) struct Joined {
    pub(super) items: Vec<Item>,
    pub(super) records: BTreeMap<TrialKey, Record>,
    /// Trials that were in several folders.
    pub(super) n_duplicates: usize,
    /// Those of them that ended in several ways; that of the first folder counts, unless it failed.
    pub(super) differing: Vec<String>,
}

/// Keeps the last record of each trial: one is asked again if others join it in the call on their book.
pub(super) fn latest(records: Vec<Record>) -> Vec<Record> {
    let last: HashMap<&TrialKey, usize> = records.iter().enumerate().map(|(at, record)| (&record.key, at)).collect();
    let is_last: Vec<bool> = records.iter().enumerate().map(|(at, record)| last[&record.key] == at).collect();
    records.into_iter().zip(is_last).filter_map(|(record, is_last)| is_last.then_some(record)).collect()
}

impl Joined {
    /// Takes items and records out of the parts.
    pub(super) fn of(parts: &mut [Part]) -> Self {
        let (mut known, mut items, mut records) = (HashSet::new(), Vec::new(), BTreeMap::new());
        let (mut n_duplicates, mut differing) = (0, Vec::new());
        for part in parts {
            items.extend(part.items.drain(..).filter(|(_, item)| known.insert(item.id.clone())));
            for record in part.records.drain(..) {
                let Some(known) = records.get(&record.key) else {
                    records.insert(record.key.clone(), record);
                    continue;
                };
                n_duplicates += 1;
                let has_failed = |record: &Record| matches!(record.outcome, Outcome::Failed { .. });
                if has_failed(known) && !has_failed(&record) {
                    records.insert(record.key.clone(), record);
                } else if known.outcome != record.outcome && !has_failed(known) {
                    differing.push(name(&record.key));
                    part.outvoted.insert(Subject::from(&record.key));
                }
            }
        }
        items.sort_by_key(|(place, _)| *place);
        let items = items.into_iter().map(|(_, item)| item).collect();
        Self { items, records, n_duplicates, differing }
    }
}

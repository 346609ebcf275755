//! A run that is made of records from elsewhere, such as what people saved.

use super::extension::{judged_trial, keep_superseded, sorted_out};
use crate::judging::JUDGEMENTS;
use anyhow::Result;
use closeread_eval::Outcome;
use closeread_files::run_files::RECORDS;
use closeread_files::{self as files, write_atomically, write_lines};
use closeread_methods::record::{Record, TrialKey};
use std::collections::HashMap;
use std::path::Path;

/// Puts `records` in the place of those of the folder. What judges said of trials that ended as they did before is kept; the rest
/// of it goes to `superseded.jsonl`.
pub(super) fn remake(path: &Path, records: &[Record]) -> Result<()> {
    // Of records that cannot be read nothing is known to be the same.
    let before: Vec<Record> = files::read_lines(&path.join(RECORDS), "a record of a trial").unwrap_or_default();
    let outcomes = |records: &[Record]| -> HashMap<TrialKey, Outcome> {
        records.iter().map(|record| (record.key.clone(), record.outcome.clone())).collect()
    };
    let (before, now) = (outcomes(&before), outcomes(records));
    let is_other = |key: TrialKey| before.get(&key).is_none_or(|outcome| now.get(&key) != Some(outcome));
    let (stay, go) = sorted_out(&path.join(JUDGEMENTS), |line| judged_trial(line).is_some_and(is_other))?;
    put_away(path, &stay, &go)?;
    write_lines(&path.join(RECORDS), records)
}

/// Takes what judges said of trials out of a folder that has no record of them, such as a damaged one whose lines were removed:
/// they are asked again, and may be answered otherwise. It goes to `superseded.jsonl`.
pub(super) fn forget_unfounded(path: &Path, finished: &HashMap<TrialKey, Record>) -> Result<()> {
    let is_asked_again =
        |key: TrialKey| finished.get(&key).is_none_or(|record| matches!(record.outcome, Outcome::Failed { .. }));
    // Whatever reads the judgements next says where the file is damaged.
    let sorted = sorted_out(&path.join(JUDGEMENTS), |line| judged_trial(line).is_some_and(is_asked_again));
    let Ok((stay, go)) = sorted else { return Ok(()) };
    put_away(path, &stay, &go)
}

/// Leaves the lines `stay` in the folder's judgements; those that `go` are in `superseded.jsonl` first, so that a kill loses none.
fn put_away(path: &Path, stay: &[u8], go: &[u8]) -> Result<()> {
    if go.is_empty() {
        return Ok(());
    }
    keep_superseded(path, &[go])?;
    write_atomically(&path.join(JUDGEMENTS), stay)
}

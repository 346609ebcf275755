//! The names of a run folder's files that more than one crate knows.

use anyhow::{Result, bail};
use std::fs;
use std::path::Path;

/// A line for each finished trial.
pub const RECORDS: &str = "records.jsonl";
/// Name of the file with what judges said.
pub const JUDGEMENTS: &str = "judgements.jsonl";
/// Name of the file with what each request for embeddings took.
pub const EMBEDDINGS: &str = "embeddings.jsonl";
/// Name of the file with what each request to a reranker took.
pub const RERANKING: &str = "reranking.jsonl";
/// Records and judgements that an extension of the run put in the place of others.
pub const SUPERSEDED: &str = "superseded.jsonl";

/// What each call may cost and has cost.
pub const CHARGES: &str = ".spending.jsonl";

/// The files that grow by lines.
pub const GROWING: [&str; 5] = [RECORDS, JUDGEMENTS, EMBEDDINGS, RERANKING, SUPERSEDED];

/// Names of the other files that only runs, judges and merges write.
const WHOLE: [&str; 10] = [
    "manifest.json",
    "items.jsonl",
    "report.json",
    "judging.json",
    "prices.json",
    "cut.json",
    "journal",
    "texts",
    "preparations",
    "batches",
];

/// Refuses a file that a person named as an output where it is part of a run: a report is never worth its records.
pub fn refuse_run_file(path: &Path) -> Result<()> {
    let followed = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_run = |folder: &&Path| folder.join("manifest.json").is_file() && folder.join("items.jsonl").is_file();
    let run = followed.ancestors().skip(1).take(2).find(is_run);
    let part = run.and_then(|run| followed.strip_prefix(run).ok()?.iter().next()?.to_str());
    match part {
        Some(part) if GROWING.contains(&part) || WHOLE.contains(&part) => {
            bail!("cannot write {}: it is part of the run in that folder; name another file", path.display())
        }
        _ => Ok(()),
    }
}

//! A run of any length, whose records are read one at a time.

use super::{RunFiles, manifest, manifest_bytes, of_folder, preparation_files, read_record, run_of_records};
use crate::judging::{JUDGEMENTS, JUDGING};
use crate::run_folder::{MANIFEST, PRICES};
use anyhow::{Context, Result};
use closeread_files as files;
use closeread_methods::OnTruncation;
use closeread_methods::record::{CallTrace, Record};
use closeread_report::Run;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A run whose records hold what scores are made of; the rest is read trial by trial.
#[derive(Debug)]
pub struct Streamed {
    /// The run. Its records have no calls, no contexts and no measures.
    pub run: Run,
    /// Names of the measures that some record holds.
    pub measures: BTreeSet<String>,
    /// When its manifest was last written, in seconds since 1970.
    pub created: i64,
    /// Its records with all that they hold.
    pub stored: StoredRecords,
}

/// The lines of a run's records, read one at a time.
#[derive(Debug)]
pub struct StoredRecords {
    path: PathBuf,
    lines: BufReader<File>,
    /// Where the line of each record of the run begins, its length and its number.
    places: Vec<(u64, usize, usize)>,
}

impl StoredRecords {
    /// The record of `run`, whose they are, with all that its line holds; outcome and scores are those that count.
    pub fn read(&mut self, run: &Run, place: usize) -> Result<Record> {
        let (start, length, number) = self.places[place];
        let mut line = vec![0; length];
        self.lines.seek(SeekFrom::Start(start))?;
        self.lines.read_exact(&mut line).with_context(|| format!("cannot read {}", self.path.display()))?;
        let mut record = read_record(number, &line).map_err(|error| of_folder(&self.path, &error))?;
        let counted = &run.records[place];
        record.outcome = counted.outcome.clone();
        record.scores = counted.scores.clone();
        Ok(record)
    }
}

/// Opens a run folder; its books are not read.
///
/// # Errors
/// As [`super::load`].
pub fn stream(path: &Path, name: String) -> Result<Streamed> {
    let bytes = manifest_bytes(path)?;
    let keeps_calls = manifest(path)?.configuration.on_truncation == OnTruncation::Fail;
    let file = path.join("records.jsonl");
    let opened = files::open_file(&file, u64::MAX).with_context(|| format!("cannot read {}", file.display()))?;
    let mut lines = BufReader::new(opened.into_inner());
    let (mut records, mut places, mut measures) = (Vec::new(), Vec::new(), BTreeSet::new());
    let (mut at, mut number, mut line) = (0, 0, Vec::new());
    loop {
        line.clear();
        let length = lines.read_until(b'\n', &mut line).with_context(|| format!("cannot read {}", file.display()))?;
        number += 1;
        // The last line of a run that was killed has no end.
        if line.pop() != Some(b'\n') {
            break;
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            let mut record = read_record(number, &line).map_err(|error| of_folder(path, &error))?;
            measures.extend(std::mem::take(&mut record.measures).into_keys());
            (record.context, record.evidence) = (None, None);
            record.calls = if keeps_calls { record.calls.iter().filter_map(counted).collect() } else { Vec::new() };
            records.push(record);
            places.push((at, line.len(), number));
        }
        at += length as u64;
    }
    let items = files::read_file(path.join("items.jsonl"))
        .with_context(|| format!("cannot read {}", path.join("items.jsonl").display()))?;
    let optional = |name: &str| files::read(&path.join(name));
    let (judging, judgements, prices) = (optional(JUDGING)?, optional(JUDGEMENTS)?, optional(PRICES)?);
    let run_files = RunFiles {
        manifest: &bytes,
        items: &items,
        records: &[],
        judging: judging.as_deref(),
        judgements: judgements.as_deref(),
        prices: prices.as_deref(),
        preparations: &preparation_files(path)?,
    };
    let of: Vec<String> = records.iter().map(|record: &Record| record.key.item.clone()).collect();
    let (mut run, left_out) =
        run_of_records(name, &run_files, records, BTreeMap::new()).map_err(|error| of_folder(path, &error))?;
    run.records.iter_mut().for_each(|record| record.calls = Vec::new());
    if left_out > 0 {
        let known: HashSet<&str> = run.items.iter().map(|item| item.id.as_str()).collect();
        let mut of = of.iter();
        places.retain(|_| of.next().is_some_and(|item| known.contains(item.as_str())));
    }
    let modified = std::fs::metadata(path.join(MANIFEST)).and_then(|metadata| metadata.modified());
    let created =
        modified.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_secs());
    let created = i64::try_from(created).unwrap_or_default();
    Ok(Streamed { run, measures, created, stored: StoredRecords { path: path.to_owned(), lines, places } })
}

/// What tells whether the server cut a prompt, of a call whose server counted it.
fn counted(call: &CallTrace) -> Option<CallTrace> {
    let CallTrace { counted_tokens, usage, finish, .. } = *call;
    usage.served_tokens().map(|_| CallTrace { counted_tokens, usage, finish, ..CallTrace::default() })
}

//! A run of any length, whose records are read cell by cell, and whole ones one at a time.

use super::{RunFiles, manifest, manifest_bytes, of_folder, preparation_files, read_record, run_of_records};
use crate::judging::{JUDGEMENTS, JUDGING};
use crate::run_folder::{MANIFEST, PRICES};
use anyhow::{Context, Result};
use closeread_files as files;
use closeread_files::run_files::RECORDS;
use closeread_methods::OnTruncation;
use closeread_methods::record::{CallTrace, Record};
use closeread_report::{Arm, Run, Scored};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A run whose records hold what scores are made of; the rest is read trial by trial.
#[derive(Debug)]
pub struct Streamed {
    /// The run. Its records are those of the cell that was [loaded](Self::load); they have no calls, no contexts and no
    /// measures.
    pub run: Run,
    /// Names of the measures that some record holds.
    pub measures: BTreeSet<String>,
    /// The metrics that some record of an item holds, whatever is loaded.
    pub scored: Scored,
    /// Time when the run's manifest was last written, in seconds since 1970.
    pub created: i64,
    /// Damage and gaps, a sentence each, as [`Run::lacks`] says it of a whole run.
    pub lacks: Vec<String>,
    /// Records of the run with all that they hold.
    pub stored: StoredRecords,
    /// The lines of each cell of the plan.
    cells: Vec<Vec<Place>>,
    /// True where only all records together say how some ended: then all are held, whatever is loaded.
    is_whole: bool,
}

/// The lines of a run's records, read one at a time.
#[derive(Debug)]
pub struct StoredRecords {
    path: PathBuf,
    lines: BufReader<File>,
    /// The line of each record of the run.
    places: Vec<Place>,
}

/// A line of a record.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: u64,
    length: u32,
    number: u32,
}

impl StoredRecords {
    /// The record of `run`, whose they are, with all that its line holds; outcome and scores are those that count.
    pub fn read(&mut self, run: &Run, place: usize) -> Result<Record> {
        let mut record = self.record(self.places[place])?;
        let counted = &run.records[place];
        record.outcome = counted.outcome.clone();
        record.scores = counted.scores.clone();
        Ok(record)
    }

    fn record(&mut self, Place { start, length, number }: Place) -> Result<Record> {
        let mut line = vec![0; length as usize];
        self.lines.seek(SeekFrom::Start(start))?;
        self.lines.read_exact(&mut line).with_context(|| format!("cannot read {}", self.path.display()))?;
        read_record(number as usize, &line).map_err(|error| of_folder(&self.path, &error))
    }
}

impl Streamed {
    /// Loads the records of a cell of the plan in place of those that are there.
    ///
    /// # Errors
    /// If the file of the records cannot be read any more.
    pub fn load(&mut self, arm: &Arm) -> Result<()> {
        if self.is_whole {
            return Ok(());
        }
        let cell = self.run.plan.iter().position(|planned| planned == arm);
        let places = cell.map_or_else(Vec::new, |cell| self.cells[cell].clone());
        self.read(places)
    }

    /// Loads the records of all cells: what a cell without any score is measured by.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_all(&mut self) -> Result<()> {
        if self.is_whole { Ok(()) } else { self.read(self.cells.concat()) }
    }

    fn read(&mut self, places: Vec<Place>) -> Result<()> {
        self.run.records = Vec::new();
        let mut records = Vec::with_capacity(places.len());
        for place in &places {
            records.push(bare(self.stored.record(*place)?));
        }
        closeread_judges::score(&self.run.judging, &self.run.items, &mut records);
        records.iter_mut().for_each(|record| record.evidence = None);
        (self.run.records, self.stored.places) = (records, places);
        Ok(())
    }

    /// Finds the line of each record, and what is missing; gives the records of known items where all are held.
    fn index(&mut self, path: &Path) -> Result<Vec<Record>> {
        let Self { run, stored, measures, scored, cells, is_whole, .. } = self;
        let known: HashMap<&str, u32> = (0..).zip(&run.items).map(|(n, item)| (item.id.as_str(), n)).collect();
        let (mut there, mut left_out, mut records) = (HashSet::new(), 0, Vec::new());
        let (mut at, mut number, mut line) = (0, 0, Vec::new());
        loop {
            line.clear();
            let length = stored.lines.read_until(b'\n', &mut line);
            let length = length.with_context(|| format!("cannot read {}", stored.path.display()))?;
            number += 1;
            // The last line of a run that was killed is cut short.
            if files::whole(&line) == 0 {
                break;
            }
            line.pop_if(|byte| *byte == b'\n');
            if !line.iter().all(u8::is_ascii_whitespace) {
                let place = Place { start: at, length: u32::try_from(line.len())?, number };
                let mut record = read_record(number as usize, &line).map_err(|error| of_folder(path, &error))?;
                measures.extend(std::mem::take(&mut record.measures).into_keys());
                let arm = Arm::of(&record.key);
                let cell = run.plan.iter().position(|planned| *planned == arm);
                match (known.get(record.key.item.as_str()), cell) {
                    (None, _) => left_out += 1,
                    (Some(item), cell) => {
                        let metrics = scored.entry(record.key.item.clone()).or_default();
                        metrics.extend(record.scores.keys().cloned());
                        if let Some(cell) = cell {
                            cells[cell].push(place);
                            if record.key.repeat < run.repeats {
                                there.insert((cell as u32, *item, record.key.repeat));
                            }
                        }
                        if *is_whole {
                            let calls = record.calls.iter().filter_map(counted).collect();
                            records.push(Record { calls, ..bare(record) });
                            stored.places.push(place);
                        }
                    }
                }
            }
            at += length as u64;
        }
        run.gaps.extend(closeread_report::records_left_out(left_out));
        self.lacks = self.run.lacks_of(there.len());
        Ok(records)
    }
}

/// Opens a run folder; its books are not read.
///
/// # Errors
/// As [`super::load`].
pub fn stream(path: &Path, name: String) -> Result<Streamed> {
    let manifest_bytes = manifest_bytes(path)?;
    let file = path.join(RECORDS);
    let opened = files::open_file(&file, u64::MAX).with_context(|| format!("cannot read {}", file.display()))?;
    let lines = BufReader::new(opened.into_inner());
    let items = files::read_file(path.join("items.jsonl"))
        .with_context(|| format!("cannot read {}", path.join("items.jsonl").display()))?;
    let optional = |name: &str| files::read(&path.join(name));
    let (judging, judgements, prices) = (optional(JUDGING)?, optional(JUDGEMENTS)?, optional(PRICES)?);
    let run_files = RunFiles {
        manifest: &manifest_bytes,
        items: &items,
        records: &[],
        judging: judging.as_deref(),
        judgements: judgements.as_deref(),
        prices: prices.as_deref(),
        preparations: &preparation_files(path)?,
    };
    let made = |records| run_of_records(name.clone(), &run_files, records, Default::default());
    let (run, _) = made(Vec::new()).map_err(|error| of_folder(path, &error))?;
    let modified = std::fs::metadata(path.join(MANIFEST)).and_then(|metadata| metadata.modified());
    let created =
        modified.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_secs());
    let created = i64::try_from(created).unwrap_or_default();
    let stored = StoredRecords { path: file, lines, places: Vec::new() };
    let cells = vec![Vec::new(); run.plan.len()];
    // Whether a server cut prompts is told by all calls of a run together.
    let is_whole = manifest(path)?.configuration.on_truncation == OnTruncation::Fail;
    let (measures, scored, lacks) = (BTreeSet::new(), Scored::new(), Vec::new());
    let mut streamed = Streamed { run, measures, scored, created, lacks, stored, cells, is_whole };
    let all = streamed.index(path)?;
    if is_whole {
        let (run, _) = made(all).map_err(|error| of_folder(path, &error))?;
        streamed.run.records = run.records;
        streamed.run.records.iter_mut().for_each(|record| (record.calls, record.evidence) = (Vec::new(), None));
    }
    Ok(streamed)
}

/// A record with what scores are made of alone.
fn bare(record: Record) -> Record {
    Record { calls: Vec::new(), context: None, measures: Default::default(), ..record }
}

/// Returns what tells whether the server cut a prompt, of a call whose server counted it.
fn counted(call: &CallTrace) -> Option<CallTrace> {
    let CallTrace { counted_tokens, usage, finish, .. } = *call;
    usage.served_tokens().map(|_| CallTrace { counted_tokens, usage, finish, ..CallTrace::default() })
}

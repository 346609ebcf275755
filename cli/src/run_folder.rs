//! The run folder: manifest, records, texts, report. Nothing finished is ever lost.

mod embeddings;
mod preparations;
mod texts;

pub(crate) use embeddings::{EMBEDDINGS, embedding_calls};
pub(crate) use preparations::{PreparationKey, preparation, preparation_calls, preparations};
pub(crate) use texts::StoredTexts;

use crate::journal::{self, Journals};
use crate::judging::{JUDGEMENTS, JUDGING};
use crate::provider::batch;
use crate::shard::Shard;
use anyhow::{Context, Result, bail};
use closeread_core::benchmark::Item;
use closeread_core::method::Preparation;
use closeread_core::price::{Dollars, PriceList};
use closeread_core::record::{CallTrace, EmbeddingCall, FORMAT, Outcome, Record, TrialKey};
use closeread_core::report::{PreparationCalls, embedding_usage};
use closeread_core::text::{Book, TextStore};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How hard a book is compressed: zstd's usual trade-off, a book takes some hundredths of a second.
const COMPRESSION: i32 = 9;
/// What was run.
pub(crate) const MANIFEST: &str = "manifest.json";
/// How many texts were cut for the encoder, by book.
const CUT: &str = "cut.json";

/// The prices that the run's money is counted by.
pub(crate) const PRICES: &str = "prices.json";

/// An open run folder; nobody else has it while this value lives.
pub(crate) struct RunFolder {
    path: PathBuf,
    records: File,
    finished: HashMap<TrialKey, Record>,
    /// Released by the system when the process ends, however it ends.
    _lock: File,
}

impl RunFolder {
    /// Opens `path` for the run that `configuration` describes, creating it if need be.
    ///
    /// A folder that holds another configuration is refused with the list of what differs. A last line that a kill cut
    /// short is dropped: its trial was not finished.
    pub(crate) fn open(path: &Path, configuration: &Value, shard: Option<Shard>, fresh: bool) -> Result<Self> {
        fs::create_dir_all(path.join("texts"))
            .with_context(|| format!("cannot create the run folder {}; choose another with --out", path.display()))?;
        let lock = lock(path)?;
        let manifest = path.join(MANIFEST);
        if fresh {
            for name in [MANIFEST, "records.jsonl", "report.json", CUT, EMBEDDINGS, JUDGEMENTS, JUDGING] {
                gone(&path.join(name), |path| fs::remove_file(path))?;
            }
            for name in [preparations::FOLDER, journal::FOLDER, batch::FOLDER] {
                gone(&path.join(name), |path| fs::remove_dir_all(path))?;
            }
        }
        match fs::read_to_string(&manifest) {
            Ok(text) => check_same(path, &text, configuration, shard)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let mut text = json!({
                    "format": FORMAT,
                    "closeread": env!("CARGO_PKG_VERSION"),
                    "configuration": configuration,
                });
                if let Some(shard) = shard {
                    text["shard"] = json!(shard);
                }
                write_atomically(&manifest, &pretty(&text))?;
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", manifest.display())),
        }
        if path.join(EMBEDDINGS).exists() {
            open_lines::<EmbeddingCall>(&path.join(EMBEDDINGS), "what a request for embeddings took")?;
        }
        let (records, finished) = open_records(&path.join("records.jsonl"))?;
        Ok(Self { path: path.to_owned(), records, finished, _lock: lock })
    }

    /// Where it lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Stores the books, each once by hash, and the items as they are scored.
    pub(crate) fn store<'a>(&self, books: impl IntoIterator<Item = &'a Book>, items: &[Item]) -> Result<()> {
        for book in books {
            let file = self.path.join("texts").join(format!("{}.txt.zst", book.hash()));
            if !file.exists() {
                let text = book.open()?;
                let packed =
                    zstd::encode_all(text.source().as_bytes(), COMPRESSION).context("cannot compress a book")?;
                write_atomically(&file, &packed)?;
            }
        }
        self.write_items(items)
    }

    /// The books that [`RunFolder::store`] stored.
    pub(crate) fn texts(&self) -> Arc<dyn TextStore> {
        Arc::new(StoredTexts { folder: self.path.join("texts") })
    }

    /// Stores the items as they are scored.
    pub(crate) fn write_items(&self, items: &[Item]) -> Result<()> {
        let mut lines = Vec::new();
        for item in items {
            serde_json::to_writer(&mut lines, item)?;
            lines.push(b'\n');
        }
        write_atomically(&self.path.join("items.jsonl"), &lines)
    }

    /// The records there are, failed trials included.
    pub(crate) fn records(&self) -> Vec<Record> {
        let mut records: Vec<Record> = self.finished.values().cloned().collect();
        records.sort_by(|a, b| a.key.cmp(&b.key));
        records
    }

    /// Whether a trial need not be run again. A failed one is: the fault may be gone.
    pub(crate) fn is_done(&self, key: &TrialKey) -> bool {
        self.finished.get(key).is_some_and(|record| !matches!(record.outcome, Outcome::Failed { .. }))
    }

    /// Appends the records of what was asked at once; once this returns, a kill cannot undo it.
    pub(crate) fn append(&mut self, records: Vec<Record>) -> Result<()> {
        let mut lines = Vec::new();
        for record in &records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        self.records
            .write_all(&lines)
            .with_context(|| format!("cannot write {}", self.path.join("records.jsonl").display()))?;
        self.finished.extend(records.into_iter().map(|record| (record.key.clone(), record)));
        Ok(())
    }

    /// What a method made of books, if it was made.
    pub(crate) fn preparation(&self, key: &PreparationKey) -> Option<Preparation> {
        preparation(&self.path, key)
    }

    /// Keeps what a method made of books. What failed is not kept: the fault may be gone in the next run.
    pub(crate) fn keep_preparation(&self, key: &PreparationKey, preparation: &Preparation) -> Result<()> {
        match preparation.prepared {
            Err(Outcome::Failed { .. }) => Ok(()),
            _ => preparations::keep(&self.path, key, preparation),
        }
    }

    /// The calls of all preparations.
    pub(crate) fn preparation_calls(&self) -> Result<Vec<PreparationCalls>> {
        preparation_calls(&self.path)
    }

    /// What the calls cost that are in the folder; those of unknown price count as nothing. The calls of trials that are
    /// not finished, failed ones included, stand in their journals.
    pub(crate) fn spent(&self, prices: &PriceList) -> Result<Dollars> {
        let cost = |model: &str, call: &CallTrace| match call.remembered {
            true => Dollars::default(),
            false => prices.cost(model, &call.usage).unwrap_or_default(),
        };
        let finished = self.finished.values().filter(|record| self.is_done(&record.key));
        let trials = finished.flat_map(|r| r.calls.iter().map(move |call| cost(&r.key.model, call)));
        let preparations = self.preparation_calls()?;
        let before = preparations.iter().flat_map(|p| p.calls.iter().map(move |call| cost(&p.model, call)));
        let unfinished = Journals::of_run(&self.path).replies()?;
        let unfinished = unfinished.iter().filter_map(|(model, reply)| prices.cost(model, &reply.usage));
        let embedded = embedding_usage(&embedding_calls(&self.path)?, prices);
        Ok(trials.chain(before).chain(unfinished).chain(embedded.iter().map(|usage| usage.dollars)).sum())
    }

    /// Keeps the prices that the run's money is counted by.
    pub(crate) fn write_prices(&self, prices: &PriceList) -> Result<()> {
        write_atomically(&self.path.join(PRICES), &pretty(&json!(prices)))
    }

    /// Keeps how many texts about a book the encoder had to cut, so that a resumed run still reports them.
    pub(crate) fn note_cut(&self, book: &str, n_cut: usize) -> Result<()> {
        let mut cut = self.cut()?;
        cut.insert(book.to_owned(), n_cut);
        write_atomically(&self.path.join(CUT), &pretty(&json!(cut)))
    }

    /// Passages and questions that were cut for the encoder, by book.
    pub(crate) fn cut(&self) -> Result<BTreeMap<String, usize>> {
        let path = self.path.join(CUT);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .with_context(|| format!("{} is damaged; start anew with --fresh", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Writes `report.json`.
    pub(crate) fn write_report(&self, report: &Value) -> Result<()> {
        self.records.sync_data().context("cannot flush records.jsonl to disk")?;
        write_atomically(&self.path.join("report.json"), &pretty(report))
    }
}

/// Removes what lies at `path`, if anything does.
fn gone(path: &Path, remove: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<()> {
    match remove(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// The folder for this process alone, until the file is closed.
pub(crate) fn lock(path: &Path) -> Result<File> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.join(".lock"))
        .with_context(|| format!("cannot write into the run folder {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!(
            "another closeread is running into {}; wait for it to end, or choose another folder with --out",
            path.display()
        ),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock the run folder {}", path.display()))
        }
    }
}

/// Refuses a folder whose manifest describes another run.
fn check_same(path: &Path, manifest: &str, configuration: &Value, shard: Option<Shard>) -> Result<()> {
    let manifest: Value = serde_json::from_str(manifest)
        .with_context(|| format!("{} is no manifest; start anew with --fresh", path.join(MANIFEST).display()))?;
    let there = manifest.get("configuration").and_then(Value::as_object).cloned().unwrap_or_default();
    let here = configuration.as_object().cloned().unwrap_or_default();
    let part = |shard: Option<Shard>| shard.map_or_else(|| "the whole".to_owned(), |shard| format!("part {shard}"));
    let there_shard: Option<Shard> = manifest.get("shard").and_then(|shard| serde_json::from_value(shard.clone()).ok());
    if there_shard != shard {
        bail!(
            "{} holds {} of a run, not {}; choose another folder with --out",
            path.display(),
            part(there_shard),
            part(shard)
        );
    }
    let changes = differences(&there, &here);
    if changes.is_empty() {
        return Ok(());
    }
    bail!(
        "{} holds a run with another configuration:\n  {}\nUse the same options to go on with it, --out for another \
         folder, or --fresh to start anew there",
        path.display(),
        changes.join("\n  ")
    )
}

fn differences(there: &Map<String, Value>, here: &Map<String, Value>) -> Vec<String> {
    let mut names: Vec<&String> = there.keys().chain(here.keys()).collect();
    names.sort();
    names.dedup();
    let show = |value: Option<&Value>| {
        let text = value.map_or("nothing".to_owned(), Value::to_string);
        if text.chars().count() > 120 { text.chars().take(117).chain("...".chars()).collect() } else { text }
    };
    let differ = names.into_iter().filter(|name| there.get(*name) != here.get(*name));
    differ.map(|name| format!("{name}: {} there, {} now", show(there.get(name)), show(here.get(name)))).collect()
}

/// Opens the records for appending and reads those that are whole.
fn open_records(path: &Path) -> Result<(File, HashMap<TrialKey, Record>)> {
    let (file, records) = open_lines(path, "a record; remove the line and its trial is run again")?;
    Ok((file, records.into_iter().map(|record: Record| (record.key.clone(), record)).collect()))
}

/// Opens a file of JSON lines for appending and reads those that are whole; the rest of a line that a kill cut short is
/// removed.
pub(crate) fn open_lines<T: serde::de::DeserializeOwned>(path: &Path, what: &str) -> Result<(File, Vec<T>)> {
    let named = || path.display().to_string();
    let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path);
    let mut file = file.with_context(|| format!("cannot open {}", named()))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).with_context(|| format!("cannot read {}", named()))?;
    let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    if whole < bytes.len() {
        file.set_len(whole as u64).with_context(|| format!("cannot repair {}", named()))?;
    }
    file.seek(SeekFrom::End(0)).with_context(|| format!("cannot open {}", named()))?;
    let mut values = Vec::new();
    for (idx, line) in bytes[..whole].split(|&b| b == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
        let expected = || format!("{}:{}: expected {what}", named(), idx + 1);
        values.push(serde_json::from_slice(line).with_context(expected)?);
    }
    Ok((file, values))
}

fn pretty(value: &Value) -> Vec<u8> {
    let mut text = format!("{value:#}").into_bytes();
    text.push(b'\n');
    text
}

/// Writes a file whole or not at all.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let partial = path.with_extension("partial");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        fs::rename(&partial, path)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(item: &str, outcome: Outcome) -> Record {
        Record {
            key: TrialKey {
                item: item.to_owned(),
                method: "m".to_owned(),
                model: "p/x".to_owned(),
                budget: Some(500),
                sample: 0,
            },
            outcome,
            scores: std::collections::BTreeMap::new(),
            prompt_tokens: 0,
            context: None,
            calls: Vec::new(),
            measures: BTreeMap::new(),
            evidence: None,
            asked_with: None,
            seconds: 0.0,
        }
    }

    #[test]
    fn a_line_cut_short_by_a_kill_is_dropped_and_the_rest_kept() {
        let dir = tempfile::tempdir().unwrap();
        let configuration = json!({"seed": 1});
        let mut folder = RunFolder::open(dir.path(), &configuration, None, false).unwrap();
        let done = record("a", Outcome::NotFound);
        folder.append(vec![done.clone()]).unwrap();
        drop(folder);
        let path = dir.path().join("records.jsonl");
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"item\":\"b\",\"meth").unwrap();

        let mut folder = RunFolder::open(dir.path(), &configuration, None, false).unwrap();
        assert_eq!(folder.records(), [done]);
        folder.append(vec![record("b", Outcome::NotFound)]).unwrap();
        drop(folder);
        assert_eq!(RunFolder::open(dir.path(), &configuration, None, false).unwrap().records().len(), 2);
    }

    #[test]
    fn a_failed_trial_is_run_again_and_a_finished_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = RunFolder::open(dir.path(), &json!({}), None, false).unwrap();
        let failed = record("a", Outcome::Failed { error: "x".to_owned() });
        folder.append(vec![failed.clone()]).unwrap();
        assert!(!folder.is_done(&failed.key));
        folder.append(vec![record("a", Outcome::NotFound)]).unwrap();
        assert!(folder.is_done(&failed.key));
        assert_eq!(folder.records().len(), 1);
    }

    #[test]
    fn another_configuration_and_a_second_run_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RunFolder::open(dir.path(), &json!({"seed": 1}), None, false).unwrap();
        let error = RunFolder::open(dir.path(), &json!({"seed": 1}), None, false).err().unwrap().to_string();
        assert!(error.contains("another closeread is running"), "{error}");
        drop(folder);
        let error = RunFolder::open(dir.path(), &json!({"seed": 2}), None, false).err().unwrap().to_string();
        assert!(error.contains("seed: 1 there, 2 now"), "{error}");
        assert!(RunFolder::open(dir.path(), &json!({"seed": 2}), None, true).is_ok());
    }
}

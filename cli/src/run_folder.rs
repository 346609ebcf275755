//! The run folder: manifest, records, texts, report. Nothing finished is ever lost.

mod comparison;
mod embeddings;
mod extension;
mod preparations;
mod texts;

pub(crate) use comparison::differences;
pub(crate) use embeddings::{EMBEDDINGS, embedding_calls};
pub(crate) use preparations::{
    FOLDER as PREPARATIONS, PreparationKey, preparation, preparation_calls, preparation_files, preparations,
};
pub(crate) use texts::StoredTexts;

use crate::files::{self, open_lines, pretty, write_atomically};
use crate::journal::{self, Journals};
use crate::judging::{self, JUDGEMENTS, JUDGING};
use crate::provider::batch;
use crate::shard::Shard;
use anyhow::{Context, Result, bail};
use closeread_core::benchmark::Item;
use closeread_core::judge::Judging;
use closeread_core::method::Preparation;
use closeread_core::price::{Dollars, PriceList};
use closeread_core::record::{CallTrace, EmbeddingCall, FORMAT, Outcome, Record, TrialKey};
use closeread_core::report::{PreparationCalls, embedding_usage};
use closeread_core::text::{Book, TextStore};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What was run.
pub(crate) const MANIFEST: &str = "manifest.json";
/// The books, each once by hash.
pub(crate) const TEXTS: &str = "texts";
/// How many texts were cut for the encoder, by book.
const CUT: &str = "cut.json";

/// The prices that the run's money is counted by.
pub(crate) const PRICES: &str = "prices.json";

/// What happens to a run that a folder holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Opening<'a> {
    /// It goes on, if it is the same.
    Resume,
    /// It is forgotten.
    Fresh,
    /// It goes on with these items, which are all there are now; trials that what changed leaves as they are are kept.
    Extend(&'a [Item]),
}

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
    /// A folder that holds another configuration is refused with the list of what differs, unless it is to be extended to
    /// this one. A last line that a kill cut short is dropped: its trial was not finished.
    pub(crate) fn open(path: &Path, configuration: &Value, shard: Option<Shard>, opening: Opening<'_>) -> Result<Self> {
        fs::create_dir_all(path.join(TEXTS))
            .with_context(|| format!("cannot create the run folder {}; choose another with --out", path.display()))?;
        let lock = lock(path)?;
        let manifest = path.join(MANIFEST);
        if matches!(opening, Opening::Fresh) {
            let results = [
                MANIFEST,
                "records.jsonl",
                "report.json",
                extension::SUPERSEDED,
                CUT,
                PRICES,
                EMBEDDINGS,
                JUDGEMENTS,
                JUDGING,
            ];
            for name in results {
                files::remove(&path.join(name))?;
            }
            for name in [preparations::FOLDER, journal::FOLDER, batch::FOLDER] {
                files::remove_folder(&path.join(name))?;
            }
        }
        let mut text = json!({
            "format": FORMAT,
            "closeread": env!("CARGO_PKG_VERSION"),
            "configuration": configuration,
        });
        if let Some(shard) = shard {
            text["shard"] = json!(shard);
        }
        match read_manifest(&manifest)? {
            None => write_atomically(&manifest, &pretty(&text))?,
            Some(there) => {
                check_shard(path, &there, shard)?;
                let changes = comparison::differences(&there["configuration"], configuration);
                match opening {
                    _ if changes.is_empty() => {}
                    Opening::Extend(items) => {
                        let told = extension::extend(path, &there["configuration"], configuration, items)?;
                        let mut history = there["extended"].as_array().cloned().unwrap_or_default();
                        history.push(json!({ "changes": changes }));
                        text["extended"] = json!(history);
                        write_atomically(&manifest, &pretty(&text))?;
                        eprintln!("{} is extended: {told}", path.display());
                    }
                    Opening::Resume | Opening::Fresh => bail!(
                        "{} holds a run with another configuration:\n  {}\nUse the same options to go on with it, \
                         --extend to take it on with these, --out for another folder, or --fresh to start anew there",
                        path.display(),
                        changes.join("\n  ")
                    ),
                }
            }
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
        let texts = self.stored_texts();
        books.into_iter().try_for_each(|book| texts.put(book))?;
        self.write_items(items)
    }

    /// The books that [`RunFolder::store`] stored.
    pub(crate) fn texts(&self) -> Arc<dyn TextStore> {
        Arc::new(self.stored_texts())
    }

    fn stored_texts(&self) -> StoredTexts {
        StoredTexts { folder: self.path.join(TEXTS) }
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
        self.records.write_all(&lines).with_context(|| {
            format!(
                "cannot write {}; what was finished before is kept: see to it that there is room, and give the same \
                 command again",
                self.path.join("records.jsonl").display()
            )
        })?;
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

    /// What the calls cost that are in the folder, those of judges included.
    pub(crate) fn spent(&self, prices: &PriceList) -> Result<Dollars> {
        spent(&self.path, self.finished.values(), &judging::read(&self.path)?, prices)
    }

    /// The prices that the run's money is counted by.
    pub(crate) fn prices(&self) -> Result<PriceList> {
        prices(&self.path)
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
        let Some(bytes) = files::read(&path)? else { return Ok(BTreeMap::new()) };
        serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is damaged; start anew with --fresh", path.display()))
    }

    /// Writes `report.json`.
    pub(crate) fn write_report(&self, report: &Value) -> Result<()> {
        self.records.sync_data().context("cannot flush records.jsonl to disk")?;
        write_atomically(&self.path.join("report.json"), &pretty(report))
    }
}

/// What the calls cost that are in a folder: of its records, its preparations and its judges; those of unknown price count
/// as nothing. The calls of trials that are not finished, failed ones included, stand in their journals.
pub(crate) fn spent<'r>(
    folder: &Path,
    records: impl Iterator<Item = &'r Record>,
    judging: &Judging,
    prices: &PriceList,
) -> Result<Dollars> {
    let cost = |model: &str, call: &CallTrace| match call.remembered {
        true => Dollars::default(),
        false => prices.cost(model, &call.usage).unwrap_or_default(),
    };
    let finished = records.filter(|record| !matches!(record.outcome, Outcome::Failed { .. }));
    let trials: Dollars = finished.flat_map(|r| r.calls.iter().map(move |call| cost(&r.key.model, call))).sum();
    let preparations = preparation_calls(folder)?;
    let before = preparations.iter().flat_map(|p| p.calls.iter().map(move |call| cost(&p.model, call)));
    let judges = judging.judgements.iter().flat_map(|j| j.calls.iter().map(move |call| cost(&j.key.judge_model, call)));
    let unfinished = Journals::of_run(folder).replies()?;
    let unfinished = unfinished.iter().filter_map(|(model, reply)| prices.cost(model, &reply.usage));
    let embedded = embedding_usage(&embedding_calls(folder)?, prices);
    let embedded = embedded.iter().map(|usage| usage.dollars);
    Ok([trials].into_iter().chain(before).chain(judges).chain(unfinished).chain(embedded).sum())
}

/// The prices that the money of the run in a folder is counted by; none where none were kept.
pub(crate) fn prices(folder: &Path) -> Result<PriceList> {
    let file = folder.join(PRICES);
    let Some(bytes) = files::read(&file)? else { return Ok(PriceList::default()) };
    serde_json::from_slice(&bytes).with_context(|| format!("{} holds no prices", file.display()))
}

/// Keeps the prices that the money of the run in a folder is counted by, those of other models that it has included.
pub(crate) fn write_prices(folder: &Path, now: PriceList) -> Result<()> {
    write_atomically(&folder.join(PRICES), &pretty(&json!(prices(folder)?.overlaid(now))))
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

/// The manifest of a run or a build, if there is one.
pub(crate) fn read_manifest(path: &Path) -> Result<Option<Value>> {
    let Some(bytes) = files::read(path)? else { return Ok(None) };
    let manifest = serde_json::from_slice(&bytes);
    manifest.map(Some).with_context(|| format!("{} is no manifest; start anew with --fresh", path.display()))
}

/// Refuses a folder that holds another part of the run.
fn check_shard(path: &Path, manifest: &Value, shard: Option<Shard>) -> Result<()> {
    let part = |shard: Option<Shard>| shard.map_or_else(|| "the whole".to_owned(), |shard| format!("part {shard}"));
    let there: Option<Shard> = manifest.get("shard").and_then(|shard| serde_json::from_value(shard.clone()).ok());
    if there == shard {
        return Ok(());
    }
    let (there, here) = (part(there), part(shard));
    bail!("{} holds {there} of a run, not {here}; choose another folder with --out", path.display())
}

/// Opens the records for appending and reads those that are whole.
fn open_records(path: &Path) -> Result<(File, HashMap<TrialKey, Record>)> {
    let (file, records) = open_lines(path, "a record; remove the line and its trial is run again")?;
    Ok((file, records.into_iter().map(|record: Record| (record.key.clone(), record)).collect()))
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
        let mut folder = RunFolder::open(dir.path(), &configuration, None, Opening::Resume).unwrap();
        let done = record("a", Outcome::NotFound);
        folder.append(vec![done.clone()]).unwrap();
        drop(folder);
        let path = dir.path().join("records.jsonl");
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"item\":\"b\",\"meth").unwrap();

        let mut folder = RunFolder::open(dir.path(), &configuration, None, Opening::Resume).unwrap();
        assert_eq!(folder.records(), [done]);
        folder.append(vec![record("b", Outcome::NotFound)]).unwrap();
        drop(folder);
        assert_eq!(RunFolder::open(dir.path(), &configuration, None, Opening::Resume).unwrap().records().len(), 2);
    }

    #[test]
    fn a_failed_trial_is_run_again_and_a_finished_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = RunFolder::open(dir.path(), &json!({}), None, Opening::Resume).unwrap();
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
        let folder = RunFolder::open(dir.path(), &json!({"seed": 1}), None, Opening::Resume).unwrap();
        let error = RunFolder::open(dir.path(), &json!({"seed": 1}), None, Opening::Resume).err().unwrap().to_string();
        assert!(error.contains("another closeread is running"), "{error}");
        drop(folder);
        let error = RunFolder::open(dir.path(), &json!({"seed": 2}), None, Opening::Resume).err().unwrap().to_string();
        assert!(error.contains("seed: 1 there, 2 now"), "{error}");
        assert!(RunFolder::open(dir.path(), &json!({"seed": 2}), None, Opening::Fresh).is_ok());
    }
}

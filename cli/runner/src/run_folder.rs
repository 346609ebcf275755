//! The run folder: manifest, records, texts, report. Nothing finished is ever lost.

mod comparison;
mod embeddings;
mod extension;
mod preparations;
mod texts;

pub use comparison::differences;
pub use embeddings::{EMBEDDINGS, embedding_calls};
pub use preparations::{
    FOLDER as PREPARATIONS, PreparationKey, preparation, preparation_calls, preparation_files, preparations,
};
pub use texts::StoredTexts;

use crate::journal::{self, Journals};
use crate::judging::{self, JUDGEMENTS, JUDGING};
use crate::shard::Shard;
use crate::texts::BookTexts;
use anyhow::{Context, Result, bail};
use closeread_books::Book;
use closeread_eval::{Item, Outcome};
use closeread_files::{self as files, open_lines, pretty, write_atomically};
use closeread_judges::Judging;
use closeread_llm::price::{Dollars, PriceList};
use closeread_methods::Preparation;
use closeread_methods::record::{CallTrace, EmbeddingCall, FORMAT, Record, TrialKey};
use closeread_providers::batch;
use closeread_report::folder::StoredItems;
use closeread_report::{PreparationCalls, embedding_usage};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracing::{info, warn};

/// What was run.
pub const MANIFEST: &str = "manifest.json";
/// The books, each once by hash.
pub const TEXTS: &str = "texts";
/// How many texts were cut for the encoder, by book.
const CUT: &str = "cut.json";
/// What the manifest says of `items.jsonl`.
const STORED_ITEMS: &str = "stored_items";

/// The prices that the run's money is counted by.
pub const PRICES: &str = "prices.json";

/// What happens to a run that a folder holds.
#[derive(Debug, Clone, Copy)]
pub enum Opening<'a> {
    /// It goes on, if it is the same.
    Resume,
    /// It is forgotten.
    Fresh,
    /// It goes on with these items, which are all there are now; trials that what changed leaves as they are are kept.
    Extend(&'a [Item]),
}

/// An open run folder; nobody else has it while this value lives.
pub struct RunFolder {
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
    pub fn open(path: &Path, configuration: &Value, shard: Option<Shard>, opening: Opening<'_>) -> Result<Self> {
        refuse_foreign(path, MANIFEST)?;
        let manifest = path.join(MANIFEST);
        refuse_other_format(&manifest, FORMAT)?;
        fs::create_dir_all(path.join(TEXTS))
            .with_context(|| format!("cannot create the run folder {}; choose another with --out", path.display()))?;
        let lock = lock(path)?;
        if matches!(opening, Opening::Fresh) {
            // The manifest is replaced, and never away: it tells that the folder is ours.
            let results =
                ["records.jsonl", "report.json", extension::SUPERSEDED, CUT, PRICES, EMBEDDINGS, JUDGEMENTS, JUDGING];
            for name in results {
                files::remove(&path.join(name))?;
            }
            for (name, ending) in [(preparations::FOLDER, ".json"), (journal::FOLDER, ".jsonl"), (batch::FOLDER, "")] {
                files::remove_from(&path.join(name), |file| is_numbered(file, ending))?;
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
        let there = if matches!(opening, Opening::Fresh) { None } else { read_manifest(&manifest)? };
        match there {
            None => write_atomically(&manifest, &pretty(&text))?,
            Some(there) => {
                check_shard(path, &there, shard)?;
                if let Some(name) = there.get("configuration_name") {
                    text["configuration_name"] = name.clone();
                }
                let changes = comparison::differences(&there["configuration"], configuration);
                match opening {
                    _ if changes.is_empty() => {}
                    Opening::Extend(items) => {
                        let told = extension::extend(path, &there["configuration"], configuration, items)?;
                        let mut history = there["extended"].as_array().cloned().unwrap_or_default();
                        history.push(json!({ "changes": changes }));
                        text["extended"] = json!(history);
                        write_atomically(&manifest, &pretty(&text))?;
                        info!("{} is extended: {told}", path.display());
                    }
                    Opening::Fresh | Opening::Resume => bail!(
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

    /// Gives the run's configuration a name, by which tables of several runs tell it from others.
    pub fn name(&self, name: &str) -> Result<()> {
        let file = self.path.join(MANIFEST);
        let mut manifest = read_manifest(&file)?.context("an open run folder has a manifest")?;
        if manifest["configuration_name"] == name {
            return Ok(());
        }
        manifest["configuration_name"] = json!(name);
        write_atomically(&file, &pretty(&manifest))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Stores the books, whose texts `texts` has, each once by hash, and the items as they are scored.
    pub fn store(&self, books: &[Arc<Book>], texts: &BookTexts, items: &[Item]) -> Result<()> {
        let stored = self.stored_texts();
        books.iter().try_for_each(|book| stored.put(book, |book| texts.open(book)))?;
        self.write_items(items)
    }

    /// The books that [`RunFolder::store`] stored.
    pub fn texts(&self) -> BookTexts {
        BookTexts::stored(self.stored_texts())
    }

    fn stored_texts(&self) -> StoredTexts {
        StoredTexts { folder: self.path.join(TEXTS) }
    }

    /// Stores the items as they are scored, and notes in the manifest what was stored.
    pub fn write_items(&self, items: &[Item]) -> Result<()> {
        let mut lines = Vec::new();
        for item in items {
            serde_json::to_writer(&mut lines, item)?;
            lines.push(b'\n');
        }
        write_atomically(&self.path.join("items.jsonl"), &lines)?;
        let path = self.path.join(MANIFEST);
        let Some(mut manifest) = read_manifest(&path)? else { return Ok(()) };
        let stored = json!(StoredItems::of(items.len(), &lines));
        if manifest[STORED_ITEMS] != stored {
            manifest[STORED_ITEMS] = stored;
            write_atomically(&path, &pretty(&manifest))?;
        }
        Ok(())
    }

    /// The records there are, failed trials included.
    pub fn records(&self) -> Vec<Record> {
        let mut records: Vec<Record> = self.finished.values().cloned().collect();
        records.sort_by(|a, b| a.key.cmp(&b.key));
        records
    }

    /// Whether a trial need not be run again. A failed one is: the fault may be gone.
    pub fn is_done(&self, key: &TrialKey) -> bool {
        self.finished.get(key).is_some_and(|record| !matches!(record.outcome, Outcome::Failed { .. }))
    }

    /// Appends the records of what was asked at once; once this returns, a kill cannot undo it.
    pub fn append(&mut self, records: Vec<Record>) -> Result<()> {
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
    pub fn preparation(&self, key: &PreparationKey) -> Option<Preparation> {
        preparation(&self.path, key)
    }

    /// Keeps what a method made of books. What failed is not kept: the fault may be gone in the next run.
    pub fn keep_preparation(&self, key: &PreparationKey, preparation: &Preparation) -> Result<()> {
        match preparation.prepared {
            Err(Outcome::Failed { .. }) => Ok(()),
            _ => preparations::keep(&self.path, key, preparation),
        }
    }

    /// The calls of all preparations.
    pub fn preparation_calls(&self) -> Result<Vec<PreparationCalls>> {
        preparation_calls(&self.path)
    }

    /// What the calls cost that are in the folder, those of judges included.
    pub fn spent(&self, prices: &PriceList) -> Result<Dollars> {
        spent(&self.path, self.finished.values(), &judging::read(&self.path)?, prices)
    }

    /// The prices that the run's money is counted by.
    pub fn prices(&self) -> Result<PriceList> {
        prices(&self.path)
    }

    /// Keeps how many texts about a book the encoder had to cut, so that a resumed run still reports them.
    pub fn note_cut(&self, book: &str, n_cut: usize) -> Result<()> {
        let mut cut = self.cut()?;
        cut.insert(book.to_owned(), n_cut);
        write_atomically(&self.path.join(CUT), &pretty(&json!(cut)))
    }

    /// Passages and questions that were cut for the encoder, by book.
    pub fn cut(&self) -> Result<BTreeMap<String, usize>> {
        let path = self.path.join(CUT);
        let Some(bytes) = files::read(&path)? else { return Ok(BTreeMap::new()) };
        serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is damaged: remove it; only how many texts were cut is lost", path.display()))
    }

    /// Writes `report.json`.
    pub fn write_report(&self, report: &Value) -> Result<()> {
        self.records.sync_data().context("cannot flush records.jsonl to disk")?;
        write_atomically(&self.path.join("report.json"), &pretty(report))
    }
}

/// What the calls cost that are in a folder: of its records, its preparations and its judges; those of unknown price count
/// as nothing. The calls of trials that are not finished, failed ones included, stand in their journals.
pub fn spent<'r>(
    folder: &Path,
    records: impl Iterator<Item = &'r Record>,
    judging: &Judging,
    prices: &PriceList,
) -> Result<Dollars> {
    let cost = |model: &str, call: &CallTrace| match call.cached {
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
pub fn prices(folder: &Path) -> Result<PriceList> {
    let file = folder.join(PRICES);
    let Some(bytes) = files::read(&file)? else { return Ok(PriceList::default()) };
    serde_json::from_slice(&bytes).with_context(|| {
        format!("{} holds no prices: give the run's command again, which makes it anew", file.display())
    })
}

/// Keeps the prices that the money of the run in a folder is counted by, those of other models that it has included; a
/// file that holds none is made anew.
pub fn write_prices(folder: &Path, now: PriceList) -> Result<()> {
    let file = folder.join(PRICES);
    let there = files::read(&file)?.map(|bytes| serde_json::from_slice(&bytes));
    if let Some(Err(error)) = &there {
        warn!("{} is damaged ({error}) and is made anew, by the prices of today", file.display());
    }
    let there = there.and_then(Result::ok).unwrap_or_else(PriceList::default);
    write_atomically(&file, &pretty(&json!(there.overlaid(now))))
}

/// Whether a file of a run's journal, preparations or batches is called so: by a number in hexadecimal digits.
fn is_numbered(name: &str, ending: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    stem.len() >= 4 && stem.bytes().all(|byte| byte.is_ascii_hexdigit()) && name.ends_with(ending)
}

/// Refuses a folder in which something lies and no manifest of a run or a build: nothing of a person's is written over or
/// removed.
pub fn refuse_foreign(path: &Path, manifest: &str) -> Result<()> {
    if !path.is_dir() {
        return Ok(());
    }
    let is_ours = |manifest: &Value| manifest["format"].is_u64() && manifest["configuration"].is_object();
    let there = files::read(&path.join(manifest)).ok().flatten();
    if there.and_then(|bytes| serde_json::from_slice(&bytes).ok()).is_some_and(|manifest| is_ours(&manifest)) {
        return Ok(());
    }
    let foreign = |entry: &PathBuf| match entry.file_name().and_then(|name| name.to_str()) {
        // A run that was killed before it wrote its manifest leaves no more; a build fetches its articles before.
        Some(".lock" | "manifest.partial" | "build.partial") => false,
        Some("articles") if manifest == "build.json" => false,
        Some(TEXTS | "stages") => fs::read_dir(entry).map_or(true, |mut inside| inside.next().is_some()),
        _ => true,
    };
    match files::entries(path)?.iter().find(|entry| foreign(entry)) {
        None => Ok(()),
        Some(entry) => bail!(
            "{} holds `{}` and no {manifest} of closeread: name an empty or a new folder by --out",
            path.display(),
            entry.file_name().unwrap_or_default().display()
        ),
    }
}

/// The folder for this process alone, until the file is closed.
pub fn lock(path: &Path) -> Result<File> {
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
pub fn read_manifest(path: &Path) -> Result<Option<Value>> {
    let Some(bytes) = files::read(path)? else { return Ok(None) };
    let manifest = serde_json::from_slice(&bytes);
    manifest.map(Some).with_context(|| format!("{} is no manifest; name another folder by --out", path.display()))
}

/// Refuses the manifest of a folder in a layout that this closeread does not know: nothing is appended or removed there.
pub fn refuse_other_format(path: &Path, here: u32) -> Result<()> {
    let Some(manifest) = read_manifest(path)? else { return Ok(()) };
    if manifest["format"] == here {
        return Ok(());
    }
    bail!(
        "{} has format {}, and this closeread reads format {here}: use the closeread that made it ({}), or name another \
         folder by --out",
        path.display(),
        manifest["format"],
        manifest["closeread"].as_str().unwrap_or("of unknown version")
    )
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
                repeat: 0,
            },
            outcome,
            scores: std::collections::BTreeMap::new(),
            prompt_tokens: 0,
            context: None,
            calls: Vec::new(),
            measures: BTreeMap::new(),
            evidence: None,
            shared_call: None,
            seconds: 0.0,
        }
    }

    #[test]
    fn finding_01_a_folder_that_is_no_run_folder_is_left_as_it_is() {
        for (name, content) in [
            ("items.jsonl", "mine\n"),
            ("manifest.json", "{\"name\": \"a web app\"}"),
            ("records.jsonl", "mine\n"),
            ("journal/diary.txt", "mine\n"),
            ("texts/novel.txt", "mine\n"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            for opening in [Opening::Resume, Opening::Fresh, Opening::Extend(&[])] {
                let error = RunFolder::open(dir.path(), &json!({}), None, opening).err().unwrap().to_string();
                assert!(
                    error.contains("no manifest.json of closeread: name an empty or a new folder"),
                    "{name}: {error}"
                );
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
            assert_eq!(files::entries(dir.path()).unwrap().len(), 1, "nothing is added");
        }
        assert!(refuse_foreign(Path::new("/"), MANIFEST).is_err());
    }

    #[test]
    fn finding_04_a_folder_of_another_format_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        drop(RunFolder::open(dir.path(), &json!({}), None, Opening::Resume).unwrap());
        let path = dir.path().join(MANIFEST);
        let mut manifest = read_manifest(&path).unwrap().unwrap();
        manifest["format"] = json!(FORMAT + 1);
        fs::write(&path, pretty(&manifest)).unwrap();
        fs::write(dir.path().join("records.jsonl"), "of tomorrow\n").unwrap();
        for opening in [Opening::Resume, Opening::Fresh, Opening::Extend(&[])] {
            let error = RunFolder::open(dir.path(), &json!({}), None, opening).err().unwrap().to_string();
            assert!(error.contains(&format!("has format {}", FORMAT + 1)) && error.contains("--out"), "{error}");
        }
        assert_eq!(fs::read_to_string(dir.path().join("records.jsonl")).unwrap(), "of tomorrow\n");
    }

    #[test]
    fn finding_06_damaged_prices_are_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(PRICES), "{\"models\": [").unwrap();
        let error = prices(dir.path()).unwrap_err().to_string();
        assert!(error.contains("give the run's command again"), "{error}");
        write_prices(dir.path(), PriceList::default()).unwrap();
        assert!(prices(dir.path()).is_ok());
    }

    #[test]
    fn finding_01_fresh_removes_only_files_of_a_run() {
        let dir = tempfile::tempdir().unwrap();
        drop(RunFolder::open(dir.path(), &json!({"seed": 1}), None, Opening::Resume).unwrap());
        let write = |name: &str| {
            fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            fs::write(dir.path().join(name), "x").unwrap();
        };
        let mine = ["notes.txt", "journal/diary.txt", "batches/list.csv", "preparations/plan.json"];
        let ours = ["journal/0123456789abcdef.jsonl", "batches/0001.json", "batches/0001.requests.jsonl.zst"];
        mine.iter().chain(&ours).for_each(|name| write(name));
        drop(RunFolder::open(dir.path(), &json!({"seed": 2}), None, Opening::Fresh).unwrap());
        assert!(mine.iter().all(|name| dir.path().join(name).is_file()), "what a person laid there stays");
        assert!(ours.iter().all(|name| !dir.path().join(name).exists()));
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

//! The run folder: manifest, records, texts, report. Nothing finished is ever lost.

mod begun;
mod clearing;
mod comparison;
mod copies;
mod cut;
mod extension;
mod foreign;
mod joining;
mod locking;
mod money;
mod preparations;
mod remake;
pub(crate) mod served;
#[cfg(test)]
mod tests;
pub(crate) mod texts;
mod unwritten;

pub use comparison::differences;
pub use copies::refuse_links;
pub use foreign::refuse_foreign;
pub use joining::is_half_joined;
pub use locking::{is_in_use, lock};
pub use money::{
    PRICES, cost_of_judgements, cost_of_preparations, cost_of_responses, cost_of_trials, prices, spent, write_prices,
};
pub use preparations::{
    FOLDER as PREPARATIONS, PreparationKey, copied_preparations, preparation, preparation_calls, preparations,
};
pub(crate) use preparations::{preparation_files, preparations_of_parts};
pub use served::{EMBEDDINGS, RERANKING, served_calls};
pub use texts::StoredTexts;

pub use crate::spending::Spent;

use crate::judging;
use crate::shard::{Places, Shard};
use crate::texts::BookTexts;
use anyhow::{Context, Result, bail};
use closeread_books::Book;
use closeread_eval::ranking::RANKED_ALONE;
use closeread_eval::{Item, Outcome};
use closeread_files::run_files::RECORDS;
use closeread_files::{self as files, open_lines, pretty, write_atomically};
use closeread_llm::price::PriceList;
use closeread_methods::Preparation;
use closeread_methods::record::{FORMAT, Record, ServedCall, TrialKey};
use closeread_report::PreparationCalls;
use closeread_report::folder::StoredItems;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracing::info;

/// File name of the manifest, which holds what was run.
pub const MANIFEST: &str = "manifest.json";
/// The books, each once by hash.
pub const TEXTS: &str = "texts";
/// Name of the manifest's field on what `--extend` has changed.
const EXTENDED: &str = "extended";
/// Name of the manifest's field on `items.jsonl`.
const STORED_ITEMS: &str = "stored_items";
/// Name of the manifest's field on the items and books of a part.
const PLACES: &str = "places";

/// Returns whether a configuration is that of `closeread retrieve`, which extends nothing.
fn is_ranking(configuration: &Value) -> bool {
    configuration["cells"][0]["model"] == RANKED_ALONE
}

/// The way to open a folder that holds a run.
#[derive(Debug, Clone, Copy)]
pub enum Opening<'a> {
    /// The run resumes, if it is the same.
    Resume,
    /// The run is forgotten.
    Fresh,
    /// The run is made of these records. What judges said of trials that end as before is kept.
    Remake(&'a [Record]),
    /// The run resumes with these items, which are all there are now; trials that what changed leaves as they are are
    /// kept.
    Extend(&'a [Item]),
}

/// An open run folder; nobody else has it while this value lives.
pub struct RunFolder {
    path: PathBuf,
    records: File,
    finished: HashMap<TrialKey, Record>,
    /// The manifest as it was written last.
    manifest: RefCell<Value>,
    /// Lock of the folder, released by the system when the process ends, however it ends.
    _lock: File,
}

impl RunFolder {
    /// Opens `path` for the run that `configuration` describes, creating it if need be.
    ///
    /// A folder that holds another configuration is refused with the list of what differs, unless it is to be extended to
    /// this one. A last line that a kill cut short is dropped: its trial was not finished.
    pub fn open(path: &Path, configuration: &Value, shard: Option<Shard>, opening: Opening<'_>) -> Result<Self> {
        Self::open_with(path, configuration, shard, opening, false)
    }

    fn open_with(
        path: &Path,
        configuration: &Value,
        shard: Option<Shard>,
        opening: Opening<'_>,
        is_joining: bool,
    ) -> Result<Self> {
        refuse_foreign(path, MANIFEST)?;
        let manifest = path.join(MANIFEST);
        refuse_other_format(&manifest, FORMAT)?;
        fs::create_dir_all(path.join(TEXTS))
            .with_context(|| format!("cannot create the run folder {}; choose another with --out", path.display()))?;
        let lock = lock(path)?;
        if is_joining {
            joining::mark_there(&manifest)?;
        }
        let is_anew = matches!(opening, Opening::Fresh | Opening::Remake(_));
        if let Opening::Remake(records) = opening {
            remake::remake(path, records)?;
        } else if is_anew {
            clearing::clear(path)?;
        }
        let mut text = begun::manifest(configuration, shard);
        if is_joining {
            joining::mark(&mut text);
        }
        let there = if is_anew { None } else { read_manifest(&manifest)? };
        match there {
            None => write_atomically(&manifest, &pretty(&text))?,
            Some(there) => {
                joining::refuse_half_joined(path, &there)?;
                check_shard(path, &there, shard)?;
                take_up(path, there, text, configuration, opening)?;
            }
        }
        for file in [EMBEDDINGS, RERANKING].map(|name| path.join(name)).iter().filter(|file| file.exists()) {
            open_lines::<ServedCall>(file, served::LINE)?;
        }
        let (records, finished) = open_records(&path.join(RECORDS))?;
        remake::forget_unfounded(path, &finished)?;
        let manifest = RefCell::new(read_manifest(&manifest)?.context("an open run folder has a manifest")?);
        Ok(Self { path: path.to_owned(), records, finished, manifest, _lock: lock })
    }

    /// Gives the run's configuration a name, by which tables of several runs tell it from others.
    pub fn name(&self, name: &str) -> Result<()> {
        self.note("configuration_name", json!(name))
    }

    /// Notes where the items and books of this part stand among all of the run, by which `merge` puts all in their order.
    pub fn note_places(&self, places: &Places) -> Result<()> {
        self.note(PLACES, json!(places))
    }

    /// Sets a field of the manifest; null takes it out.
    fn note(&self, field: &str, value: Value) -> Result<()> {
        let mut manifest = self.manifest.borrow_mut();
        if manifest[field] == value {
            return Ok(());
        }
        match manifest.as_object_mut() {
            Some(fields) if value.is_null() => drop(fields.remove(field)),
            _ => manifest[field] = value,
        }
        write_atomically(&self.path.join(MANIFEST), &pretty(&manifest))
    }

    /// Returns the path of the folder.
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
        self.note(STORED_ITEMS, json!(StoredItems::of(items.len(), &lines)))
    }

    /// The records there are, failed trials included.
    pub fn records(&self) -> Vec<Record> {
        let mut records: Vec<Record> = self.finished.values().cloned().collect();
        records.sort_by(|a, b| a.key.cmp(&b.key));
        records
    }

    /// Returns whether a trial need not be run again. A failed one is: the fault may be gone.
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
        let path = self.path.join(RECORDS);
        files::append_lines(&self.records, &path, &lines).with_context(|| unwritten::unwritten(&path, &path))?;
        self.finished.extend(records.into_iter().map(|record| (record.key.clone(), record)));
        Ok(())
    }

    /// Returns what a method made of books, if it was made.
    pub fn preparation(&self, key: &PreparationKey) -> Option<Preparation> {
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
    pub fn preparation_calls(&self) -> Result<Vec<PreparationCalls>> {
        preparation_calls(&self.path)
    }

    /// Returns what the calls cost that are in the folder, those of judges included.
    pub fn spent(&self, prices: &PriceList) -> Result<Spent> {
        spent(&self.path, self.finished.values(), &judging::read(&self.path)?, prices)
    }

    /// The prices that the run's money is counted by.
    pub fn prices(&self) -> Result<PriceList> {
        prices(&self.path)
    }

    /// Writes `report.json`, and the manifest if somebody removed it meanwhile: without it the run could not be taken up again.
    pub fn write_report(&self, report: &Value) -> Result<()> {
        let manifest = self.path.join(MANIFEST);
        if !manifest.exists() {
            write_atomically(&manifest, &pretty(&self.manifest.borrow()))?;
            info!("{} was gone, and is written again", manifest.display());
        }
        self.records.sync_data().context("cannot flush records.jsonl to disk")?;
        write_atomically(&self.path.join("report.json"), &pretty(report))
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

/// Resumes or extends the run whose manifest is `there`, if `configuration` allows it; `manifest` is that of a run begun now.
fn take_up(
    path: &Path,
    mut there: Value,
    mut manifest: Value,
    configuration: &Value,
    opening: Opening<'_>,
) -> Result<()> {
    let file = path.join(MANIFEST);
    let changes = comparison::differences(&there["configuration"], configuration);
    match opening {
        // Parts that were joined while some were missing name fewer books.
        _ if changes.is_empty() && there["configuration"]["documents"] != configuration["documents"] => {
            there["configuration"] = configuration.clone();
            write_atomically(&file, &pretty(&there))
        }
        _ if changes.is_empty() => Ok(()),
        Opening::Extend(items) => {
            let told = extension::extend(path, &there["configuration"], configuration, items)?;
            if let Some(name) = there.get("configuration_name") {
                manifest["configuration_name"] = name.clone();
            }
            let mut history = there[EXTENDED].as_array().cloned().unwrap_or_default();
            history.push(json!({ "changes": changes }));
            manifest[EXTENDED] = json!(history);
            write_atomically(&file, &pretty(&manifest))?;
            info!("{} is extended: {told}", path.display());
            Ok(())
        }
        Opening::Fresh | Opening::Remake(_) | Opening::Resume => bail!(
            "{} holds a run with another configuration:\n  {}\n  Use the same options to resume it, {}--out for another folder, \
             or --fresh to start anew there",
            path.display(),
            changes.join("\n  "),
            match !is_ranking(configuration) && extension::may_extend(path, &there["configuration"], configuration) {
                true => "--extend to take it on with these, ",
                false => "",
            }
        ),
    }
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

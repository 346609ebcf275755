//! The parts of a run, read to be joined.

use super::joined::latest;
use anyhow::{Context, Result, bail};
use closeread_eval::Item;
use closeread_files::run_files::RECORDS;
use closeread_judges::Subject;
use closeread_methods::record::Record;
use closeread_report::folder::RunManifest;
use closeread_runner::run_folder::{MANIFEST, refuse_links};
use closeread_runner::shard::{Places, Shard};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// The fields of a manifest that merging reads.
#[derive(Deserialize)]
struct Manifest {
    configuration: Value,
    shard: Option<Shard>,
    #[serde(default)]
    places: Places,
    #[serde(default)]
    extended: Vec<Value>,
}

/// A part of a run.
pub(super) struct Part {
    pub(super) folder: PathBuf,
    shard: Option<Shard>,
    /// Name of the part's configuration.
    pub(super) name: Option<String>,
    /// What has extended the part.
    pub(super) extended: Vec<Value>,
    /// Items, each with its place among all; where no part says it, in the order of the folders.
    pub(super) items: Vec<(usize, Item)>,
    /// Entries of the configuration on the part's books, with places as for the items.
    documents: Vec<(usize, Value)>,
    pub(super) records: Vec<Record>,
    /// Trials of which another part's outcome counts; known once the parts are joined.
    pub(super) outvoted: HashSet<Subject>,
}

impl Part {
    /// The part, and the configuration of its run.
    fn read(folder: &Path) -> Result<(Self, Value)> {
        refuse_links(folder)?;
        let text = |name: &str| {
            let path = folder.join(name);
            closeread_files::read_text_file(&path)
                .with_context(|| format!("cannot read {}: expected a run folder", path.display()))
        };
        let bytes = text(MANIFEST)?;
        let known = RunManifest::read(bytes.as_bytes()).with_context(|| folder.display().to_string())?;
        let Manifest { mut configuration, shard, places, extended } = serde_json::from_str(&bytes)
            .with_context(|| format!("{} is no manifest of a run", folder.join(MANIFEST).display()))?;
        let items = text("items.jsonl")?;
        if let Some(differs) = known.items_differ(items.as_bytes()) {
            bail!(
                "{} is damaged: it {differs}; give the command of that part again, which writes it anew",
                folder.join("items.jsonl").display()
            );
        }
        let items: Vec<Item> = lines(&items, &folder.join("items.jsonl"))?;
        let placed = |places: Vec<usize>| places.into_iter().chain(std::iter::repeat(usize::MAX));
        let items = placed(places.items).zip(items).collect();
        let books = configuration["documents"].take();
        let books = books.as_array().cloned().unwrap_or_default();
        let documents = placed(places.documents).zip(books).collect();
        // A part that was killed before its first trial ended may have none.
        let mut records = closeread_files::read_text(&folder.join(RECORDS))?.unwrap_or_default();
        // A line that a kill cut short is no finished trial.
        records.truncate(records.rfind('\n').map_or(0, |end| end + 1));
        let records = latest(lines(&records, &folder.join(RECORDS))?);
        let name = known.configuration_name;
        let folder = folder.to_owned();
        let outvoted = HashSet::new();
        Ok((Self { folder, shard, name, extended, items, documents, records, outvoted }, configuration))
    }
}

/// Reads the parts of one run, and its configuration.
pub(super) fn read_parts(folders: &[&PathBuf]) -> Result<(Vec<Part>, Value)> {
    let mut configuration = None;
    let mut parts: Vec<Part> = Vec::new();
    for folder in folders {
        let (part, its) = Part::read(folder)?;
        match &configuration {
            None => configuration = Some(its),
            Some(first) => check_same_run((first, parts[0].folder.as_path()), (&its, folder.as_path()))?,
        }
        parts.push(part);
    }
    Ok((parts, configuration.context("none of the parts has begun: all these folders are empty")?))
}

/// Refuses parts of different runs, each a configuration and its folder.
fn check_same_run((first, its_folder): (&Value, &Path), (other, folder): (&Value, &Path)) -> Result<()> {
    if first == other {
        return Ok(());
    }
    let names = |value: &Value| value.as_object().map(|o| o.keys().cloned().collect()).unwrap_or_default();
    let all: BTreeSet<String> = BTreeSet::union(&names(first), &names(other)).cloned().collect();
    let differ: Vec<String> = all.into_iter().filter(|name| first.get(name) != other.get(name)).collect();
    bail!(
        "{} and {} are not parts of one run: they differ in {}; `closeread report` puts several runs into one table",
        its_folder.display(),
        folder.display(),
        differ.join(", ")
    )
}

/// Returns what the parts say of their books, each once, in the order of the run.
pub(super) fn documents(parts: &mut [Part]) -> Value {
    let mut known: HashSet<String> = HashSet::new();
    let all = parts.iter_mut().flat_map(|part| part.documents.drain(..));
    let mut placed: Vec<(usize, Value)> =
        all.filter(|(_, book)| known.insert(book["id"].as_str().unwrap_or_default().to_owned())).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, book)| book).collect()
}

/// The parts that no folder holds, as I/N.
pub(super) fn missing_parts(parts: &[Part]) -> Vec<String> {
    let shards: HashSet<Shard> = parts.iter().filter_map(|part| part.shard).collect();
    if parts.iter().any(|part| part.shard.is_none()) {
        return Vec::new();
    }
    let counts: BTreeSet<usize> = shards.iter().map(|shard| shard.of).collect();
    let [of] = counts.into_iter().collect::<Vec<_>>()[..] else { return Vec::new() };
    let all = (1..=of).map(|index| Shard { index, of });
    all.filter(|shard| !shards.contains(shard)).map(|shard| shard.to_string()).collect()
}

fn lines<T: serde::de::DeserializeOwned>(text: &str, path: &Path) -> Result<Vec<T>> {
    let parse = |(idx, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}:{}: this line is damaged", path.display(), idx + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.is_empty()).map(parse).collect()
}

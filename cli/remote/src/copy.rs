//! A folder as it stands in a store, fetched into one of this machine.

use crate::segments::{self, Lines};
use crate::store::{Changed, Object, Patience, Store};
use crate::{Address, Place};
use anyhow::{Context, Result, bail};
use closeread_files::copies::{INDEX, READ};
use closeread_files::run_files::{GROWING, RECORDS};
use closeread_files::{self as files, MAX_FILE_BYTES, write_atomically};
use futures_util::{StreamExt, TryStreamExt, stream};
use glob::Pattern;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};
use tracing::info;

/// Most bytes that are fetched of what is neither a run nor a benchmark: the address may be that of many by mistake.
const MOST_OF_OTHERS: u64 = 1 << 30;
/// Objects that are about a folder and not in it.
pub(crate) const WRITER: &str = "writer.json";

/// The index of files that are the same here and there: their versions there, by name.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Index(pub(crate) BTreeMap<String, Version>);

/// A file as it was when it was the same here and there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Version {
    /// Version of the object.
    pub(crate) there: String,
    /// The file's length and time of change.
    pub(crate) here: (u64, u128),
}

impl Index {
    pub(crate) fn read(place: &Place) -> Self {
        // A damaged one costs fetching anew.
        let bytes = files::read(&place.home.join(INDEX)).ok().flatten().unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub(crate) fn write(&self, place: &Place) -> Result<()> {
        write_atomically(&place.home.join(INDEX), &serde_json::to_vec(self)?)
    }
}

/// A file's length and time of change.
pub(crate) fn state(path: &Path) -> Option<(u64, u128)> {
    let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let changed = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((meta.len(), changed.as_nanos()))
}

/// The objects found in a store.
pub(crate) struct Found {
    /// The lines of the growing files.
    pub(crate) lines: Lines,
    /// The number of the next segment.
    pub(crate) next: u64,
}

/// Lists a folder, and fetches what changed. An object that another machine replaced meanwhile is listed again.
pub(crate) async fn pull_listed(store: &Store, place: &Place, index: &mut Index) -> Result<Found> {
    for _ in 0..2 {
        let objects = store.list().await?;
        match pull(store, place, index, &objects).await {
            Err(error) if error.is::<Changed>() => tokio::time::sleep(Duration::from_millis(500)).await,
            ended => return ended,
        }
    }
    pull(store, place, index, &store.list().await?).await
}

/// Fetches what changed of a folder's whole files, removes what is there no more, and reads the lines of its growing files.
/// A file that changed here and not there stays.
async fn pull(store: &Store, place: &Place, index: &mut Index, objects: &[Object]) -> Result<Found> {
    let whole = |name: &str| segments::number(name).is_none() && name != WRITER && !GROWING.contains(&name);
    let (mut seen, mut changed) = (BTreeMap::new(), Vec::new());
    for object in objects.iter().filter(|object| whole(&object.name)) {
        let path = place.folder.join(below(&object.name)?);
        match index.0.get(&object.name) {
            Some(known) if known.there == object.version && path.is_file() => {
                drop(seen.insert(object.name.clone(), known.clone()));
            }
            _ => changed.push((object, path)),
        }
    }
    // Of a benchmark of many texts several come at once; folders of few files are fetched several at once already.
    let at_once = (changed.len() / 16).clamp(1, 16);
    let fetched = stream::iter(changed).map(|(object, path)| fetch_file(store, object, path));
    seen.extend(fetched.buffer_unordered(at_once).try_collect::<Vec<_>>().await?.into_iter().flatten());
    for (name, version) in &index.0 {
        let path = place.folder.join(below(name)?);
        if !seen.contains_key(name) && state(&path) == Some(version.here) {
            files::remove(&path)?;
        }
    }
    index.0 = seen;
    lines(store, objects).await
}

/// Writes an object as a file, and gives its name and version; `None` for the mark of a folder that holds nothing.
async fn fetch_file(store: &Store, object: &Object, path: PathBuf) -> Result<Option<(String, Version)>> {
    if object.bytes > MAX_FILE_BYTES {
        bail!(
            "{} has {} bytes: no file of a run or benchmark is larger than {MAX_FILE_BYTES}",
            object.name,
            object.bytes
        );
    }
    // The client drops the last slash of such a mark: no object has the name that is left.
    if object.bytes == 0 && store.get(&object.name).await?.is_none() {
        return Ok(None);
    }
    let bytes = store.get_listed(object).await?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    }
    write_atomically(&path, &bytes)?;
    let here = state(&path).context("a file that was written is there")?;
    Ok(Some((object.name.clone(), Version { there: object.version.clone(), here })))
}

/// The lines of the growing files: those of their objects, then those of the segments after the last whole one.
async fn lines(store: &Store, objects: &[Object]) -> Result<Found> {
    let mut lines = Lines::default();
    for object in objects.iter().filter(|object| GROWING.contains(&object.name.as_str())) {
        lines.begin(&object.name, &store.get_listed(object).await?)?;
    }
    let number = |object: &'_ Object| segments::number(&object.name);
    let mut segments: Vec<(u64, &Object)> =
        objects.iter().filter_map(|object| Some((number(object)?, object))).collect();
    segments.sort_unstable_by_key(|(number, _)| *number);
    let mut later = Vec::new();
    for (_, object) in segments.iter().rev() {
        let segment = store.get_listed(object).await?;
        let whole = segments::head(&segment).with_context(|| object.name.clone())?.whole;
        if whole {
            break;
        }
        later.push((&object.name, segment));
    }
    for (name, segment) in later.iter().rev() {
        lines.add(segment).with_context(|| (*name).clone())?;
    }
    Ok(Found { lines: lines.once(), next: segments.last().map_or(1, |(last, _)| last + 1) })
}

/// The path of an object below a folder: an object may be called `../x`, and no file is written elsewhere.
fn below(name: &str) -> Result<&Path> {
    let path = Path::new(name);
    if path.components().all(|part| matches!(part, Component::Normal(_))) && !name.contains('\\') {
        return Ok(path);
    }
    bail!("an object is called {name:?}, which is no file below a folder")
}

/// Writes the growing files with these lines, where they are not so.
pub(crate) fn write_lines(folder: &Path, lines: &Lines) -> Result<()> {
    for file in GROWING {
        let (path, lines) = (folder.join(file), lines.0.get(file));
        let Some(lines) = lines else {
            // A run that was lost before its first trial ended has no record yet, and is a run all the same.
            match file == RECORDS && folder.join("manifest.json").is_file() {
                true => write_atomically(&path, b"")?,
                false => files::remove(&path)?,
            }
            continue;
        };
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        if files::read(&path)?.as_deref() != Some(text.as_bytes()) {
            write_atomically(&path, text.as_bytes())?;
        }
    }
    Ok(())
}

/// Fetches a run folder or a benchmark, and gives the folder of this machine that has it, below `root`. What did not change
/// since it was fetched last is not fetched again.
///
/// # Errors
/// If the store cannot be reached, refuses, or has no such folder.
pub fn fetch(address: &Address, root: &Path) -> Result<PathBuf> {
    address.single()?;
    let store = Store::open(address, Patience::Short)?;
    let place = Place::of(root, READ, address);
    let lock = place.lock()?;
    lock.lock().with_context(|| format!("cannot lock {}", place.home.display()))?;
    block_on(|| async {
        let objects = store.list().await?;
        if objects.is_empty() {
            bail!("there is nothing at {address}");
        }
        refuse_many(address, &objects)?;
        let mut index = Index::read(&place);
        let found = pull_listed(&store, &place, &mut index).await.with_context(|| address.to_string())?;
        write_lines(&place.folder, &found.lines)?;
        index.write(&place)
    })?;
    // A run's files are read at once, and there can be thousands of runs.
    if !place.folder.join("manifest.json").is_file() {
        place.keep();
    }
    info!("{address}: fetched into {}", place.folder.display());
    Ok(place.folder)
}

/// Refuses what is too large to be fetched without being a run or a benchmark.
fn refuse_many(address: &Address, objects: &[Object]) -> Result<()> {
    let is_one = objects.iter().any(|object| ["manifest.json", "documents.jsonl"].contains(&object.name.as_str()));
    let bytes = objects.iter().map(|object| object.bytes).fold(0, u64::saturating_add);
    if !is_one && bytes > MOST_OF_OTHERS {
        bail!(
            "{address} is no run and no benchmark, and {} files of {} MiB lie below it: name one folder of it, or copy it to this \
             machine by the store's own tools",
            objects.len(),
            bytes >> 20
        );
    }
    Ok(())
}

/// Returns whether a store has something at an address, or at one of those that a pattern names.
///
/// # Errors
/// If the store cannot be reached.
pub fn is_there(address: &Address) -> Result<bool> {
    if address.is_pattern() {
        return Ok(!matching(address)?.is_empty());
    }
    let store = Store::open(address, Patience::Short)?;
    Ok(!block_on(|| store.list())?.is_empty())
}

/// The folders that a pattern names, sorted, of which there may be none; an address without a pattern names itself.
///
/// # Errors
/// If the pattern is none, or the store cannot be reached.
pub fn matching(pattern: &Address) -> Result<Vec<Address>> {
    if !pattern.is_pattern() {
        return Ok(vec![pattern.clone()]);
    }
    let store = Store::open(pattern, Patience::Short)?;
    let mut found = vec![String::new()];
    for part in pattern.path.split('/') {
        let matches = Pattern::new(part).with_context(|| format!("{pattern}: {part} is no pattern"))?;
        let mut next = Vec::new();
        for folder in found {
            if !part.contains(['*', '?', '[']) {
                next.push(if folder.is_empty() { part.to_owned() } else { format!("{folder}/{part}") });
                continue;
            }
            let below = block_on(|| store.folders(&folder))?;
            next.extend(below.into_iter().filter(|path| matches.matches(path.rsplit('/').next().unwrap_or(path))));
        }
        found = next;
    }
    found.sort();
    Ok(found.iter().map(|path| pattern.beside(path)).collect())
}

/// Waits for what is asked of a store, on a thread of its own: whoever calls may be within a runtime.
pub(crate) fn block_on<T: Send, F: Future<Output = Result<T>>>(ask: impl FnOnce() -> F + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.context("cannot start what waits for stores")?.block_on(ask())
        });
        asking.join().unwrap_or_else(|_| bail!("what asks the store has broken down"))
    })
}

/// Identity of a file: its number, which a new file may have from a removed one, and the time at which it was made, which
/// not every file system knows.
pub(crate) type Identity = (u64, Option<SystemTime>);

/// Returns the identity of a file; a file that replaces it has another.
pub(crate) fn identity(meta: &Metadata) -> Identity {
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(meta);
    #[cfg(not(unix))]
    let number = 0;
    (number, meta.created().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_09_a_folder_of_many_runs_is_not_fetched_by_mistake() {
        let address = Address::of("s3://evals/runs").unwrap().unwrap();
        let object = |name: &str, bytes| Object { name: name.to_owned(), version: String::new(), bytes };
        let many =
            |more: &str| vec![object("a/manifest.json", 5), object("b/texts/x.zst", MOST_OF_OTHERS), object(more, 1)];
        let said = refuse_many(&address, &many("b/manifest.json")).unwrap_err().to_string();
        assert!(said.starts_with("s3://evals/runs is no run and no benchmark, and 3 files of 1024 MiB"), "{said}");
        assert!(
            refuse_many(&address, &many("manifest.json")).is_ok()
                && refuse_many(&address, &many("documents.jsonl")).is_ok()
        );
        assert!(refuse_many(&address, &[object("logs/a.eval", MOST_OF_OTHERS)]).is_ok());
    }
}

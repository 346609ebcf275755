//! Preparations that methods made of books before the questions, a file each.

use super::unwritten::unwritten;
use anyhow::{Context, Result};
use closeread_files::{self as files, write_atomically};
use closeread_methods::Preparation;
use closeread_report::PreparationCalls;
use closeread_text::hash::sha256;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// Name of the folder of preparations.
pub const FOLDER: &str = "preparations";

/// The key of a preparation: everything that it depends on. Models, repeats and budgets share it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreparationKey {
    /// Name of the method.
    pub method: String,
    /// The parameters that it reads.
    pub parameters: Value,
    /// Model that was asked, `provider/model`.
    pub model: String,
    /// Ids of the books.
    pub documents: Vec<String>,
    /// SHA-256 of the books' texts.
    pub texts: Vec<String>,
    /// Fingerprint of the model that embeds the passages; absent where they are clustered by their words.
    pub embedder: Option<String>,
    /// The prompts that it asks by, with their hashes.
    pub prompts: BTreeMap<String, String>,
}

impl PreparationKey {
    /// Returns the hash that names the preparation among files.
    pub fn hash(&self) -> String {
        sha256(&serde_json::to_vec(self).expect("a key has string keys only"))[..16].to_owned()
    }
}

/// A file of the folder `preparations`.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptPreparation {
    #[serde(flatten)]
    key: PreparationKey,
    #[serde(flatten)]
    preparation: Preparation,
}

/// Returns what a method made of books, if a run folder holds it.
pub fn preparation(folder: &Path, key: &PreparationKey) -> Option<Preparation> {
    read(&preparation_file(folder, key))
}

/// Returns what a method made of books in each of the parts that were joined; the first is the one that a run reads.
pub(crate) fn preparations_of_parts(folder: &Path, key: &PreparationKey) -> Vec<Preparation> {
    let further = (2..).map(|n| folder.join(FOLDER).join(format!("{}.{n}.json", key.hash())));
    std::iter::once(preparation_file(folder, key)).chain(further).map_while(|file| read(&file)).collect()
}

fn read(file: &Path) -> Option<Preparation> {
    let kept: KeptPreparation = serde_json::from_slice(&closeread_files::read_file(file).ok()?).ok()?;
    Some(kept.preparation)
}

/// Keeps what a method made of books in a run folder.
pub(super) fn keep(folder: &Path, key: &PreparationKey, preparation: &Preparation) -> Result<()> {
    let kept = KeptPreparation { key: key.clone(), preparation: preparation.clone() };
    let file = preparation_file(folder, key);
    let bytes = serde_json::to_vec(&kept)?;
    let written = files::make_inside(&folder.join(FOLDER)).and_then(|()| write_atomically(&file, &bytes));
    written.with_context(|| unwritten(&file, folder))
}

/// Removes what a method made of books, in each of the parts that were joined: it is to be made again.
pub(super) fn forget(folder: &Path, key: &PreparationKey) -> Result<()> {
    let hash = key.hash();
    files::remove_from(&folder.join(FOLDER), |name| {
        name.split('.').next() == Some(hash.as_str()) && name.ends_with(".json")
    })
}

fn preparation_file(folder: &Path, key: &PreparationKey) -> PathBuf {
    folder.join(FOLDER).join(format!("{}.json", key.hash()))
}

/// The calls of all preparations in a run folder, in the order of their file names.
pub fn preparation_calls(folder: &Path) -> Result<Vec<PreparationCalls>> {
    let calls = |(key, preparation): (PreparationKey, Preparation)| PreparationCalls {
        method: key.method,
        model: key.model,
        blocked_tokens: preparation.blocked_tokens(),
        calls: preparation.calls,
    };
    Ok(preparations(folder)?.into_iter().map(calls).collect())
}

/// Returns every preparation that a run folder keeps, in the order of their file names.
///
/// # Errors
/// If one cannot be read; the file is named.
pub fn preparations(path: &Path) -> Result<Vec<(PreparationKey, Preparation)>> {
    let folder = path.join(FOLDER);
    let mut files = files::entries(&folder)?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    let read = |file: &PathBuf| {
        let bytes = closeread_files::read_file(file).with_context(|| format!("cannot read {}", file.display()))?;
        let kept: KeptPreparation = serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is damaged; remove it, and the run makes it again", file.display()))?;
        Ok((kept.key, kept.preparation))
    };
    files.iter().map(read).collect()
}

/// Returns the preparations of which `known` has a copy, and adds the others to it, by the hash of their files: parts that share a
/// book have each paid for its own, which is another file.
pub fn copied_preparations(path: &Path, known: &mut HashSet<String>) -> Result<Vec<(PreparationKey, Preparation)>> {
    let (mut copies, mut new) = (Vec::new(), Vec::new());
    for (made, (_, bytes)) in preparations(path)?.into_iter().zip(preparation_files(path)?) {
        let hash = sha256(&bytes);
        if known.contains(&hash) { copies.push(made) } else { new.push(hash) }
    }
    known.extend(new);
    Ok(copies)
}

/// The files of all preparations in a run folder, name and content, in the order of the names.
pub(crate) fn preparation_files(path: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut listed = files::entries(&path.join(FOLDER))?;
    listed.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    let read = |file: &PathBuf| {
        let bytes = closeread_files::read_file(file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok((file.file_name().unwrap_or_default().to_string_lossy().into_owned(), bytes))
    };
    listed.iter().map(read).collect()
}

//! What methods made of books before the questions, a file each.

use crate::files::{self, write_atomically};
use anyhow::{Context, Result};
use closeread_core::hash::sha256;
use closeread_core::method::Preparation;
use closeread_core::report::PreparationCalls;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// What methods made of books before the questions.
pub(crate) const FOLDER: &str = "preparations";

/// What names a preparation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PreparationKey {
    /// Name of the method.
    pub(crate) method: String,
    /// Reader, `provider/model`.
    pub(crate) model: String,
    /// Ids of the books.
    pub(crate) documents: Vec<String>,
    /// Number of the repetition, from 0.
    pub(crate) sample: u32,
}

/// A file of the folder `preparations`.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptPreparation {
    #[serde(flatten)]
    key: PreparationKey,
    #[serde(flatten)]
    preparation: Preparation,
}

/// What a method made of books, if a run folder holds it.
pub(crate) fn preparation(folder: &Path, key: &PreparationKey) -> Option<Preparation> {
    let kept: KeptPreparation = serde_json::from_slice(&fs::read(preparation_file(folder, key)).ok()?).ok()?;
    Some(kept.preparation)
}

/// Keeps what a method made of books in a run folder.
pub(super) fn keep(folder: &Path, key: &PreparationKey, preparation: &Preparation) -> Result<()> {
    let kept = KeptPreparation { key: key.clone(), preparation: preparation.clone() };
    let file = preparation_file(folder, key);
    fs::create_dir_all(folder.join(FOLDER)).with_context(|| format!("cannot write {}", file.display()))?;
    write_atomically(&file, &serde_json::to_vec(&kept)?)
}

/// Removes what a method made of books: it is to be made again.
pub(super) fn forget(folder: &Path, key: &PreparationKey) -> Result<()> {
    let file = preparation_file(folder, key);
    fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))
}

fn preparation_file(folder: &Path, key: &PreparationKey) -> PathBuf {
    let name = sha256(&serde_json::to_vec(key).expect("a key has string keys only"));
    folder.join(FOLDER).join(format!("{}.json", &name[..16]))
}

/// The calls of all preparations in a run folder, in the order of their file names.
pub(crate) fn preparation_calls(folder: &Path) -> Result<Vec<PreparationCalls>> {
    let calls = |(key, preparation): (PreparationKey, Preparation)| PreparationCalls {
        method: key.method,
        model: key.model,
        calls: preparation.calls,
    };
    Ok(preparations(folder)?.into_iter().map(calls).collect())
}

/// Every preparation that a run folder keeps, in the order of their file names.
///
/// # Errors
/// If one cannot be read; the file is named.
pub(crate) fn preparations(path: &Path) -> Result<Vec<(PreparationKey, Preparation)>> {
    let folder = path.join(FOLDER);
    let mut files = files::entries(&folder)?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    let read = |file: &PathBuf| {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let kept: KeptPreparation = serde_json::from_slice(&bytes)
            .with_context(|| format!("{} is damaged; remove it, and the run makes it again", file.display()))?;
        Ok((kept.key, kept.preparation))
    };
    files.iter().map(read).collect()
}

/// The files of all preparations in a run folder, name and content, in the order of the names.
pub(crate) fn preparation_files(path: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut listed = files::entries(&path.join(FOLDER))?;
    listed.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    let read = |file: &PathBuf| {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        Ok((file.file_name().unwrap_or_default().to_string_lossy().into_owned(), bytes))
    };
    listed.iter().map(read).collect()
}

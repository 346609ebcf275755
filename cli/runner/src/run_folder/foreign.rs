//! Folders of a person's, in which nothing is written.

use super::TEXTS;
use anyhow::{Result, bail};
use closeread_files as files;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Refuses a folder in which something lies and no manifest of a run or a build: nothing of a person's is written over or
/// removed.
pub fn refuse_foreign(path: &Path, manifest: &str) -> Result<()> {
    if path.as_os_str().is_empty() {
        // It would be the working folder, which nobody looked at.
        bail!("--out is empty: name a folder");
    }
    if let Some(file) = path.ancestors().find(|path| path.exists()).filter(|path| !path.is_dir()) {
        bail!("{} is a file: name a folder by --out", file.display());
    }
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
        Some(".lock") => false,
        Some(name) if name.starts_with('.') && name.ends_with(closeread_files::PARTIAL) => false,
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

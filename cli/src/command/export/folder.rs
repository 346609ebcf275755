//! The folder that an export writes into, so that the next one knows which files it may replace.

use anyhow::{Context, Result, bail};
use closeread_files::{self as files, write_atomically};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use tracing::info;

/// Names the files of an export.
const FILE_LIST: &str = "export-files.json";

/// The folder of an export.
#[derive(Debug)]
pub(super) struct OutFolder {
    path: PathBuf,
    names: BTreeSet<String>,
}

impl OutFolder {
    /// Opens the folder and removes the files of an earlier export; refuses one with something else in it.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let list = path.join(FILE_LIST);
        let ours: Vec<String> = match files::read(&list)? {
            None => Vec::new(),
            Some(bytes) => {
                serde_json::from_slice(&bytes).with_context(|| format!("{} is no list of names", list.display()))?
            }
        };
        if ours.is_empty()
            && !list.exists()
            && let Some(foreign) = files::entries(path)?.first()
        {
            bail!(
                "{} holds `{}`, which is no part of an export: name an empty or a new folder by --out",
                path.display(),
                foreign.strip_prefix(path).unwrap_or(foreign).display()
            );
        }
        let is_plain = |name: &&String| !name.split('/').any(|part| part == ".." || part.is_empty());
        ours.iter().filter(is_plain).try_for_each(|name| files::remove(&path.join(name)))?;
        std::fs::create_dir_all(path).with_context(|| format!("cannot create the folder {}", path.display()))?;
        Ok(Self { path: path.to_owned(), names: BTreeSet::new() })
    }

    /// A new file, to be written as it comes. Its name stands in the list before, so that a killed export is cleared away.
    pub(super) fn create(&mut self, name: &str) -> Result<File> {
        let path = self.placed(name)?;
        File::create(&path).with_context(|| format!("cannot create {}", path.display()))
    }

    /// Writes a file, whole.
    pub(super) fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.placed(name)?;
        write_atomically(&path, bytes)
    }

    fn placed(&mut self, name: &str) -> Result<PathBuf> {
        if !self.names.insert(name.to_owned()) {
            bail!("two cells would be written into {name}: give the runs different names, RUN=NAME");
        }
        let path = self.path.join(name);
        // What earlier exports left is gone: this was put there by somebody else.
        if path.symlink_metadata().is_ok() {
            bail!("{} is no part of an export: move it away, or name another folder by --out", path.display());
        }
        write_atomically(&self.path.join(FILE_LIST), &serde_json::to_vec(&self.names)?)?;
        let parent = path.parent().unwrap_or(&self.path);
        std::fs::create_dir_all(parent).with_context(|| format!("cannot create the folder {}", parent.display()))?;
        Ok(path)
    }

    /// Says what was written, and closes the folder.
    pub(super) fn close(self, what: &str) -> Result<()> {
        info!("{}: {} files, {what}", self.path.display(), self.names.len());
        Ok(())
    }
}

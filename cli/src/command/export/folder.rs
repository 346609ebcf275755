//! The folder that an export writes into, so that the next one knows which files it may replace.

use anyhow::{Context, Result, bail};
use closeread_export::file_name;
use closeread_files::{self as files, write_atomically};
use closeread_table::number::counted;
use closeread_text::hash::sha256;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};
use tracing::info;

/// Names the files of an export.
const FILE_LIST: &str = "export-files.json";

/// Lock of the folder, while an export is written.
const LOCK: &str = ".lock";

/// Names of files, which differ also where case counts for nothing: of those that come to one name, all but the first have the
/// beginning of their hash.
#[derive(Debug, Default)]
pub(super) struct FileNames(HashMap<String, String>);

impl FileNames {
    /// Returns the file's name for a name, the same each time.
    pub(super) fn of(&mut self, name: &str) -> String {
        let plain = file_name(name);
        let first = self.0.entry(plain.to_lowercase()).or_insert_with(|| name.to_owned());
        if first == name { plain } else { format!("{plain}-{}", &sha256(name.as_bytes())[..8]) }
    }
}

/// The folder of an export.
#[derive(Debug)]
pub(super) struct OutFolder {
    path: PathBuf,
    names: BTreeSet<String>,
    _lock: File,
}

impl OutFolder {
    /// Opens the folder and removes the files of an earlier export; refuses one with something else in it, and one that another
    /// process writes.
    pub(super) fn open(path: &Path) -> Result<Self> {
        // Where there is a lock somebody may be writing just now: it is looked at again.
        if !path.join(LOCK).exists() {
            refuse_others(path)?;
        }
        std::fs::create_dir_all(path).with_context(|| format!("cannot create the folder {}", path.display()))?;
        let _lock = lock(path)?;
        refuse_others(path)?;
        files::remove_partial(path)?;
        let list = path.join(FILE_LIST);
        let ours: Vec<String> = match files::read(&list)? {
            None => Vec::new(),
            Some(bytes) => {
                serde_json::from_slice(&bytes).with_context(|| format!("{} is no list of names", list.display()))?
            }
        };
        let is_plain = |name: &&String| !name.split('/').any(|part| part == ".." || part.is_empty());
        let is_here = |name: &&String| linked(path, name).is_none();
        ours.iter().filter(is_plain).filter(is_here).try_for_each(|name| files::remove(&path.join(name)))?;
        Ok(Self { path: path.to_owned(), names: BTreeSet::new(), _lock })
    }

    /// A new file, to be written as it comes; it has its name once it is [finished](Self::finish).
    pub(super) fn create(&mut self, name: &str) -> Result<File> {
        // It stands in the list before, so that what a kill leaves is cleared away.
        let path = self.placed(&partial(name))?;
        File::create(&path).with_context(|| format!("cannot create {}", path.display()))
    }

    /// Gives a file that is written to its end the name that it was [created](Self::create) under.
    pub(super) fn finish(&mut self, name: &str) -> Result<()> {
        let path = self.placed(name)?;
        let written = self.path.join(partial(name));
        std::fs::rename(&written, &path).with_context(|| format!("cannot write {}", path.display()))?;
        self.names.remove(&partial(name));
        write_atomically(&self.path.join(FILE_LIST), &serde_json::to_vec(&self.names)?)
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
        if let Some(link) = linked(&self.path, name) {
            bail!("{} is a link, and an export writes into its own folder alone: remove it", link.display());
        }
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
        info!("{}: {}, {what}", self.path.display(), counted(self.names.len(), "file"));
        Ok(())
    }
}

impl Drop for OutFolder {
    /// Removes what was begun and not finished, as where the disk is full.
    fn drop(&mut self) {
        for name in self.names.iter().filter(|name| name.ends_with(files::PARTIAL)) {
            let _ = std::fs::remove_file(self.path.join(name));
        }
        let _ = std::fs::remove_file(self.path.join(LOCK));
    }
}

/// Refuses a folder that holds something and no export.
fn refuse_others(path: &Path) -> Result<()> {
    let is_ours = |entry: &PathBuf| {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        name == LOCK || (name.starts_with('.') && name.ends_with(files::PARTIAL))
    };
    let foreign = files::entries(path)?.into_iter().find(|entry| !is_ours(entry));
    if let Some(foreign) = foreign.filter(|_| !path.join(FILE_LIST).exists()) {
        bail!(
            "{} holds `{}`, which is no part of an export: name an empty or a new folder by --out",
            path.display(),
            foreign.strip_prefix(path).unwrap_or(&foreign).display()
        );
    }
    Ok(())
}

/// The folder for this process alone, until the file is closed. A link in the place of the lock is not followed.
fn lock(path: &Path) -> Result<File> {
    let lock = path.join(LOCK);
    let is_file = || lock.symlink_metadata().is_ok_and(|there| there.is_file());
    if lock.symlink_metadata().is_ok() && !is_file() {
        bail!("{} is no file: remove it, or name another folder by --out", lock.display());
    }
    let file = File::options().create(true).truncate(false).write(true).open(&lock);
    let file = file.with_context(|| format!("cannot write into {}", path.display()))?;
    // Another export may have removed the file between its opening and its locking.
    let is_free = file.try_lock().is_ok() && is_file();
    if !is_free {
        bail!(
            "another closeread writes an export into {}: wait for it to end, or name another folder by --out",
            path.display()
        );
    }
    Ok(file)
}

/// The hidden name that a file has while it is written.
fn partial(name: &str) -> String {
    let (folder, file) = name.rsplit_once('/').map_or(("", name), |(folder, file)| (&name[..=folder.len()], file));
    format!("{folder}.{file}{}", files::PARTIAL)
}

/// The link on the way to a file of the folder, if there is one: it leads out of the folder.
fn linked(folder: &Path, name: &str) -> Option<PathBuf> {
    let within = Path::new(name).ancestors().skip(1).map(|part| folder.join(part));
    within.take_while(|path| path != folder).find(|path| path.is_symlink())
}

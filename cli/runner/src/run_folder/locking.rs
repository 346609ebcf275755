//! A run folder for one process alone.

use anyhow::{Context, Result, bail};
use closeread_files as files;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;

/// The folder for this process alone, until the file is closed. What a kill left half written there is removed.
///
/// # Errors
/// If another process has it, its file system has no locks, or a file or folder in it is a link: what is written would land
/// elsewhere.
pub fn lock(path: &Path) -> Result<File> {
    for entry in files::entries(path)? {
        if entry.is_symlink() {
            bail!(
                "{} is a link, and a run writes into its own folder alone: put what it leads to in its place, or choose another \
                 folder with --out",
                entry.display()
            );
        }
    }
    let lock = path.join(".lock");
    // To open a pipe is to wait for who reads it.
    if fs::metadata(&lock).is_ok_and(|there| !there.is_file()) {
        bail!("{} is no file: remove it, or choose another folder with --out", lock.display());
    }
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(lock)
        .with_context(|| format!("cannot write into the run folder {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => {
            files::remove_partial(path)?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => bail!(
            "another closeread is running into {}; wait for it to end, or choose another folder with --out",
            path.display()
        ),
        Err(TryLockError::Error(error)) => {
            let why = "its file system may have no locks: choose a folder on a local disk with --out, or have the drive mounted with \
                       locks (Lustre: `-o flock`; NFS: a running lock service)";
            Err(error).with_context(|| format!("cannot lock the run folder {}; {why}", path.display()))
        }
    }
}

/// True while a process has the folder for itself; reading alone, so it can be asked from any machine.
pub fn is_in_use(path: &Path) -> bool {
    let lock = File::open(path.join(".lock"));
    lock.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

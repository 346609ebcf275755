//! Run folders and benchmarks in object stores: `s3://BUCKET/PATH`, `az://CONTAINER/PATH`.
//!
//! An object cannot grow, and a run's records do. So a run writes into a folder of this machine, and a [`Mirror`] sends what is new:
//! whole files under their names, new lines of growing files as numbered segments, each put only if there is none of that number.
//! Who comes first has the number; a writer that finds its number taken was replaced, and stops. So a run goes on on another
//! machine when the first is lost, and two writers never mix. [`fetch`] makes a folder of this machine of what lies there.

mod address;
mod copy;
mod http;
mod mirror;
mod segments;
mod store;
mod words;
mod writer;

pub use address::Address;
pub use copy::{fetch, is_there, matching};
pub use mirror::{INTERVAL, Mirror};
pub use writer::written_for;

use anyhow::{Context, Result};
use closeread_files::copies::{LOCK, READERS};
use std::path::{Path, PathBuf};

/// The folder of this machine for a folder of a store, with what is noted about it.
#[derive(Debug, Clone)]
struct Place {
    /// Folder of what is noted, and of the lock.
    home: PathBuf,
    /// Path of the folder itself.
    folder: PathBuf,
}

impl Place {
    /// The place below `root`. A copy for reading (`kind`) is another one than that of a run that writes.
    fn of(root: &Path, kind: &str, address: &Address) -> Self {
        let hash = closeread_text::hash::sha256(address.to_string().as_bytes());
        let home = root.join(kind).join(&hash[..16]);
        Self { folder: home.join(address.name()), home }
    }

    /// The place for this process alone, until the file is closed.
    fn lock(&self) -> Result<std::fs::File> {
        std::fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot create the folder {}", self.folder.display()))?;
        let path = self.home.join(LOCK);
        let file = std::fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        file.with_context(|| format!("cannot write {}", path.display()))
    }

    /// Keeps the copy until this process ends: a run reads the texts of its benchmark as it goes. Where files cannot be locked,
    /// nothing keeps it.
    fn keep(&self) {
        let file = std::fs::OpenOptions::new().create(true).truncate(false).write(true).open(self.home.join(READERS));
        if let Some(file) = file.ok().filter(|file| file.try_lock_shared().is_ok()) {
            std::mem::forget(file);
        }
    }
}

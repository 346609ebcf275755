//! Cache: what is kept from run to run.

use anyhow::{Context, Result};
use closeread_files::partial_of;
use closeread_providers::response_cache::ResponseCache;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Returns `CLOSEREAD_CACHE`, or the user's cache folder; `None` where the system has no place for it.
pub fn cache_folder() -> Option<PathBuf> {
    let given = std::env::var_os("CLOSEREAD_CACHE").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    given.or_else(|| Some(directories::ProjectDirs::from("", "", "closeread")?.cache_dir().to_owned()))
}

/// Name of the folder of catalogs in the cache.
pub const CATALOGS: &str = "catalogs";

/// Responses that are remembered for later runs: `responses` in the cache folder.
pub fn responses() -> ResponseCache {
    ResponseCache::new(cache_folder().map(|folder| folder.join("responses")))
}

/// Writes a file of the cache whole or not at all, in a folder that is made. It is not waited for until it is on the disk: what reads
/// it holds it to a hash.
///
/// # Errors
/// What `fill` says, and if the file cannot be written.
pub(crate) fn write_whole(path: &Path, fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>) -> Result<()> {
    let folder = path.parent().context("a file of the cache lies in its folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let write = || {
        let partial = partial_of(path, folder)?;
        let mut to = BufWriter::new(partial.as_file());
        fill(&mut to)?;
        to.into_inner().map_err(|error| error.into_error())?;
        partial.persist(path)?;
        Ok(())
    };
    let written: Result<()> = write();
    written.with_context(|| format!("{} cannot be written", path.display()))
}

//! What is kept from run to run.

use closeread_providers::response_cache::ResponseCache;
use std::path::PathBuf;

/// `CLOSEREAD_CACHE`, or the user's cache folder; `None` where the system has no place for it.
pub fn cache_folder() -> Option<PathBuf> {
    let given = std::env::var_os("CLOSEREAD_CACHE").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    given.or_else(|| Some(directories::ProjectDirs::from("", "", "closeread")?.cache_dir().to_owned()))
}

/// Responses that are remembered for later runs: `responses` in the cache folder.
pub fn responses() -> ResponseCache {
    ResponseCache::new(cache_folder().map(|folder| folder.join("responses")))
}

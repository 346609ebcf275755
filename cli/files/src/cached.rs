//! Files of the cache, which several processes may write, and several people share.

use std::io;
use std::path::Path;
use tempfile::NamedTempFile;

/// Makes a file in the folder of `path`, to be persisted there. `cache prune` knows it as ours by the beginning of its name, and
/// finds it if a kill leaves it.
pub fn partial_of(path: &Path, folder: &Path) -> io::Result<NamedTempFile> {
    let prefix = format!("{}.", path.file_stem().unwrap_or_default().display());
    let mut partial = tempfile::Builder::new();
    partial.prefix(&prefix).suffix(".tmp");
    // As every new file has: in a cache folder that several people share, each may read what the others paid for.
    #[cfg(unix)]
    partial.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    partial.tempfile_in(folder)
}

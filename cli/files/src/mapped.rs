//! Files that are read where they lie.

use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::path::Path;

/// A file as bytes of which the system keeps in memory what is read, once for all processes that read it.
///
/// For files that are written under another name and renamed, and never changed where they lie: who cuts one short while it is
/// read ends this process.
///
/// # Errors
/// If it cannot be read.
#[allow(unsafe_code, reason = "a map is a slice over a file that others could change; nobody changes these in place")]
pub fn map(path: &Path) -> io::Result<impl AsRef<[u8]> + Send + Sync + use<>> {
    let file = File::open(path)?;
    // SAFETY: closeread's files of this kind are replaced as a whole by a rename, which leaves the mapped one as it was; no code
    // of ours writes into one that has its name. Any bytes are valid: they are held to a hash before they are used.
    unsafe { Mmap::map(&file) }
}

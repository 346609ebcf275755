//! Vectors on disk, by the hash of what they were made from.

use crate::cache::write_whole;
use closeread_embed::{Embedded, Vectors};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::warn;

/// Begins every file; the digit is the version of the layout.
const MAGIC: &[u8; 8] = b"crvecs-1";
/// Magic, dimension, number of vectors, number of cut texts.
const N_HEADER: usize = 8 + 3 * 8;

/// A folder of remembered vectors, or none where the system has no place for it.
///
/// A file is written whole under another name and then renamed, and ends in the hash of what stands before: one that
/// is damaged or cut off counts as absent and is written anew. Failing to write costs time, not results: it is said
/// once on standard error.
#[derive(Debug)]
pub(super) struct Cache {
    folder: Option<PathBuf>,
    warned: AtomicBool,
}

impl Cache {
    /// `CLOSEREAD_CACHE`, or the user's cache folder.
    pub(super) fn of_user() -> Self {
        Self {
            folder: crate::cache::cache_folder().map(|folder| folder.join("vectors")),
            warned: AtomicBool::new(false),
        }
    }

    /// Opens the cache in a given folder.
    #[cfg(test)]
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { folder: Some(folder.to_owned()), warned: AtomicBool::new(false) }
    }

    /// Returns what was stored under a key, if it is whole and of this shape.
    pub(super) fn get(&self, key: &str, dimension: usize, n_texts: usize) -> Option<Embedded> {
        let bytes = std::fs::read(self.path(key)?).ok()?;
        let (content, hash) = bytes.split_last_chunk::<32>()?;
        let numbers = content.strip_prefix(MAGIC)?.get(..N_HEADER - MAGIC.len())?.as_chunks::<8>().0;
        let numbers: Vec<u64> = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let values = content[N_HEADER..].as_chunks::<4>().0;
        let of_this_shape = numbers[..2] == [dimension as u64, n_texts as u64]
            && content.len() == N_HEADER + dimension * n_texts * size_of::<f32>();
        if !of_this_shape || Sha256::digest(content)[..] != hash[..] {
            return None;
        }
        let values = values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Some(Embedded { vectors: Vectors::new(dimension, values), n_cut: usize::try_from(numbers[2]).ok()? })
    }

    /// The file that [`Cache::get`] would read, if it is there; what it holds has been looked at by then.
    pub(super) fn file(&self, key: &str) -> Option<PathBuf> {
        self.path(key).filter(|path| path.is_file())
    }

    /// Stores what [`Cache::get`] gives back.
    pub(super) fn put(&self, key: &str, embedded: &Embedded) {
        let Some(path) = self.path(key) else { return };
        if let Err(error) = write_whole(&path, |to| Ok(to.write_all(&encode(embedded))?))
            && !self.warned.swap(true, Ordering::Relaxed)
        {
            warn!("vectors are not remembered: equal texts are embedded again, in this run and the next: {error:#}");
        }
    }

    /// Removes what is stored under a key, for it is stored elsewhere too.
    pub(super) fn forget(&self, key: &str) {
        if let Some(path) = self.path(key) {
            // What stays takes up room and does no harm.
            let _ = std::fs::remove_file(path);
        }
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(&key[..2]).join(format!("{key}.vec")))
    }
}

/// The vectors of a file that was found whole before: its shape is checked again, its hash is not.
pub(super) fn read_again(path: &Path, dimension: usize, n_texts: usize) -> Result<Vectors, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}; run again", path.display()))?;
    let expected = N_HEADER + dimension * n_texts * size_of::<f32>() + 32;
    if bytes.len() != expected {
        return Err(format!("{} has {} bytes instead of {expected}; run again", path.display(), bytes.len()));
    }
    let values = bytes[N_HEADER..expected - 32].as_chunks::<4>().0;
    Ok(Vectors::new(dimension, values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
}

fn encode(embedded: &Embedded) -> Vec<u8> {
    let vectors = &embedded.vectors;
    let mut bytes = MAGIC.to_vec();
    for number in [vectors.dimension(), vectors.len(), embedded.n_cut] {
        bytes.extend((number as u64).to_le_bytes());
    }
    bytes.reserve(size_of_val(vectors.values()) + 32);
    vectors.values().iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    let hash = Sha256::digest(&bytes);
    bytes.extend_from_slice(&hash);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ab12";

    fn stored() -> (tempfile::TempDir, Cache, Embedded) {
        let dir = tempfile::tempdir().expect("a folder");
        let cache = Cache::in_folder(dir.path());
        let embedded = Embedded { vectors: Vectors::new(2, vec![0.6, 0.8, -1.0, 0.0]), n_cut: 1 };
        cache.put(KEY, &embedded);
        (dir, cache, embedded)
    }

    #[test]
    fn gives_back_what_was_stored_under_this_key_and_shape() {
        let (_dir, cache, embedded) = stored();
        assert_eq!(cache.get(KEY, 2, 2), Some(embedded));
        assert_eq!(cache.get("ab13", 2, 2), None);
        assert_eq!(cache.get(KEY, 4, 1), None);
    }

    #[test]
    fn a_damaged_file_counts_as_absent() {
        let (_dir, cache, embedded) = stored();
        let path = cache.path(KEY).expect("a folder");
        let whole = std::fs::read(&path).expect("stored");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).expect("writable");
            assert_eq!(cache.get(KEY, 2, 2), None, "byte {at} flipped");
            std::fs::write(&path, &whole[..at]).expect("writable");
            assert_eq!(cache.get(KEY, 2, 2), None, "cut off after {at} bytes");
        }
        cache.put(KEY, &embedded);
        assert_eq!(cache.get(KEY, 2, 2), Some(embedded));
    }
}

//! A file of an index: what it is, of which key, the bytes of the index, and a hash of all that.

use crate::cache::write_whole;
use anyhow::{Result, anyhow};
use closeread_retrieve::KeptBytes;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use twox_hash::XxHash3_128;

/// Begins every file; the digit is the version of this frame.
const MAGIC: &[u8; 8] = b"crkept-1";
/// Magic and key, in hex.
const N_HEADER: usize = 8 + 64;
const N_HASH: usize = 16;

/// The bytes of the index in a file, mapped; `None` if there is no file.
///
/// All of the file is read once, to be hashed. The hash finds what a disk or a kill damaged.
///
/// # Errors
/// Why the file is not the whole index of this key, for people.
pub(crate) fn open(path: &Path, key: &str) -> Result<Option<KeptBytes>, String> {
    let map = match closeread_files::map(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        map => map.map_err(|error| format!("it cannot be read: {error}"))?,
    };
    let bytes: &[u8] = map.as_ref();
    if !bytes.starts_with(MAGIC) {
        return Err("it is no index, or one of another version of closeread".to_owned());
    }
    let (content, hash) = bytes.split_last_chunk::<N_HASH>().ok_or("it is cut off")?;
    let end = content.len();
    if XxHash3_128::oneshot(content).to_le_bytes() != *hash {
        return Err("it is damaged, its hash does not fit".to_owned());
    }
    match content.get(MAGIC.len()..N_HEADER) {
        Some(found) if found == key.as_bytes() => Ok(KeptBytes::new(map).part(N_HEADER..end)),
        _ => Err("it is of other books or settings than its name says".to_owned()),
    }
}

/// Writes a file whole or not at all; says how many bytes it has. `content` hands over the bytes of the
/// index.
///
/// # Errors
/// What `content` says, and where the file cannot be written.
pub(crate) fn write(
    path: &Path,
    key: &str,
    content: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), String>,
) -> Result<u64> {
    let mut n_bytes = 0;
    write_whole(path, |to| {
        let mut file = Hashed { to, hash: XxHash3_128::new(), n: 0 };
        let mut written = file.put(MAGIC).and_then(|()| file.put(key.as_bytes()));
        let filled = content(&mut |bytes| {
            if written.is_ok() {
                written = file.put(bytes);
            }
        });
        filled.map_err(|error| anyhow!(error))?;
        written?;
        n_bytes = file.finish()?;
        Ok(())
    })?;
    Ok(n_bytes)
}

/// A file, and the hash of what was written into it.
struct Hashed<W> {
    to: W,
    hash: XxHash3_128,
    n: u64,
}

impl<W: Write> Hashed<W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.write(bytes);
        self.n += bytes.len() as u64;
        self.to.write_all(bytes)
    }

    /// Finishes the file: the hash goes behind all else.
    fn finish(mut self) -> io::Result<u64> {
        self.to.write_all(&self.hash.finish_128().to_le_bytes())?;
        Ok(self.n + N_HASH as u64)
    }
}

//! A file of an index: what it is, of which key, the bytes of the index, and a hash of all that.

use anyhow::{Context, Result, anyhow};
use closeread_retrieve::KeptBytes;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
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
pub(super) fn open(path: &Path, key: &str) -> Result<Option<KeptBytes>, String> {
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

/// Writes a file whole under another name, then renames it; says how many bytes it has. `content` hands over the bytes of the
/// index.
///
/// # Errors
/// What `content` says, and where the file cannot be written.
pub(super) fn write(
    path: &Path,
    key: &str,
    content: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), String>,
) -> Result<u64> {
    static N_WRITTEN: AtomicU64 = AtomicU64::new(0);
    let folder = path.parent().context("an index lies in its folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let unique = N_WRITTEN.fetch_add(1, Ordering::Relaxed);
    let whole = path.with_extension(format!("{}-{unique}.tmp", std::process::id()));
    let mut file =
        File::create(&whole).map(|file| Hashed { file: BufWriter::new(file), hash: XxHash3_128::new(), n: 0 });
    let mut filled = Ok(());
    let written = file.as_mut().map_err(|error| io::Error::new(error.kind(), error.to_string())).and_then(|file| {
        let mut written = file.put(MAGIC).and_then(|()| file.put(key.as_bytes()));
        filled = content(&mut |bytes| {
            if written.is_ok() {
                written = file.put(bytes);
            }
        });
        written.and_then(|()| file.finish())
    });
    let renamed = match (&filled, written) {
        (Ok(()), Ok(n)) => std::fs::rename(&whole, path).map(|()| n),
        (_, Err(error)) => Err(error),
        (Err(_), Ok(_)) => Err(io::Error::other("its content cannot be had")),
    };
    if renamed.is_err() {
        // What is left of it would only take up room; that it cannot be removed adds nothing to the error.
        let _ = std::fs::remove_file(&whole);
    }
    filled.map_err(|error| anyhow!(error))?;
    renamed.with_context(|| format!("{} cannot be written", path.display()))
}

/// A file, and the hash of what was written into it.
struct Hashed {
    file: BufWriter<File>,
    hash: XxHash3_128,
    n: u64,
}

impl Hashed {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.write(bytes);
        self.n += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// The hash goes behind all else.
    fn finish(&mut self) -> io::Result<u64> {
        self.file.write_all(&self.hash.finish_128().to_le_bytes())?;
        self.file.flush()?;
        Ok(self.n + N_HASH as u64)
    }
}

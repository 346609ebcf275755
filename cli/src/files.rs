//! Files and folders that need not be there, and files that are whole or not there.

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What a file holds; `None` if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    if_there(fs::read(path)).with_context(|| format!("cannot read {}", path.display()))
}

/// The text that a file holds; `None` if there is none.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>> {
    if_there(fs::read_to_string(path)).with_context(|| format!("cannot read {}", path.display()))
}

/// What lies in a folder, in the order of the names; nothing if there is none.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let listed = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let listed = if_there(listed()).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = listed.unwrap_or_default();
    paths.sort();
    Ok(paths)
}

/// Removes a file, if there is one.
pub(crate) fn remove(path: &Path) -> Result<()> {
    if_there(fs::remove_file(path)).map(drop).with_context(|| format!("cannot remove {}", path.display()))
}

/// Removes a folder with all that is in it, if there is one.
pub(crate) fn remove_folder(path: &Path) -> Result<()> {
    if_there(fs::remove_dir_all(path)).map(drop).with_context(|| format!("cannot remove {}", path.display()))
}

fn if_there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        done => done.map(Some),
    }
}

/// The values of a file of JSON lines, none if there is no file; a last line that a kill cut short is passed over.
/// `expected` says what a line is, in errors.
pub(crate) fn read_lines<T: DeserializeOwned>(path: &Path, expected: &str) -> Result<Vec<T>> {
    let bytes = read(path)?.unwrap_or_default();
    values(path, &bytes[..whole(&bytes)], expected)
}

/// Opens a file of JSON lines for appending and reads those that are whole; the rest of a line that a kill cut short is
/// removed. `expected` says what a line is, in errors.
pub(crate) fn open_lines<T: DeserializeOwned>(path: &Path, expected: &str) -> Result<(File, Vec<T>)> {
    let named = || path.display().to_string();
    let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path);
    let mut file = file.with_context(|| format!("cannot open {}", named()))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).with_context(|| format!("cannot read {}", named()))?;
    let whole = whole(&bytes);
    if whole < bytes.len() {
        file.set_len(whole as u64).with_context(|| format!("cannot repair {}", named()))?;
    }
    file.seek(SeekFrom::End(0)).with_context(|| format!("cannot open {}", named()))?;
    Ok((file, values(path, &bytes[..whole], expected)?))
}

/// Bytes of the lines that have an end.
fn whole(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1)
}

fn values<T: DeserializeOwned>(path: &Path, lines: &[u8], expected: &str) -> Result<Vec<T>> {
    let lines = lines.split(|&byte| byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace));
    let value = |(idx, line): (usize, &[u8])| {
        serde_json::from_slice(line).with_context(|| format!("{}:{}: expected {expected}", path.display(), idx + 1))
    };
    lines.map(value).collect()
}

/// JSON as people read it, with a line end.
pub(crate) fn pretty(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// Writes a file whole or not at all.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let partial = path.with_extension("partial");
    let write = || -> io::Result<()> {
        let mut file = File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        fs::rename(&partial, path)
    };
    write().with_context(|| {
        // On a full disk even what there is of it is in the way.
        let _ = fs::remove_file(&partial);
        format!("cannot write {}", path.display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_there_is_nothing_and_no_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("none");
        assert_eq!((read(&path).unwrap(), read_text(&path).unwrap()), (None, None));
        assert_eq!(entries(&path).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(read_lines::<Value>(&path, "a value").unwrap(), Vec::<Value>::new());
        remove(&path).unwrap();
        remove_folder(&path).unwrap();
        assert!(read(dir.path()).is_err(), "a folder is no file");
    }

    #[test]
    fn a_line_cut_short_is_passed_over_and_a_wrong_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.jsonl");
        fs::write(&path, "{\"a\": 1}\n\n{\"a\": 2").unwrap();
        assert_eq!(read_lines::<Value>(&path, "a value").unwrap(), [json!({"a": 1})]);
        fs::write(&path, "{\"a\": 1}\n\nno\n").unwrap();
        let error = read_lines::<Value>(&path, "a value").unwrap_err().to_string();
        assert!(error.ends_with("x.jsonl:3: expected a value"), "{error}");
    }
}

//! Files of gold and predictions: as they lie on disk, in folders, in ZIP archives.

use anyhow::{Context as _, Result, bail};
use closeread_eval::InputFile;
use std::collections::HashSet;
use std::io::{Cursor, Read as _};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Most bytes that an archive may unpack to: a wall against archives made to fill the memory.
const MAX_UNPACKED: u64 = 256 << 20;
/// Most files in an archive.
const MAX_FILES: usize = 20_000;

/// Reads one file, under the name it was given by.
///
/// # Errors
/// If it cannot be read.
pub fn read(path: &Path) -> Result<InputFile> {
    let bytes = closeread_files::read_file(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(InputFile { name: path.display().to_string(), bytes })
}

/// The file of items that a path names: `items.jsonl` of a folder, or the file itself.
pub fn items_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("items.jsonl") } else { path.to_owned() }
}

/// Reads every file under the paths: those of a folder by their names, those of an archive in its order. Hidden files
/// are skipped, and no folder is read twice.
///
/// # Errors
/// If one cannot be read, or an archive is too large.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<InputFile>> {
    let mut files = Vec::new();
    collect(paths, &mut HashSet::new(), &mut files)?;
    Ok(files)
}

fn collect(paths: &[PathBuf], entered: &mut HashSet<PathBuf>, files: &mut Vec<InputFile>) -> Result<()> {
    for path in paths {
        if path.is_dir() {
            if !path.canonicalize().is_ok_and(|real| entered.insert(real)) {
                continue;
            }
            let entries = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
            let mut inside = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
            inside.retain(|path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')));
            inside.sort();
            collect(&inside, entered, files)?;
            continue;
        }
        let file = read(path)?;
        if file.bytes.starts_with(b"PK\x03\x04") {
            files.extend(unpack(&file).with_context(|| format!("cannot unpack {}", file.name))?);
        } else {
            files.push(file);
        }
    }
    Ok(())
}

fn unpack(archive: &InputFile) -> Result<Vec<InputFile>> {
    let mut zip = ZipArchive::new(Cursor::new(&archive.bytes))?;
    if zip.len() > MAX_FILES {
        bail!("it holds {} files: expected at most {MAX_FILES}; pass its files instead", zip.len());
    }
    let (mut files, mut left) = (Vec::new(), MAX_UNPACKED);
    for index in 0..zip.len() {
        let entry = zip.by_index(index)?;
        let name = entry.name()?.into_owned();
        // What macOS adds to every archive is no part of it; hidden files are skipped as in folders.
        let is_hidden = name.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
        if entry.is_dir() || is_hidden || name.starts_with("__MACOSX/") {
            continue;
        }
        let mut bytes = Vec::new();
        entry.take(left + 1).read_to_end(&mut bytes)?;
        left =
            left.checked_sub(bytes.len() as u64).context("it unpacks to more than 256 MiB: pass its files instead")?;
        files.push(InputFile { name: format!("{}/{name}", archive.name), bytes });
    }
    Ok(files)
}

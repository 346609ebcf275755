//! The files below the paths that the published files of a data set lie at.

use crate::input::outside;
use anyhow::{Context, Result, bail};
use closeread_files::leads_outside;
use closeread_text::composed;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Endings of files that no data set is read from: they may be large, and stay unread in folders.
#[rustfmt::skip]
const OTHER_KINDS: [&str; 35] = [
    "7z", "arrow", "avi", "bin", "bz2", "db", "exe", "flac", "gguf", "gif", "gz", "h5", "jpeg", "jpg", "mkv", "mov",
    "mp3", "mp4", "npy", "npz", "onnx", "pkl", "png", "pt", "pth", "rar", "safetensors", "sqlite", "tar", "tgz",
    "wav", "webp", "xz", "zip", "zst",
];

fn is_of_other_kind(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| OTHER_KINDS.contains(&ending.as_str()))
}

/// The files under the `--data` paths, named by their path from there, with its letters composed; links out of them are
/// followed only where that is allowed. Where two paths have files of one name, the path stands before the later ones.
pub(super) fn list(paths: &[PathBuf], allow_outside: bool) -> Result<Vec<(String, PathBuf)>> {
    let (mut files, mut names) = (Vec::new(), HashSet::new());
    for path in paths {
        let mut found = Vec::new();
        if path.is_dir() {
            walk(path, path, allow_outside, &mut HashSet::new(), &mut found)?;
        } else {
            let name = path.file_name().map_or_else(String::new, |name| composed(&name.to_string_lossy()).into_owned());
            found.push((name, path.clone()));
        }
        if found.iter().any(|(name, _)| names.contains(name)) {
            let root = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(path) };
            found.iter_mut().for_each(|(name, _)| *name = format!("{}/{name}", root.display()));
        }
        names.extend(found.iter().map(|(name, _)| name.clone()));
        files.append(&mut found);
    }
    Ok(files)
}

/// Walks a folder; `entered` keeps links from leading around in circles.
fn walk(
    root: &Path,
    folder: &Path,
    allow_outside: bool,
    entered: &mut HashSet<PathBuf>,
    files: &mut Vec<(String, PathBuf)>,
) -> Result<()> {
    if !folder.canonicalize().is_ok_and(|real| entered.insert(real)) {
        return Ok(());
    }
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read --data {}", folder.display()))?;
    let mut paths: Vec<_> = entries.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if !allow_outside && leads_outside(root, &path) {
            bail!("cannot read --data {}: {}", path.display(), outside(root));
        }
        if path.is_dir() {
            walk(root, &path, allow_outside, entered, files)?;
        } else if !is_of_other_kind(&path) {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            let name = relative.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
            files.push((composed(&name).into_owned(), path));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_name_in_two_folders_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let folders = ["one", "two"].map(|name| dir.path().join(name));
        for folder in &folders {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("a.txt"), "Ana came.").unwrap();
            std::fs::write(folder.join("texts.ZIP"), "PK").unwrap();
        }
        let names: Vec<String> = list(&folders, false).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a.txt".to_owned(), format!("{}/a.txt", folders[1].display())]);
    }
}

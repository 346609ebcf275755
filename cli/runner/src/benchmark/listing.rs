//! The files below the paths that the published files of a data set lie at.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The files under the `--data` paths, named by their path from there.
pub(super) fn list(paths: &[PathBuf]) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, path, &mut files)?;
        } else {
            let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            files.push((name, path.clone()));
        }
    }
    Ok(files)
}

pub(super) fn walk(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read --data {}", folder.display()))?;
    let mut paths: Vec<_> = entries.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if path.is_dir() {
            walk(root, &path, files)?;
        } else {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            let name = relative.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
            files.push((name, path));
        }
    }
    Ok(())
}

//! The files below the paths that the published files of a data set lie at.

use crate::input::outside;
use anyhow::{Context, Result, bail};
use closeread_files::leads_outside;
use closeread_text::composed;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The files under the `--data` paths, named by their path from there, with its letters composed; links out of them are
/// followed only where that is allowed.
pub(super) fn list(paths: &[PathBuf], allow_outside: bool) -> Result<Vec<(String, PathBuf)>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            walk(path, path, allow_outside, &mut HashSet::new(), &mut files)?;
        } else {
            let name = path.file_name().map_or_else(String::new, |name| composed(&name.to_string_lossy()).into_owned());
            files.push((name, path.clone()));
        }
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
        } else {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            let name = relative.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
            files.push((composed(&name).into_owned(), path));
        }
    }
    Ok(())
}

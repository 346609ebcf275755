//! Copies of what parts hold beside their records.

use anyhow::{Context, Result};
use closeread_files::{self as files, entries, write_atomically};
use std::path::Path;

/// Copies the files of a folder that need not exist; what is in the other one stays.
pub(super) fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for path in entries(from)? {
        let target = to.join(path.file_name().unwrap_or_default());
        if !target.exists() {
            std::fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
            let bytes = files::read_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
            write_atomically(&target, &bytes)?;
        }
    }
    Ok(())
}

/// Copies preparations. Parts that share a book have each paid for its own: the first one is read, and others stand beside it under a
/// further number, so that their calls count.
pub(super) fn copy_preparations(from: &Path, to: &Path) -> Result<()> {
    for path in entries(from)?.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "json"))
    {
        let bytes = files::read_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let key = name.split('.').next().unwrap_or_default();
        let names = std::iter::once(format!("{key}.json")).chain((2..).map(|n| format!("{key}.{n}.json")));
        for target in names.map(|name| to.join(name)) {
            match files::read(&target)? {
                Some(there) if there == bytes => break,
                Some(_) => {}
                None => {
                    std::fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
                    write_atomically(&target, &bytes)?;
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Copies the responses of trials and preparations that are not finished, so that who fills the gaps asks only what is missing.
/// Parts that share a trial or a book may have paid for each their own; a response that is in several files is one.
pub(super) fn copy_journals(from: &Path, to: &Path) -> Result<()> {
    for path in entries(from)?.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
    {
        let bytes = files::read_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let target = to.join(path.file_name().unwrap_or_default());
        let there = files::read(&target)?.unwrap_or_default();
        let mut lines: Vec<&[u8]> = whole_lines(&there).collect();
        let new: Vec<&[u8]> = whole_lines(&bytes).filter(|line| !lines.contains(line)).collect();
        if !new.is_empty() {
            lines.extend(new);
            std::fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
            let mut all = lines.join(&b'\n');
            all.push(b'\n');
            write_atomically(&target, &all)?;
        }
    }
    Ok(())
}

/// The lines, without the last one where a kill cut it short.
fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes[..files::whole(bytes)].split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

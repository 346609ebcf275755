//! What the parts of a run hold beside their records, copied into the folder that they are joined in.

use super::cut::texts_cut;
use super::{RunFolder, TEXTS, preparations};
use crate::journal;
use anyhow::{Context, Result, bail};
use closeread_files::{self as files, entries, write_atomically};
use std::path::{Path, PathBuf};

/// Refuses a part with links in what is copied of it: they may lead to anything, and nothing that a run writes is one.
pub fn refuse_links(part: &Path) -> Result<()> {
    for folder in ["", TEXTS, preparations::FOLDER, journal::FOLDER].map(|name| part.join(name)) {
        if let Some(link) = entries(&folder)?.iter().find(|path| path.is_symlink()) {
            bail!("{} is a link: put what it leads to in its place, and merge again", link.display());
        }
    }
    Ok(())
}

impl RunFolder {
    /// Copies a part's texts, preparations and responses of unfinished trials, and notes how many texts it cut.
    pub fn copy_from(&self, part: &Path) -> Result<()> {
        let both = |name: &str| (part.join(name), self.path.join(name));
        let (texts, preparations, journals) = (both(TEXTS), both(preparations::FOLDER), both(journal::FOLDER));
        self.note_cut(texts_cut(part)?)?;
        copy_files(&texts.0, &texts.1)?;
        copy_preparations(&preparations.0, &preparations.1)?;
        copy_journals(&journals.0, &journals.1)
    }
}

fn ending_in(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let mut files = entries(folder)?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    Ok(files)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    files::read_file(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Copies the files of a folder that need not exist; what is in the other one stays.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for path in entries(from)? {
        let target = to.join(path.file_name().unwrap_or_default());
        if !target.exists() {
            files::make_inside(to)?;
            write_atomically(&target, &read(&path)?)?;
        }
    }
    Ok(())
}

/// Copies preparations. Parts that share a book have each paid for its own: the first one is read, and others stand beside it under a
/// further number, so that their calls count.
fn copy_preparations(from: &Path, to: &Path) -> Result<()> {
    for path in ending_in(from, "json")? {
        let bytes = read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let key = name.split('.').next().unwrap_or_default();
        let names = std::iter::once(format!("{key}.json")).chain((2..).map(|n| format!("{key}.{n}.json")));
        for target in names.map(|name| to.join(name)) {
            match files::read(&target)? {
                Some(there) if there == bytes => break,
                Some(_) => {}
                None => {
                    files::make_inside(to)?;
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
fn copy_journals(from: &Path, to: &Path) -> Result<()> {
    for path in ending_in(from, "jsonl")? {
        let bytes = read(&path)?;
        let target = to.join(path.file_name().unwrap_or_default());
        let there = files::read(&target)?.unwrap_or_default();
        let mut lines: Vec<&[u8]> = whole_lines(&there).collect();
        let new: Vec<&[u8]> = whole_lines(&bytes).filter(|line| !lines.contains(line)).collect();
        if !new.is_empty() {
            lines.extend(new);
            files::make_inside(to)?;
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

//! The folder of a site of static pages, so that the next one knows which files it may replace.

use anyhow::{Context, Result, bail};
use closeread_files::{self as files, write_atomically};
use closeread_report::site::SiteFile;
use closeread_serve::Page;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use tracing::info;

/// The elements in a built page, and beside a site's pages, and what they score with.
const ELEMENTS: &str = "elements/closeread-site.js";
const SCORER: &str = "elements/closeread_scorer_bg.wasm";
/// File name of the folder's lock.
const LOCK: &str = ".lock";

/// A folder that holds a site of ours, or nothing yet.
#[derive(Debug)]
pub(super) struct SiteFolder {
    path: PathBuf,
    /// The file that names the files of the site.
    list: PathBuf,
    /// The files of an earlier site.
    earlier: BTreeSet<String>,
    /// Lock of the folder: until the site is written nobody else writes it.
    _lock: File,
}

impl SiteFolder {
    /// Opens the folder, once no other process writes a site into it; refuses one with something else in it. `list` is the file
    /// that names the files of a site of this kind, `option` what named the folder.
    pub(super) fn open(path: &Path, list: &str, option: &str) -> Result<Self> {
        let list = path.join(list);
        let read = |list: &Path| -> Result<BTreeSet<String>> {
            let bytes = files::read(list)?.unwrap_or_else(|| b"[]".to_vec());
            serde_json::from_slice(&bytes).with_context(|| format!("{} is no list of names", list.display()))
        };
        let lock = path.join(LOCK);
        let refused = refuse_others(path, &list, &read(&list)?, option);
        // Where there is a lock the folder is ours, and somebody may be writing just now: it is looked at again.
        if refused.is_err() && !lock.exists() {
            refused?;
        }
        std::fs::create_dir_all(path).with_context(|| format!("cannot create the folder {}", path.display()))?;
        let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&lock);
        let opened = opened.and_then(|file| file.lock().map(|()| file));
        let _lock = opened.with_context(|| format!("cannot lock {}", lock.display()))?;
        // Another process may have written more before it gave the lock up.
        let earlier = read(&list)?;
        refuse_others(path, &list, &earlier, option)?;
        files::remove_partial(path)?;
        Ok(Self { path: path.to_owned(), list, earlier, _lock })
    }

    /// Writes the site, with the elements if it has a board and the built page is there, and removes what an earlier one had
    /// beyond it. What the elements read lies there as a script, too: a page from a disk may fetch nothing.
    pub(super) fn write(self, site: &[SiteFile], has_board: bool) -> Result<()> {
        let page = match (has_board, Page::find(None)) {
            (false, _) => None,
            (true, Ok(page)) => Some(page),
            (true, Err(error)) => {
                info!("the leaderboard is a plain table, which cannot score rows again: {error:#}");
                None
            }
        };
        let mut more: Vec<(String, Vec<u8>)> = Vec::new();
        if let Some(page) = page {
            let (elements, scorer) = (page.read(ELEMENTS)?.into_owned(), page.read(SCORER)?.into_owned());
            let is_read = |file: &&SiteFile| file.path.ends_with(".json") || file.path.ends_with(".jsonl");
            let scripts = site.iter().filter(is_read).map(|file| script(&file.path, file.content.as_bytes()));
            more.extend(scripts.chain([script(SCORER, &scorer)]));
            more.extend([(ELEMENTS.to_owned(), elements), (SCORER.to_owned(), scorer)]);
        }
        let names: BTreeSet<String> =
            site.iter().map(|file| file.path.clone()).chain(more.iter().map(|(name, _)| name.clone())).collect();
        // All that may lie there after a kill is named.
        let all: BTreeSet<&String> = names.iter().chain(&self.earlier).collect();
        write_atomically(&self.list, &serde_json::to_vec(&all)?)?;
        for file in site {
            self.put(&file.path, file.content.as_bytes())?;
        }
        for (name, bytes) in &more {
            self.put(name, bytes)?;
        }
        self.earlier.difference(&names).try_for_each(|name| files::remove(&self.path.join(name)))?;
        write_atomically(&self.list, &serde_json::to_vec(&names)?)?;
        info!("{}: {} files", self.path.join("index.html").display(), site.len());
        Ok(())
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        let parent = path.parent().unwrap_or(&self.path);
        std::fs::create_dir_all(parent).with_context(|| format!("cannot create the folder {}", parent.display()))?;
        write_atomically(&path, bytes)
    }
}

/// A file as a script that hands it to the elements.
fn script(name: &str, bytes: &[u8]) -> (String, Vec<u8>) {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    (format!("{name}.js"), format!("closereadFile(\"{text}\");\n").into_bytes())
}

/// Refuses a folder with files that are no part of an earlier site.
fn refuse_others(folder: &Path, list: &Path, earlier: &BTreeSet<String>, option: &str) -> Result<()> {
    if let Some(name) = earlier.iter().find(|name| name.split('/').any(|part| part == ".." || part.is_empty())) {
        bail!(
            "{} names `{name}`, which lies outside the folder: remove the list, or name another folder",
            list.display()
        );
    }
    let mut there = Vec::new();
    for path in files::entries(folder)? {
        if path.is_dir() { there.extend(files::entries(&path)?) } else { there.push(path) }
    }
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // A kill leaves what was being written.
        let is_partial = name.starts_with('.') && name.ends_with(files::PARTIAL);
        is_partial
            || path == list
            || *path == folder.join(LOCK)
            || earlier.iter().any(|name| folder.join(name) == *path)
    };
    match there.iter().find(|path| !is_ours(path)) {
        None => Ok(()),
        Some(other) => bail!(
            "{} holds `{}`, which is no part of a site that closeread wrote: name an empty or a new folder by {option}",
            folder.display(),
            other.strip_prefix(folder).unwrap_or(other).display()
        ),
    }
}

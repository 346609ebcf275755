//! Review of a built set by several people: their files together, and the benchmark that is left.

use crate::check::{answers_of, asked_on_the_page};
use crate::dataset::copy_documents;
use anyhow::{Context, Result};
use closeread_build::{Reviewed, reviewed};
use closeread_eval::Item;
use closeread_files::{read_lines, write_lines};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folder of what was kept.
const KEPT: &str = "reviewed";

/// The items that were kept, and where they lie.
#[derive(Debug)]
pub struct Kept {
    /// Shares of the checkers.
    pub found: Reviewed,
    /// Number of items that are left.
    pub items: usize,
    /// Items that nobody checked; they are left out.
    pub unchecked: usize,
    /// A benchmark of its own.
    pub folder: PathBuf,
}

/// Reads the checkers' files and writes the items that most of them keep to a benchmark of their own.
pub fn review(out: &Path, files: &[PathBuf]) -> Result<Kept> {
    let (check, questions, _) = asked_on_the_page(out)?;
    let answers = files.iter().map(|file| answers_of(file)).collect::<Result<Vec<_>>>()?;
    let found = reviewed(&check, &questions, &answers).context("cannot use --reviewed")?;
    let mut items: Vec<Item> = read_lines(&out.join("items.jsonl"), "an item")?;
    let unchecked = items.iter().filter(|item| !found.checked.contains(&item.id)).count();
    items.retain(|item| found.kept.contains(&item.id));
    let folder = out.join(KEPT);
    let named: BTreeSet<&str> = items.iter().flat_map(|item| &item.documents).map(String::as_str).collect();
    copy_documents(out, &folder, |id| named.contains(id))?;
    write_lines(&folder.join("items.jsonl"), &items)?;
    Ok(Kept { found, items: items.len(), unchecked, folder })
}

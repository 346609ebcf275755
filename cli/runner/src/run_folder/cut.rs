//! Counts of texts that were cut for the encoder, by book.

use super::RunFolder;
use anyhow::{Context, Result};
use closeread_files::{self as files, pretty, write_atomically};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// File name of the counts.
pub(super) const CUT: &str = "cut.json";

impl RunFolder {
    /// Keeps how many texts about books the encoder had to cut, so that a resumed run still reports them. A run that lacks fewer
    /// trials cuts fewer texts: of two counts the larger one stays.
    pub(crate) fn note_cut(&self, counts: impl IntoIterator<Item = (String, usize)>) -> Result<()> {
        let mut cut = self.cut()?;
        for (book, n_cut) in counts {
            let most = cut.entry(book).or_default();
            *most = n_cut.max(*most);
        }
        if cut.is_empty() { Ok(()) } else { write_atomically(&self.path.join(CUT), &pretty(&json!(cut))) }
    }

    /// Passages and questions that were cut for the encoder, by book.
    pub fn cut(&self) -> Result<BTreeMap<String, usize>> {
        texts_cut(&self.path)
    }
}

/// Returns the passages and questions that were cut for the encoder of the run in a folder, by book.
pub(super) fn texts_cut(folder: &Path) -> Result<BTreeMap<String, usize>> {
    let path = folder.join(CUT);
    let Some(bytes) = files::read(&path)? else { return Ok(BTreeMap::new()) };
    serde_json::from_slice(&bytes)
        .with_context(|| format!("{} is damaged: remove it; only how many texts were cut is lost", path.display()))
}

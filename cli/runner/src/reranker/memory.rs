//! Scores on disk and in memory: a pair of query and passage is scored once, whichever run asks for it.

use anyhow::{Context, Result};
use closeread_text::hash::{sha256, sha256_of_parts};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use tracing::warn;

/// The remembered score of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score {
    pub(super) score: f64,
    /// Whether the passage lost its end.
    pub(super) cut: bool,
}

/// A line of a file, which holds all pairs of one query with one model.
#[derive(Serialize, Deserialize)]
struct Line {
    /// SHA-256 of the passage.
    passage: String,
    score: f64,
    cut: bool,
    /// Checksum of the other fields: a line that is damaged or cut off counts as absent.
    check: String,
}

impl Line {
    fn check(&self) -> String {
        let score = self.score.to_le_bytes();
        sha256_of_parts([self.passage.as_bytes(), &score, &[u8::from(self.cut)]])[..16].to_owned()
    }
}

/// The folder of remembered scores, or none where the system has no place for it.
#[derive(Debug)]
pub(super) struct Memory {
    folder: Option<PathBuf>,
    known: RefCell<HashMap<String, HashMap<String, Score>>>,
    warned: Cell<bool>,
}

impl Memory {
    /// Keeps scores in `scores` in the cache folder.
    pub(super) fn of_user() -> Self {
        let folder = crate::cache::cache_folder().map(|folder| folder.join("scores"));
        Self { folder, known: RefCell::default(), warned: Cell::new(false) }
    }

    /// Returns what is known of passages under the key of query and model, `None` for one of which nothing is.
    pub(super) fn get(&self, key: &str, passages: &[&str]) -> Vec<Option<Score>> {
        let mut known = self.known.borrow_mut();
        let of_query = known.entry(key.to_owned()).or_insert_with(|| self.read(key));
        passages.iter().map(|passage| of_query.get(&sha256(passage.as_bytes())).copied()).collect()
    }

    /// Keeps scores for this process and the next ones. Failing to write costs time, not results: it is said once.
    pub(super) fn put(&self, key: &str, scored: &[(&str, Score)]) {
        let mut text = Vec::new();
        {
            let mut known = self.known.borrow_mut();
            let of_query = known.entry(key.to_owned()).or_default();
            for (passage, Score { score, cut }) in scored {
                let passage = sha256(passage.as_bytes());
                of_query.insert(passage.clone(), Score { score: *score, cut: *cut });
                let mut line = Line { passage, score: *score, cut: *cut, check: String::new() };
                line.check = line.check();
                serde_json::to_writer(&mut text, &line).expect("a line has string keys only");
                text.push(b'\n');
            }
        }
        let Some(path) = self.path(key) else { return };
        if let Err(error) = append(&path, &text)
            && !self.warned.replace(true)
        {
            warn!("scores are not remembered: equal pairs are scored again, in this run and the next: {error:#}");
        }
    }

    fn read(&self, key: &str) -> HashMap<String, Score> {
        let text = self.path(key).and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let whole = lines.filter(|line| line.check == line.check());
        whole.map(|Line { passage, score, cut, .. }| (passage, Score { score, cut })).collect()
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(&key[..2]).join(format!("{key}.jsonl")))
    }
}

/// Adds whole lines in one write, behind an end of line: what a kill left unfinished before spoils no other.
fn append(path: &Path, lines: &[u8]) -> Result<()> {
    let folder = path.parent().context("a file of scores lies in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let file = OpenOptions::new().create(true).append(true).open(path);
    let write = file.and_then(|mut file| file.write_all(&[b"\n", lines].concat()));
    write.with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ab12";

    fn memory(folder: &Path) -> Memory {
        Memory { folder: Some(folder.to_owned()), known: RefCell::default(), warned: Cell::new(false) }
    }

    #[test]
    fn a_pair_is_known_to_the_next_process_and_damage_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (Score { score: -1.0 / 3.0, cut: true }, Score { score: 0.1 + 0.2, cut: false });
        memory(dir.path()).put(KEY, &[("a", a), ("b", b)]);
        assert_eq!(memory(dir.path()).get(KEY, &["b", "c", "a"]), [Some(b), None, Some(a)]);
        assert_eq!(memory(dir.path()).get("ab13", &["a"]), [None]);
        let path = memory(dir.path()).path(KEY).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            let found = memory(dir.path()).get(KEY, &["a", "b"]);
            assert!([Some(a), None].contains(&found[0]) && [Some(b), None].contains(&found[1]), "byte {at}: {found:?}");
        }
        // A line was cut off, and another process wrote on.
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        memory(dir.path()).put(KEY, &[("b", b)]);
        assert_eq!(memory(dir.path()).get(KEY, &["a", "b"]), [Some(a), Some(b)]);
    }
}

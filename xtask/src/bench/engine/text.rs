//! Books of any length for measuring: words of the sample story, drawn by chance, so that they count and compress as prose
//! does.

use crate::process::root;
use anyhow::{Context as _, Result};
use std::path::Path;

/// Makes texts from words.
pub(crate) struct Words(Vec<String>);

impl Words {
    /// The words of the sample story.
    pub(crate) fn of_sample() -> Result<Self> {
        let path = root().join("sample/the-loan-of-the-bell.txt");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self(text.split_whitespace().map(str::to_owned).collect()))
    }

    /// A text of at least `n_bytes`, one sentence of twelve words on each line; each seed gives another.
    pub(crate) fn book(&self, n_bytes: usize, seed: u64) -> String {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut draw = || {
            // Knuth's generator (MMIX); its upper bits are random enough for a text.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let mut text = String::with_capacity(n_bytes + 200);
        while text.len() < n_bytes {
            // Runs of words as they stand in the story, as prose has phrases that come back.
            for _ in 0..4 {
                let at = draw() % (self.0.len() - 3);
                for word in &self.0[at..at + 3] {
                    text.push_str(word);
                    text.push(' ');
                }
            }
            text.pop();
            text.push_str(".\n");
        }
        text
    }
}

/// Writes a file of JSON lines, and the folders above it.
pub(crate) fn write_lines(path: &Path, lines: impl Iterator<Item = serde_json::Value>) -> Result<()> {
    let folder = path.parent().context("a file lies in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

//! Which books and items make a benchmark, and how they are read.

use closeread_eval::draw::{Draw, Where};
use serde::Deserialize;
use std::path::PathBuf;

/// Which books and items, and how they are read.
#[derive(Debug, Clone, Default)]
pub struct BenchmarkOptions {
    /// `sample`, a folder, or a data set by name; none is the sample.
    pub name: Option<String>,
    /// Where the published files of a data set lie.
    pub data: Vec<PathBuf>,
    /// Encoding of text files, if it is not to be detected.
    pub encoding: Option<String>,
    /// Code of the books' language, if it is not to be detected.
    pub language: Option<String>,
    /// Whether the frames of the books are part of them.
    pub keep_frame: bool,
    /// Whether line breaks of the books are kept.
    pub keep_wraps: bool,
    /// Files that a `documents.jsonl` names may lie outside its folder.
    pub allow_outside: bool,
    /// All documents as one book.
    pub one_book: bool,
    /// How items that have options and answers are asked.
    pub task: AskedAs,
    /// Only these items, where any is named.
    pub items: Vec<String>,
    /// Only items with these labels.
    pub only: Vec<Where>,
    /// Only items with this value of a label, if any has it.
    pub only_of_paper: Option<Where>,
    /// Only a sample of them.
    pub draw: Option<Draw>,
    /// Only the first items of what is left.
    pub limit: Option<usize>,
    /// Whether there is a judge, without whom summaries cannot be scored.
    pub judged: bool,
}

/// How items are asked that can be asked both ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskedAs {
    /// As the data set has them.
    #[default]
    AsGiven,
    /// With their options.
    Choice,
    /// Without.
    Generative,
    /// Both ways: as given, and once more the other way.
    Both,
}

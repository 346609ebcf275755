//! Options of a benchmark: which books and items make it, and how they are read.

use crate::input::InputOptions;
use crate::shard::Shard;
use anyhow::{Result, bail};
use closeread_eval::draw::{Draw, Where};
use closeread_text::Language;
use serde::Deserialize;
use std::path::PathBuf;

/// The options of a benchmark: which books and items, and how they are read.
#[derive(Debug, Clone, Default)]
pub struct BenchmarkOptions {
    /// `sample`, a folder, or a data set by name; none is the sample.
    pub name: Option<String>,
    /// Paths of the published files of a data set.
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
    /// Whether all documents are read as one book.
    pub one_book: bool,
    /// Way to ask items that have options and answers.
    pub task: AskedAs,
    /// Ids of the only items to ask; empty for all.
    pub items: Vec<String>,
    /// Labels that items must have.
    pub only: Vec<Where>,
    /// Label and value that items must have, if any item has the label.
    pub only_of_paper: Option<Where>,
    /// Sample of the items, if only a sample is asked.
    pub draw: Option<Draw>,
    /// Number of first items to keep of what is left.
    pub limit: Option<usize>,
    /// The part of the run for which texts are read, if not for all.
    pub part: Option<Shard>,
    /// Whether the catalog of a folder is kept, by which parts read their own texts alone. A part keeps it where it is missing.
    pub keep_catalog: bool,
    /// Whether there is a judge, without whom summaries cannot be scored.
    pub judged: bool,
}

impl BenchmarkOptions {
    /// How the files are read.
    ///
    /// # Errors
    /// If the language is no language's code.
    pub(super) fn input(&self) -> Result<InputOptions> {
        Ok(InputOptions {
            encoding: self.encoding.clone(),
            language: self.language.as_deref().map(str::parse::<Language>).transpose()?,
            keep_frame: self.keep_frame,
            keep_wraps: self.keep_wraps,
            allow_outside: self.allow_outside,
            leave_on_disk: true,
        })
    }

    /// Refuses files of a data set where none is read: numbers on other data than those that were named would pass for theirs.
    pub(super) fn refuse_data(&self, name: &str) -> Result<()> {
        match self.data.first() {
            None => Ok(()),
            Some(data) => bail!(
                "benchmark `{name}` reads no --data, and {0} is named: expected --benchmark with the name of a data set, or \
                 with a folder of documents.jsonl and items.jsonl, such as --benchmark {0}",
                data.display()
            ),
        }
    }
}

/// The way to ask items that can be asked both ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskedAs {
    /// Items as the data set has them.
    #[default]
    AsGiven,
    /// Items with their options.
    Choice,
    /// Items without their options.
    Generative,
    /// Items both ways: as given, and once more the other way.
    Both,
}

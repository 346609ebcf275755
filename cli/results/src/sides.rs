//! Sides of a comparison, read: run folders, logs of other tools and score files.

use crate::files;
use crate::foreign::{self, ForeignRun};
use anyhow::{Context, Result, bail};
use closeread_data::jsonl;
use closeread_eval::saved::utf8;
use closeread_eval::{InputFile, Item};
use closeread_export::foreign::adopt;
use closeread_report::Run;
use closeread_report::compare::{ScoreFileItem, Source, Two};
use closeread_runner::finished;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A run folder or a score file, read.
#[derive(Debug)]
struct Opened {
    path: PathBuf,
    name: String,
    content: OpenedContent,
}

#[derive(Debug)]
enum OpenedContent {
    Run(Box<Run>),
    Foreign(Box<ForeignRun>),
    Scores(ScoreFile),
}

/// What `closeread score --json` prints, as far as a comparison reads it.
#[derive(Debug, Deserialize)]
struct ScoreFile {
    items: Vec<ScoreFileItem>,
    complete: Option<bool>,
    chinese: Option<String>,
}

/// A side as it is named.
#[derive(Debug)]
pub enum Given {
    /// A run folder, a log of another tool, or a score file.
    Path(PathBuf),
    /// Scores, as `closeread score --json` prints them.
    Scores(InputFile),
}

/// Both sides, read; without `b`, or with the same path twice, `a` is compared with itself.
#[derive(Debug)]
pub struct Sides {
    a: Opened,
    b: Option<Opened>,
    gold: Vec<Item>,
}

impl Sides {
    /// Reads both sides; `gold` is a benchmark, for score files, which may carry no labels and books.
    ///
    /// # Errors
    /// If one is nothing that can be compared.
    pub fn load(a: Given, b: Option<Given>, gold: Option<&Path>) -> Result<Self> {
        let gold = gold.map(read_gold).transpose()?.unwrap_or_default();
        let same = |b: &Given| match (&a, b) {
            (Given::Path(a), Given::Path(b)) => a.canonicalize().ok() == b.canonicalize().ok() && a.exists(),
            _ => false,
        };
        let b = b.filter(|b| !same(b));
        Ok(Self { a: Opened::given(a)?, b: b.map(Opened::given).transpose()?, gold }.adopting())
    }

    /// A run, read already, against its base.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn against(base: &Path, path: &Path, run: Run) -> Result<Self> {
        let b = if finished::is_run_folder(path) {
            Opened { path: path.to_owned(), name: run.name.clone(), content: OpenedContent::Run(Box::new(run)) }
        } else {
            Opened::read(path)?
        };
        Ok(Self { a: Opened::read(base)?, b: Some(b), gold: Vec::new() }.adopting())
    }

    /// Lets a log of another tool take over what the other side says of its items.
    fn adopting(mut self) -> Self {
        let Some(b) = &mut self.b else { return self };
        match (&mut self.a.content, &mut b.content) {
            (OpenedContent::Run(known), OpenedContent::Foreign(log)) => adopt(&mut log.run, &known.items),
            (OpenedContent::Foreign(log), OpenedContent::Run(known)) => adopt(&mut log.run, &known.items),
            (OpenedContent::Foreign(known), OpenedContent::Foreign(log)) => adopt(&mut log.run, &known.run.items),
            _ => {}
        }
        self
    }

    /// The sides, ready to be compared.
    ///
    /// # Errors
    /// If a run cannot be counted.
    pub fn two(&self) -> Result<Two> {
        let b = self.b.as_ref().map(|b| b.source(&self.gold)).transpose()?;
        Ok(Two::new(self.a.source(&self.gold)?, b))
    }
}

impl Opened {
    fn given(side: Given) -> Result<Self> {
        match side {
            Given::Path(path) => Self::read(&path),
            Given::Scores(file) => {
                let content = OpenedContent::Scores(read_scores(&file)?);
                Ok(Self { path: PathBuf::from(&file.name), name: file.name, content })
            }
        }
    }

    fn read(path: &Path) -> Result<Self> {
        let name = finished::folder_name(path);
        let content = if finished::is_run_folder(path) {
            OpenedContent::Run(Box::new(finished::load_uncounted(path, name.clone())?))
        } else if let Some(run) = if path.exists() { foreign::read(path, &name)? } else { None } {
            OpenedContent::Foreign(Box::new(run))
        } else if path.is_file() {
            OpenedContent::Scores(read_scores(&files::read(path)?)?)
        } else {
            bail!(
                "{} is neither a run folder (with manifest.json) nor a file: expected what `closeread run --out DIR` \
                 makes, the output of `closeread score --json`, or logs of inspect_ai or lm-evaluation-harness{}",
                path.display(),
                foreign::held_by(path)
            );
        };
        Ok(Self { path: path.to_owned(), name, content })
    }

    fn source(&self, gold: &[Item]) -> Result<Source> {
        let (name, path) = (self.name.clone(), self.path.display().to_string());
        match &self.content {
            OpenedContent::Run(run) => Source::of_run(name, path.clone(), run).context(path),
            OpenedContent::Foreign(log) => {
                let source = Source::of_run(name, path.clone(), &log.run).context(path)?;
                Ok(source.foreign(log.notes.clone()))
            }
            OpenedContent::Scores(ScoreFile { items, complete, chinese }) => {
                Ok(Source::of_scores(name, path, items, gold).saying(*complete != Some(false), chinese.clone()))
            }
        }
    }
}

fn read_scores(file: &InputFile) -> Result<ScoreFile> {
    let name = &file.name;
    let read: ScoreFile = serde_json::from_slice(&utf8(&file.bytes))
        .with_context(|| format!("{name}: expected the output of `closeread score --json`, with its list `items`"))?;
    let mut seen = BTreeSet::new();
    if let Some(twice) = read.items.iter().find(|item| !seen.insert(item.id.as_str())) {
        bail!("{name}: item `{}` stands there twice; expected each item once", twice.id);
    }
    let wrong = |item: &ScoreFileItem| item.out_of_range().map(|(metric, score)| (item.id.clone(), metric, score));
    if let Some((id, metric, score)) = read.items.iter().find_map(wrong) {
        bail!("{name}: the score `{metric}` of item `{id}` is {score}: expected a number from 0 to 1");
    }
    Ok(read)
}

/// The items of a benchmark folder, or of the items.jsonl in one.
fn read_gold(path: &Path) -> Result<Vec<Item>> {
    let items = files::items_file(path);
    let documents = items.with_file_name("documents.jsonl");
    let mut files = Vec::new();
    for path in [documents, items] {
        let bytes = closeread_files::read_file(&path).with_context(|| {
            format!(
                "cannot read {}: the gold is a benchmark folder with documents.jsonl and items.jsonl",
                path.display()
            )
        })?;
        files.push(InputFile { name: path.display().to_string(), bytes });
    }
    let dataset = jsonl::read(&files);
    match dataset.problems.iter().find(|problem| problem.dropped) {
        Some(problem) => bail!("{problem}"),
        None => Ok(dataset.items),
    }
}

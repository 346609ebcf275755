//! What can be compared, read: run folders and score files.

use anyhow::{Context, Result, bail};
use closeread_data::jsonl;
use closeread_eval::{InputFile, Item};
use closeread_report::Run;
use closeread_report::compare::{ScoreFileItem, Source, Two};
use closeread_runner::finished::{self, Texts};
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
    Scores(Vec<ScoreFileItem>),
}

/// Both sides, read; without `b`, or with the same path twice, `a` is compared with itself.
#[derive(Debug)]
pub(super) struct Sides {
    a: Opened,
    b: Option<Opened>,
    gold: Vec<Item>,
}

impl Sides {
    pub(super) fn load(a: &Path, b: Option<&Path>, gold: Option<&Path>) -> Result<Self> {
        let gold = gold.map(read_gold).transpose()?.unwrap_or_default();
        let same = |b: &&Path| a.canonicalize().ok() == b.canonicalize().ok() && a.exists();
        let b = b.filter(|b| !same(b));
        Ok(Self { a: Opened::read(a)?, b: b.map(Opened::read).transpose()?, gold })
    }

    pub(super) fn two(&self) -> Result<Two> {
        let b = self.b.as_ref().map(|b| b.source(&self.gold)).transpose()?;
        Ok(Two::new(self.a.source(&self.gold)?, b))
    }
}

impl Opened {
    fn read(path: &Path) -> Result<Self> {
        let name = finished::folder_name(path);
        let content = if path.is_file() {
            OpenedContent::Scores(read_scores(path)?)
        } else if finished::is_run_folder(path) {
            OpenedContent::Run(Box::new(finished::load(path, name.clone(), Texts::Skip)?))
        } else {
            bail!(
                "{} is neither a run folder (with manifest.json) nor a file: expected what `closeread run --out DIR` \
                 makes, or the output of `closeread score --json`",
                path.display()
            );
        };
        Ok(Self { path: path.to_owned(), name, content })
    }

    fn source(&self, gold: &[Item]) -> Result<Source> {
        let (name, path) = (self.name.clone(), self.path.display().to_string());
        match &self.content {
            OpenedContent::Run(run) => Source::of_run(name, path.clone(), run).context(path),
            OpenedContent::Scores(items) => Ok(Source::of_scores(name, path, items, gold)),
        }
    }
}

fn read_scores(path: &Path) -> Result<Vec<ScoreFileItem>> {
    #[derive(Deserialize)]
    struct ScoreFile {
        items: Vec<ScoreFileItem>,
    }
    let text = closeread_files::read_text_file(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file: ScoreFile = serde_json::from_str(&text).with_context(|| {
        format!("{}: expected the output of `closeread score --json`, with its list `items`", path.display())
    })?;
    let mut seen = BTreeSet::new();
    if let Some(twice) = file.items.iter().find(|item| !seen.insert(item.id.as_str())) {
        bail!("{}: item `{}` stands there twice; expected each item once", path.display(), twice.id);
    }
    Ok(file.items)
}

/// The items of a benchmark folder, or of the items.jsonl in one.
fn read_gold(path: &Path) -> Result<Vec<Item>> {
    let items = if path.is_dir() { path.join("items.jsonl") } else { path.to_owned() };
    let documents = items.with_file_name("documents.jsonl");
    let mut files = Vec::new();
    for path in [documents, items] {
        let bytes = closeread_files::read_file(&path).with_context(|| {
            format!(
                "cannot read {}: --gold takes a benchmark folder with documents.jsonl and items.jsonl",
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

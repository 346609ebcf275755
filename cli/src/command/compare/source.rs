//! What can be compared: the cells of a run folder, or the items of a score file.

use crate::finished::{self, Texts};
use anyhow::{Context, Result, bail};
use closeread_core::benchmark::{InputFile, Item, jsonl};
use closeread_core::report::compare::{Side, SideItem};
use closeread_core::report::{CellKey, Run, cells};
use closeread_core::table::number::thousands;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A run folder or a score file.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    name: String,
    content: Content,
    gold: Vec<Item>,
}

#[derive(Debug)]
enum Content {
    Run(Box<Run>),
    Scores(Vec<ScoredItem>),
}

/// An entry of `items` in what `closeread score --json` prints.
#[derive(Debug, Deserialize)]
struct ScoredItem {
    id: String,
    #[serde(default)]
    outcome: Option<String>,
    #[serde(default)]
    gold: Option<String>,
    #[serde(default)]
    documents: Vec<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    scores: Option<BTreeMap<String, f64>>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// The two sources; one run compared with itself is read once.
#[derive(Debug)]
pub(super) struct Two {
    a: Source,
    b: Option<Source>,
}

/// A cell of a run, or a whole score file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    source: &'a Source,
    key: Option<&'a CellKey>,
}

impl Source {
    /// Reads both sources; without `b`, or with the same path twice, `a` is compared with itself.
    pub(super) fn load(a: &Path, b: Option<&Path>, gold: Option<&Path>) -> Result<Two> {
        let gold = gold.map(read_gold).transpose()?.unwrap_or_default();
        let same = |b: &&Path| a.canonicalize().ok() == b.canonicalize().ok() && a.exists();
        let b = b.filter(|b| !same(b));
        let mut two = Two { a: Self::read(a, gold.clone())?, b: b.map(|b| Self::read(b, gold)).transpose()? };
        if let Some(b) = two.b.as_mut().filter(|b| b.name == two.a.name) {
            two.a.name = two.a.path.display().to_string();
            b.name = b.path.display().to_string();
        }
        Ok(two)
    }

    fn read(path: &Path, gold: Vec<Item>) -> Result<Self> {
        let name = finished::folder_name(path);
        let content = if path.is_file() {
            Content::Scores(read_scores(path)?)
        } else if finished::is_run_folder(path) {
            Content::Run(Box::new(finished::load(path, name.clone(), Texts::Skip)?))
        } else {
            bail!(
                "{} is neither a run folder (with manifest.json) nor a file: expected what `closeread run --out DIR` \
                 makes, or the output of `closeread score --json`",
                path.display()
            );
        };
        Ok(Self { path: path.to_owned(), name, content, gold })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn entries(&self) -> Vec<Entry<'_>> {
        match &self.content {
            Content::Run(run) => run.plan.iter().map(|key| Entry { source: self, key: Some(key) }).collect(),
            Content::Scores(_) => vec![Entry { source: self, key: None }],
        }
    }
}

impl Two {
    pub(super) fn a(&self) -> &Source {
        &self.a
    }

    pub(super) fn b(&self) -> &Source {
        self.b.as_ref().unwrap_or(&self.a)
    }

    /// True if one source is compared with itself.
    pub(super) fn same(&self) -> bool {
        self.b.is_none()
    }
}

impl<'a> Entry<'a> {
    pub(super) fn key(&self) -> Option<&'a CellKey> {
        self.key
    }

    /// `dos-rag at 1,500 (openai/gpt-4o)`; a score file has its own name.
    pub(super) fn name(&self) -> String {
        let Some(key) = self.key else { return self.source.name.clone() };
        let budget = key.budget.map_or(String::new(), |budget| format!(" at {}", thousands(budget as u64)));
        let several = self.source.entries().iter().any(|other| other.key.is_some_and(|k| k.model != key.model));
        let model = if several { format!(" ({})", key.model) } else { String::new() };
        format!("{}{budget}{model}", key.method)
    }

    pub(super) fn metrics(&self) -> BTreeSet<String> {
        match (&self.source.content, self.key) {
            (Content::Run(run), Some(key)) => {
                let cells = cells(std::slice::from_ref(key), &run.items, &run.records);
                cells.into_iter().flat_map(|cell| cell.metrics.into_keys()).collect()
            }
            (Content::Scores(items), _) => items.iter().flat_map(|item| item.scores().into_keys()).collect(),
            (Content::Run(_), None) => BTreeSet::new(),
        }
    }

    pub(super) fn side(&self, name: &str, metric: &str) -> Side {
        let side = match (&self.source.content, self.key) {
            (Content::Run(run), Some(key)) => Side::of_cell(name, &run.view(), key, metric),
            (Content::Scores(items), _) => {
                Side { name: name.to_owned(), items: items.iter().map(|item| item.side_item(metric)).collect() }
            }
            (Content::Run(_), None) => Side { name: name.to_owned(), items: Vec::new() },
        };
        side.with_gold(&self.source.gold)
    }
}

impl ScoredItem {
    /// Scores by metric: those of `scores`, or the numbers that stand beside the id.
    fn scores(&self) -> BTreeMap<String, f64> {
        if let Some(scores) = &self.scores {
            return scores.clone();
        }
        let number = |(name, value): (&String, &Value)| Some((name.clone(), value.as_f64()?));
        self.other.iter().filter_map(number).filter(|(_, score)| (0.0..=1.0).contains(score)).collect()
    }

    fn side_item(&self, metric: &str) -> SideItem {
        SideItem {
            id: self.id.clone(),
            gold: self.gold.clone(),
            evidence: None,
            cluster: self.documents.join("\n"),
            labels: self.labels.clone(),
            // A missing prediction scores 0 in its file; here it is not there to be compared.
            score: self.scores().get(metric).copied().filter(|_| self.outcome.as_deref() != Some("missing")),
            failed: matches!(self.outcome.as_deref(), Some("overflow" | "blocked" | "failed")),
        }
    }
}

fn read_scores(path: &Path) -> Result<Vec<ScoredItem>> {
    #[derive(Deserialize)]
    struct ScoreFile {
        items: Vec<ScoredItem>,
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
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
        let bytes = std::fs::read(&path).with_context(|| {
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

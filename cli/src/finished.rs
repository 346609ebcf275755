//! Reading what a run left behind, without touching it.

use crate::judging;
use crate::run_folder::{StoredTexts, TEXTS, preparation_calls, prices};
use crate::tokenizer;
use anyhow::{Context, Result, bail};
use closeread_core::benchmark::Item;
use closeread_core::judge;
use closeread_core::record::{FORMAT, Record};
use closeread_core::report::{CellKey, Run, TokenPlaces, judged_by};
use closeread_core::text::tokens::Tokenizer;
use closeread_core::text::{Book, Language, ReadOptions, TextStore};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a manifest says that reports use.
#[derive(Debug, Deserialize)]
struct Manifest {
    format: u32,
    #[serde(default)]
    closeread: String,
    configuration: Configuration,
}

#[derive(Debug, Deserialize)]
struct Configuration {
    benchmark: String,
    cells: Vec<CellKey>,
    #[serde(default)]
    documents: Vec<DocumentEntry>,
    #[serde(default)]
    keep_frame: bool,
    #[serde(default)]
    keep_wraps: bool,
    #[serde(default)]
    tokenizer: String,
    #[serde(default)]
    window: Option<usize>,
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize)]
struct DocumentEntry {
    id: String,
    #[serde(default)]
    title: String,
    language: Option<String>,
    sha256: String,
}

/// Whether the books are read and counted, which takes a second a million words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texts {
    Count,
    Skip,
}

/// The runs in these folders, each under a name of its own; remarks go to standard error.
pub(crate) fn load_all(paths: &[PathBuf], texts: Texts) -> Result<Vec<Run>> {
    let names: Vec<String> = paths.iter().map(|path| folder_name(path)).collect();
    let mut runs = Vec::new();
    for (path, name) in paths.iter().zip(&names) {
        let unique = names.iter().filter(|other| *other == name).count() == 1;
        runs.push(load(path, if unique { name.clone() } else { path.display().to_string() }, texts)?);
    }
    Ok(runs)
}

/// The run in a folder.
///
/// # Errors
/// If manifest, items or records are not there or cannot be read; file and line are named. A last line of the records
/// that a kill cut short is passed over, as a resumed run does.
pub(crate) fn load(path: &Path, name: String, texts: Texts) -> Result<Run> {
    let manifest = manifest(path)?;
    let configuration = &manifest.configuration;
    let mut items: Vec<Item> = lines(&path.join("items.jsonl"), "an item as `closeread run` stores it")?;
    let mut records: Vec<Record> = lines(&path.join("records.jsonl"), "a record of a trial")?;
    let known: BTreeSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
    let n_records = records.len();
    records.retain(|record| known.contains(record.key.item.as_str()));
    if records.len() < n_records {
        eprintln!(
            "{}: {} records are of items that items.jsonl does not have; they are left out",
            path.join("records.jsonl").display(),
            n_records - records.len()
        );
    }
    let judging = judging::read(path)?;
    judge::label_questions(&judging, &mut items);
    judge::score(&judging, &items, &mut records);
    let books = match texts {
        Texts::Count => books(path, configuration),
        Texts::Skip => BTreeMap::new(),
    };
    Ok(Run {
        name,
        benchmark: configuration.benchmark.clone(),
        plan: configuration.cells.clone(),
        items,
        records,
        books,
        window: configuration.window,
        facts: facts(&manifest)
            .into_iter()
            .chain(judged_by(&judging).map(|who| ("judged by".to_owned(), who)))
            .collect(),
        judging,
        preparations: preparation_calls(path)?,
        prices: prices(path)?,
    })
}

/// The records of a run as they were written, without what judges said of them afterwards.
pub(crate) fn records(path: &Path) -> Result<Vec<Record>> {
    lines(&path.join("records.jsonl"), "a record of a trial")
}

/// The books of a run by id, read from its folder; those that cannot be read are said and left out.
pub(crate) fn books_of(folder: &Path) -> Result<BTreeMap<String, Arc<Book>>> {
    let manifest = manifest(folder)?;
    let mut books = BTreeMap::new();
    for document in &manifest.configuration.documents {
        match book(folder, &manifest.configuration, document) {
            Ok(book) => {
                books.insert(document.id.clone(), Arc::new(book));
            }
            Err(error) => eprintln!("document `{}` cannot be read: {error:#}", document.id),
        }
    }
    Ok(books)
}

/// True for a folder that a run was made in.
pub(crate) fn is_run_folder(path: &Path) -> bool {
    path.join("manifest.json").is_file()
}

/// The last part of a path, also of `.` and `..`.
pub(crate) fn folder_name(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Books of a run by their ids, as the run read them.
///
/// # Errors
/// If the run has no such document, or its text is not there.
pub(crate) fn documents(path: &Path, ids: &[String]) -> Result<Vec<Arc<Book>>> {
    let configuration = manifest(path)?.configuration;
    let of = |id: &String| {
        let entry = configuration.documents.iter().find(|document| document.id == *id);
        let entry = entry.with_context(|| format!("{} has no document `{id}`", path.display()))?;
        book(path, &configuration, entry).map(Arc::new)
    };
    ids.iter().map(of).collect()
}

fn manifest(path: &Path) -> Result<Manifest> {
    let file = path.join("manifest.json");
    let text = std::fs::read_to_string(&file).with_context(|| {
        format!("cannot read {}: expected a run folder, which `closeread run --out DIR` makes", file.display())
    })?;
    let manifest: Manifest = serde_json::from_str(&text)
        .with_context(|| format!("{} is no manifest of a run: expected what `closeread run` writes", file.display()))?;
    if manifest.format != FORMAT {
        bail!(
            "{} has format {}, and this closeread reads format {FORMAT}: use the closeread that made the run ({})",
            file.display(),
            manifest.format,
            manifest.closeread
        );
    }
    Ok(manifest)
}

/// One value a line; a last line without its end is one that was being written when the run was killed.
fn lines<T: serde::de::DeserializeOwned>(path: &Path, what: &str) -> Result<Vec<T>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let mut values = Vec::new();
    for (idx, line) in bytes[..whole].split(|&b| b == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let value =
            serde_json::from_slice(line).with_context(|| format!("{}:{}: expected {what}", path.display(), idx + 1))?;
        values.push(value);
    }
    Ok(values)
}

/// The books' tokens by document. A text that is not there or cannot be read leaves its tables empty, which is said.
fn books(folder: &Path, configuration: &Configuration) -> BTreeMap<String, TokenPlaces> {
    let tokenizer = match tokenizer::load(Some(&configuration.tokenizer), None) {
        Ok(tokenizer) => tokenizer,
        Err(_) => {
            eprintln!(
                "lengths and positions are counted with cl100k: the run's tokenizer `{}` is not at hand",
                configuration.tokenizer
            );
            Tokenizer::cl100k()
        }
    };
    let mut books = BTreeMap::new();
    for document in &configuration.documents {
        match book(folder, configuration, document) {
            Ok(book) => {
                books.insert(document.id.clone(), TokenPlaces::of(&book, &tokenizer));
            }
            Err(error) => eprintln!("no lengths and positions for document `{}`: {error:#}", document.id),
        }
    }
    books
}

fn book(folder: &Path, configuration: &Configuration, document: &DocumentEntry) -> Result<Book> {
    if !document.sha256.bytes().all(|b| b.is_ascii_hexdigit()) {
        bail!("its sha256 in manifest.json is none");
    }
    let texts = StoredTexts { folder: folder.join(TEXTS) };
    let text = texts.text(&document.sha256).map_err(anyhow::Error::msg)?;
    let options = ReadOptions {
        language: document.language.as_deref().and_then(|code| code.parse::<Language>().ok()),
        keep_frame: configuration.keep_frame,
        keep_wraps: configuration.keep_wraps,
    };
    Ok(Book::new(document.id.clone(), document.title.clone(), text, &options)?)
}

/// What a reader of the report must know of how the run was made.
fn facts(manifest: &Manifest) -> Vec<(String, String)> {
    let configuration = &manifest.configuration;
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let of = |name: &str| configuration.other.get(name).and_then(text);
    let embedder = configuration.other.get("embedder").and_then(|e| e.get("name")).and_then(text);
    let own = configuration.other.get("embedders").and_then(Value::as_object).into_iter().flatten();
    let own: Vec<String> =
        own.filter_map(|(method, e)| Some(format!("{method}: {}", e.get("name").and_then(text)?))).collect();
    let own = (!own.is_empty()).then(|| own.join(", "));
    let protocol = configuration.other.get("protocol").and_then(|p| p.get("source")).and_then(text);
    let facts = [
        ("run as in", protocol),
        ("retriever", of("retriever").or_else(|| embedder.as_ref().or(own.as_ref()).map(|_| "by language".to_owned()))),
        ("embedder", embedder),
        ("embedder of a method", own),
        ("tokenizer", Some(configuration.tokenizer.clone())),
        ("passages of at most", of("max_tokens").map(|n| format!("{n} tokens"))),
        ("window", configuration.window.map(|n| format!("{n} tokens"))),
        ("samples", of("samples").filter(|n| n != "1")),
        ("closeread", Some(manifest.closeread.clone())),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

//! A run folder as the bytes of its files: what a command line reads from a disk and a page from a drop is the same run.

use super::gaps::gaps;
use super::{Arm, HowAsked, PreparationCalls, Run, TokenPlaces, judged_by};
use closeread_eval::Item;
use closeread_eval::rows::{MAX_ROW_BYTES, too_long};
use closeread_judges::{Judgement, Judging, Panel};
use closeread_llm::price::PriceList;
use closeread_llm::reasoning::Reasoning;
use closeread_methods::record::{FORMAT, Record};
use closeread_methods::{OnTruncation, as_overflows, cuts};
use closeread_text::Language;
use closeread_text::hash::sha256;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Version of the layout of `judging.json` and `judgements.jsonl`.
pub const JUDGING_FORMAT: u32 = 2;

/// The files of a run folder by name; those that need not be there are optional.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunFiles<'a> {
    /// `manifest.json`: what was run.
    pub manifest: &'a [u8],
    /// `items.jsonl`: the items as they were scored.
    pub items: &'a [u8],
    /// `records.jsonl`: a line a finished trial.
    pub records: &'a [u8],
    /// `judging.json`: who judged.
    pub judging: Option<&'a [u8]>,
    /// `judgements.jsonl`: what judges said.
    pub judgements: Option<&'a [u8]>,
    /// `prices.json`: what tokens cost.
    pub prices: Option<&'a [u8]>,
    /// `preparations/`: names and contents, in the order of the names.
    pub preparations: &'a [(String, Vec<u8>)],
}

/// Why files are no run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    /// Not what the run's own commands write.
    #[error("{file}: expected {expected}; {why}")]
    File {
        /// The file's name.
        file: String,
        /// What it holds in a run folder.
        expected: &'static str,
        /// What the parser says.
        why: String,
    },
    /// A line of a file of JSON lines.
    #[error("{file}:{line}: expected {expected}; {why}")]
    Line {
        /// The file's name.
        file: &'static str,
        /// The line, from 1.
        line: usize,
        /// What a line holds in a run folder.
        expected: &'static str,
        /// What the parser says.
        why: String,
    },
    /// Of another version of closeread.
    #[error(
        "{file} has format {there}, and this closeread reads format {here}: use the closeread that made the run{by}"
    )]
    Format {
        /// The file's name.
        file: &'static str,
        /// Its version.
        there: u32,
        /// The version that is read here.
        here: u32,
        /// The closeread that made it, in brackets; empty where that is not known.
        by: String,
    },
}

/// What a manifest says that reports use.
#[derive(Debug, Clone, Deserialize)]
pub struct RunManifest {
    #[serde(default)]
    closeread: String,
    /// The name by which its configuration is told from others in one table, where it was given one.
    #[serde(default)]
    pub configuration_name: Option<String>,
    /// What was run.
    pub configuration: RunConfiguration,
    /// Absent in folders of a closeread that did not note it.
    #[serde(default)]
    stored_items: Option<StoredItems>,
    #[serde(default)]
    shard: Option<IgnoredAny>,
}

/// What a manifest says of `items.jsonl`, by which damage is seen: its field `stored_items`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredItems {
    /// Items in it.
    pub n: usize,
    /// Hash of the file, in hex.
    pub sha256: String,
}

impl StoredItems {
    /// Of a file with `n` items.
    pub fn of(n: usize, file: &[u8]) -> Self {
        Self { n, sha256: sha256(file) }
    }
}

/// The part of a manifest that says what was run.
#[derive(Debug, Clone, Deserialize)]
pub struct RunConfiguration {
    /// Name of the benchmark.
    pub benchmark: String,
    /// The cells, finished or not.
    pub cells: Vec<Arm>,
    /// The books.
    #[serde(default)]
    pub documents: Vec<DocumentEntry>,
    /// Project Gutenberg's frame was part of the books.
    #[serde(default)]
    pub keep_frame: bool,
    /// Every line break of a hard-wrapped book was kept.
    #[serde(default)]
    pub keep_wraps: bool,
    /// What tokens were counted by.
    #[serde(default)]
    pub tokenizer: String,
    /// How often each item was asked.
    #[serde(default = "once")]
    pub repeats: u32,
    /// Tokens that the models can take, where the run was given a limit for all.
    #[serde(default)]
    pub context_window: Option<usize>,
    /// The same by model, for those with a window of their own.
    #[serde(default)]
    pub context_windows: BTreeMap<String, usize>,
    /// Most tokens of a response; `None` leaves it to the provider.
    #[serde(default)]
    pub max_output_tokens: Option<u32>,
    /// How much models were asked to reason; `None` leaves it to the provider.
    #[serde(default)]
    pub reasoning: Option<Reasoning>,
    /// What becomes of trials whose prompt the server seems to have cut.
    #[serde(default)]
    pub on_truncation: OnTruncation,
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
}

impl RunConfiguration {
    /// Language of the first document of each item, by the item's id.
    pub fn languages(&self, items: &[Item]) -> HashMap<String, Language> {
        let of = |item: &Item| {
            let document = self.documents.iter().find(|document| Some(&document.id) == item.documents.first())?;
            Some((item.id.clone(), document.language.as_ref()?.parse().ok()?))
        };
        items.iter().filter_map(of).collect()
    }

    /// How its models were asked.
    pub fn asked(&self) -> HowAsked {
        HowAsked {
            window: self.context_window,
            windows: self.context_windows.clone(),
            max_output_tokens: self.max_output_tokens,
            reasoning: self.reasoning,
        }
    }

    /// What else a manifest says of the run, as whoever needs it reads it.
    ///
    /// # Errors
    /// If it does not say that.
    pub fn other<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_value(Value::Object(self.other.clone().into_iter().collect()))
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.other.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
    }
}

fn once() -> u32 {
    1
}

/// A book of a run, whose text lies in `texts/`.
#[derive(Debug, Clone, Deserialize)]
pub struct DocumentEntry {
    /// Its id in the benchmark.
    pub id: String,
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// ISO 639-1 code.
    pub language: Option<String>,
    /// Hash of its text as decoded to UTF-8, in hex: the file is `texts/HASH.txt.zst`.
    pub sha256: String,
}

impl RunManifest {
    /// Reads a `manifest.json`.
    ///
    /// # Errors
    /// [`FolderError::File`] if it is none, [`FolderError::Format`] if it is of another version.
    pub fn read(bytes: &[u8]) -> Result<Self, FolderError> {
        #[derive(Deserialize)]
        struct Made {
            format: u32,
            #[serde(default)]
            closeread: String,
        }
        let expected = "the manifest that `closeread run` writes";
        let Made { format, closeread } = whole("manifest.json", expected, bytes)?;
        if format != FORMAT {
            let by = format!(" ({closeread})");
            return Err(FolderError::Format { file: "manifest.json", there: format, here: FORMAT, by });
        }
        whole("manifest.json", expected, bytes)
    }

    /// How many items the folder is to hold, where that is known: of a part of a run it is what was stored.
    pub fn n_items(&self) -> Option<usize> {
        match (&self.shard, &self.stored_items) {
            (Some(_), stored) => stored.as_ref().map(|stored| stored.n),
            (None, _) => self.configuration.number("items"),
        }
    }

    /// Whether these are the bytes of `items.jsonl` that the run wrote, as far as the manifest tells.
    pub fn wrote_items(&self, file: &[u8]) -> bool {
        self.stored_items.as_ref().is_none_or(|stored| stored.sha256 == sha256(file))
    }

    /// What a reader of a report must know of how the run was made, name and value.
    pub fn facts(&self) -> Vec<(String, String)> {
        let configuration = &self.configuration;
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
        let by_language = || embedder.as_ref().or(own.as_ref()).map(|_| "by language".to_owned());
        let facts = [
            ("run as in", protocol),
            ("retriever", of("retriever").or_else(by_language)),
            ("embedder", embedder.clone()),
            ("embedder of a method", own.clone()),
            ("tokenizer", Some(configuration.tokenizer.clone())),
            ("passages of at most", of("max_tokens").map(|n| format!("{n} tokens"))),
            ("context window", windows(configuration)),
            ("reasoning", configuration.reasoning.map(|reasoning| reasoning.to_string())),
            ("responses of at most", configuration.max_output_tokens.map(|n| format!("{n} tokens"))),
            ("items with", configuration.other::<Selected>().ok().and_then(|selected| selected.labels())),
            ("items drawn", configuration.other::<Selected>().ok().and_then(|selected| selected.drawn())),
            ("repeats", Some(configuration.repeats).filter(|n| *n != 1).map(|n| n.to_string())),
            ("closeread", Some(self.closeread.clone())),
        ];
        facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// Which items of the benchmark were asked.
#[derive(Deserialize)]
struct Selected {
    #[serde(default, rename = "where")]
    only: Vec<String>,
    draw: Option<Drawn>,
}

#[derive(Deserialize)]
struct Drawn {
    n: usize,
    by: Option<String>,
    seed: u64,
}

impl Selected {
    fn labels(&self) -> Option<String> {
        (!self.only.is_empty()).then(|| self.only.join(", "))
    }

    fn drawn(self) -> Option<String> {
        let Drawn { n, by, seed } = self.draw?;
        let by = by.map_or_else(String::new, |by| format!(" by {by}"));
        Some(format!("{n}{by}, seed {seed}"))
    }
}

/// The window for all models, and those of single ones.
fn windows(configuration: &RunConfiguration) -> Option<String> {
    let all = configuration.context_window.map(|n| format!("{n} tokens"));
    let of = configuration.context_windows.iter().map(|(model, n)| format!("{model}: {n} tokens"));
    let said: Vec<String> = all.into_iter().chain(of).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// What judges said of a run; nothing where none was asked.
///
/// # Errors
/// [`FolderError`] names file and line. A last line that a kill cut short is passed over.
pub fn read_judging(judging: Option<&[u8]>, judgements: Option<&[u8]>) -> Result<Judging, FolderError> {
    let judgements: Vec<Judgement> = lines("judgements.jsonl", "a judgement", judgements.unwrap_or_default())?;
    Ok(Judging { panels: read_panels(judging)?, judgements })
}

/// The panels of a `judging.json`, the one that speaks now last.
///
/// # Errors
/// [`FolderError`] if it is none, or of another version.
pub fn read_panels(judging: Option<&[u8]>) -> Result<Vec<Panel>, FolderError> {
    #[derive(Deserialize)]
    struct Panels {
        format: u32,
        panels: Vec<Panel>,
    }
    let Some(bytes) = judging else { return Ok(Vec::new()) };
    let Panels { format, panels } = whole("judging.json", "what `closeread judge` writes of who judged", bytes)?;
    if format != JUDGING_FORMAT {
        let by = String::new();
        return Err(FolderError::Format { file: "judging.json", there: format, here: JUDGING_FORMAT, by });
    }
    Ok(panels)
}

/// The records of a `records.jsonl` as they were written, without what judges said of them afterwards.
///
/// # Errors
/// [`FolderError::Line`] names the line. A last line that a kill cut short is passed over.
pub fn read_records(bytes: &[u8]) -> Result<Vec<Record>, FolderError> {
    lines("records.jsonl", "a record of a trial; remove the line, and the run's command asks again", bytes)
}

/// The run that the files hold, under a name; `books` are its tokens where the texts are at hand. Beside it, how many
/// records were left out because they are of items that `items.jsonl` does not have.
///
/// # Errors
/// [`FolderError`] names file and line. A last line that a kill cut short is passed over, as a resumed run does.
pub fn read_run(
    name: String,
    files: &RunFiles<'_>,
    books: BTreeMap<String, TokenPlaces>,
) -> Result<(Run, usize), FolderError> {
    let manifest = RunManifest::read(files.manifest)?;
    let mut items: Vec<Item> = lines("items.jsonl", "an item as `closeread run` stores it", files.items)?;
    let mut records = read_records(files.records)?;
    let n_records = records.len();
    let known: BTreeSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
    records.retain(|record| known.contains(record.key.item.as_str()));
    let left_out = n_records - records.len();
    if manifest.configuration.on_truncation == OnTruncation::Fail {
        let languages = manifest.configuration.languages(&items);
        let language = |item: &str| languages.get(item).copied().unwrap_or(Language::ENGLISH);
        let cuts = cuts(&records, language);
        as_overflows(&mut records, &cuts, &items, language);
    }
    let gaps = gaps(manifest.n_items(), manifest.wrote_items(files.items), &items, left_out);
    let judging = read_judging(files.judging, files.judgements)?;
    closeread_judges::label_questions(&judging, &mut items);
    closeread_judges::score(&judging, &items, &mut records);
    let kept = "the prices that `closeread run` keeps; the run's command makes the file anew";
    let prices = files.prices.map(|bytes| whole("prices.json", kept, bytes));
    let preparation = |(name, bytes): &(String, Vec<u8>)| -> Result<PreparationCalls, FolderError> {
        whole(&format!("preparations/{name}"), "what a method made of books; removed, the run makes it again", bytes)
    };
    let asked = manifest.configuration.asked();
    let RunConfiguration { benchmark, cells, repeats, .. } = manifest.configuration.clone();
    let run = Run {
        name,
        benchmark,
        plan: cells,
        items,
        records,
        repeats,
        books,
        asked,
        facts: manifest
            .facts()
            .into_iter()
            .chain(judged_by(&judging).map(|who| ("judged by".to_owned(), who)))
            .collect(),
        judging,
        preparations: files.preparations.iter().map(preparation).collect::<Result<_, _>>()?,
        prices: prices.transpose()?.unwrap_or_else(PriceList::default),
        gaps,
    };
    Ok((run, left_out))
}

fn whole<T: DeserializeOwned>(file: &str, expected: &'static str, bytes: &[u8]) -> Result<T, FolderError> {
    serde_json::from_slice(bytes).map_err(|error| FolderError::File {
        file: file.to_owned(),
        expected,
        why: error.to_string(),
    })
}

/// One value a line; a last line without its end is one that was being written when the run was killed.
fn lines<T: DeserializeOwned>(file: &'static str, expected: &'static str, bytes: &[u8]) -> Result<Vec<T>, FolderError> {
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let mut values = Vec::new();
    for (idx, line) in bytes[..end].split(|&byte| byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let wrong = |why: String| FolderError::Line { file, line: idx + 1, expected, why };
        if line.len() > MAX_ROW_BYTES {
            return Err(wrong(too_long(line.len())));
        }
        values.push(serde_json::from_slice(line).map_err(|error| wrong(error.to_string()))?);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &[u8] =
        br#"{"format": 2, "closeread": "0.1.0", "configuration": {"benchmark": "b", "tokenizer": "cl100k",
        "cells": [{"method": "m", "model": "p/x", "budget": null}], "retriever": "bm25", "repeats": 1}}"#;

    fn files<'a>(items: &'a str, records: &'a str) -> RunFiles<'a> {
        RunFiles { manifest: MANIFEST, items: items.as_bytes(), records: records.as_bytes(), ..RunFiles::default() }
    }

    #[test]
    fn files_that_are_no_run_are_named_with_their_line() {
        let none = RunFiles { manifest: b"[]", ..RunFiles::default() };
        let error = read_run("r".to_owned(), &none, BTreeMap::new()).unwrap_err().to_string();
        assert!(error.starts_with("manifest.json: expected the manifest that `closeread run` writes"), "{error}");
        let error = read_run("r".to_owned(), &files("\n{}\n", ""), BTreeMap::new()).unwrap_err().to_string();
        assert!(error.starts_with("items.jsonl:2: expected an item as `closeread run` stores it"), "{error}");
        let later = String::from_utf8_lossy(MANIFEST).replace("\"format\": 2", "\"format\": 9");
        let later = RunFiles { manifest: later.as_bytes(), ..RunFiles::default() };
        let error = read_run("r".to_owned(), &later, BTreeMap::new()).unwrap_err().to_string();
        assert!(error.contains("has format 9") && error.contains("(0.1.0)"), "{error}");
    }

    #[test]
    fn a_line_that_a_kill_cut_short_is_no_error() {
        let (run, left_out) = read_run("r".to_owned(), &files("", "{\"item\": \"a\""), BTreeMap::new()).unwrap();
        assert_eq!((run.items.len(), run.records.len(), left_out), (0, 0, 0));
        assert!(run.facts.contains(&("retriever".to_owned(), "bm25".to_owned())), "{:?}", run.facts);
    }
}

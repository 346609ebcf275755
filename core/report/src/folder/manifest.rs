//! The part of `manifest.json` that reports use.

use super::parsed::{FolderError, whole};
use crate::{Arm, HowAsked};
use closeread_eval::Item;
use closeread_llm::reasoning::Reasoning;
use closeread_methods::OnTruncation;
use closeread_methods::record::FORMAT;
use closeread_text::Language;
use closeread_text::hash::sha256;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most repeats and parts that a run can have. A folder may be another's, and commands count up to these numbers.
const MAX_REPEATS: u32 = 10_000;
const MAX_PARTS: usize = 1_000_000;

/// The fields of a manifest that reports use.
#[derive(Debug, Clone, Deserialize)]
pub struct RunManifest {
    #[serde(default)]
    closeread: String,
    /// The name by which its configuration is told from others in one table, where it was given one.
    #[serde(default)]
    pub configuration_name: Option<String>,
    /// The configuration that was run.
    pub configuration: RunConfiguration,
    /// Facts of `items.jsonl`; absent in folders of a closeread that did not note them.
    #[serde(default)]
    stored_items: Option<StoredItems>,
    #[serde(default)]
    shard: Option<Part>,
}

/// The part of a run that the folder holds.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Part {
    index: usize,
    of: usize,
}

/// The manifest's field `stored_items`: facts of `items.jsonl`, by which damage is seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredItems {
    /// Number of items in the file.
    pub n: usize,
    /// Hash of the file, in hex.
    pub sha256: String,
}

impl StoredItems {
    /// Describes a file with `n` items.
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
    /// The books of the benchmark.
    #[serde(default)]
    pub documents: Vec<DocumentEntry>,
    /// Whether Project Gutenberg's frame was part of the books.
    #[serde(default)]
    pub keep_frame: bool,
    /// Whether every line break of a hard-wrapped book was kept.
    #[serde(default)]
    pub keep_wraps: bool,
    /// Name of the tokenizer that counted.
    #[serde(default)]
    pub tokenizer: String,
    /// Number of times that each item was asked.
    #[serde(default = "once")]
    pub repeats: u32,
    /// Tokens that the models can take, where the run was given a limit for all.
    #[serde(default)]
    pub context_window: Option<usize>,
    /// Context windows by model, for models with a window of their own.
    #[serde(default)]
    pub context_windows: BTreeMap<String, usize>,
    /// Most tokens that a response may have; `None` leaves it to the provider.
    #[serde(default)]
    pub max_output_tokens: Option<u32>,
    /// Reasoning effort that the models were asked for; `None` leaves it to the provider.
    #[serde(default)]
    pub reasoning: Option<Reasoning>,
    /// What is done with trials whose prompt the server seems to have cut.
    #[serde(default)]
    pub on_truncation: OnTruncation,
    #[serde(flatten)]
    other: BTreeMap<String, Value>,
}

impl RunConfiguration {
    /// Language of the first document of each item, by the item's id.
    pub fn languages(&self, items: &[Item]) -> HashMap<String, Language> {
        // Of several documents of one id the first counts.
        let documents: HashMap<&str, &DocumentEntry> =
            self.documents.iter().rev().map(|document| (document.id.as_str(), document)).collect();
        let of = |item: &Item| {
            let document = documents.get(item.documents.first()?.as_str())?;
            Some((item.id.clone(), Language::stored(document.language.as_ref()?)?))
        };
        items.iter().filter_map(of).collect()
    }

    /// Returns the settings with which the models of the run were asked.
    pub fn asked(&self) -> HowAsked {
        HowAsked {
            window: self.context_window,
            windows: self.context_windows.clone(),
            max_output_tokens: self.max_output_tokens,
            reasoning: self.reasoning,
            temperatures: self.temperatures(),
        }
    }

    fn temperatures(&self) -> BTreeMap<String, f64> {
        let methods = self.other.get("methods").and_then(Value::as_object).into_iter().flatten();
        methods.filter_map(|(method, set)| Some((method.clone(), set.get("temperature")?.as_f64()?))).collect()
    }

    /// Reads further fields of the manifest, as the type that needs them.
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

pub(super) fn once() -> u32 {
    1
}

/// A book of a run, whose text lies in `texts/`.
#[derive(Debug, Clone, Deserialize)]
pub struct DocumentEntry {
    /// Id of the document in the benchmark.
    pub id: String,
    /// Title of the document.
    #[serde(default)]
    pub title: String,
    /// ISO 639-1 code of the language.
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
        let manifest: Self = whole("manifest.json", expected, bytes)?;
        match manifest.wrong() {
            Some(why) => Err(FolderError::File { file: "manifest.json".to_owned(), expected, why }),
            None => Ok(manifest),
        }
    }

    /// Returns what no run has.
    fn wrong(&self) -> Option<String> {
        let RunConfiguration { repeats, cells, .. } = &self.configuration;
        let mut seen = BTreeSet::new();
        let twice = cells.iter().find(|cell| !seen.insert(*cell));
        if !(1..=MAX_REPEATS).contains(repeats) {
            Some(format!("`repeats` is {repeats}: expected 1 to {MAX_REPEATS}"))
        } else if let Some(Arm { method, model, .. }) = twice {
            Some(format!("`cells` has {method} with {model} twice"))
        } else {
            let Part { index, of } =
                self.shard.filter(|part| part.of > MAX_PARTS || !(1..=part.of).contains(&part.index))?;
            Some(format!("`shard` is {index} of {of}: expected a part of at most {MAX_PARTS}"))
        }
    }

    /// Returns how many items the folder is to hold, where that is known: of a part of a run it is what was stored.
    pub fn n_items(&self) -> Option<usize> {
        match (&self.shard, &self.stored_items) {
            (Some(_), stored) => stored.as_ref().map(|stored| stored.n),
            (None, _) => self.configuration.number("items"),
        }
    }

    /// Says how these bytes of `items.jsonl` differ from those that the run wrote; `None` if they do not, as far as the manifest tells.
    pub fn items_differ(&self, file: &[u8]) -> Option<&'static str> {
        let written = |bytes: &[u8]| self.stored_items.as_ref().is_none_or(|stored| stored.sha256 == sha256(bytes));
        if written(file) {
            return None;
        }
        let by_feeds: Vec<u8> = file.iter().copied().filter(|byte| *byte != b'\r').collect();
        Some(match written(&by_feeds) {
            true => {
                "is not as the run wrote it: its line ends are CRLF, as git's core.autocrlf makes them and `* -text` in \
                 .gitattributes prevents"
            }
            false => "is not as the run wrote it",
        })
    }

    /// Returns what a reader of a report must know of how the run was made, name and value.
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
            ("reranker", configuration.other.get("reranker").and_then(reranker)),
            ("tokenizer", Some(configuration.tokenizer.clone())),
            ("passages of at most", of("max_tokens").map(|n| format!("{n} tokens"))),
            ("context window", windows(configuration)),
            ("reasoning", configuration.reasoning.map(|reasoning| reasoning.to_string())),
            ("responses held to their form by", of("constrain")),
            ("responses of at most", configuration.max_output_tokens.map(|n| format!("{n} tokens"))),
            ("items with", configuration.other::<Selected>().ok().and_then(|selected| selected.labels())),
            ("items drawn", configuration.other::<Selected>().ok().and_then(|selected| selected.drawn())),
            ("part", self.shard.filter(|part| part.of > 1).map(|part| format!("{} of {}", part.index, part.of))),
            ("repeats", Some(configuration.repeats).filter(|n| *n != 1).map(|n| n.to_string())),
            ("closeread", Some(self.closeread.clone())),
        ];
        facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// A reranker by its name, and how many passages it puts in order.
fn reranker(described: &Value) -> Option<String> {
    Some(format!("{}, of the best {} passages", described["name"].as_str()?, described["from"].as_u64()?))
}

/// The choice of the benchmark's items that were asked.
#[derive(Deserialize)]
pub(super) struct Selected {
    #[serde(default, rename = "where")]
    only: Vec<String>,
    draw: Option<Drawn>,
}

#[derive(Deserialize)]
pub(super) struct Drawn {
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
pub(super) fn windows(configuration: &RunConfiguration) -> Option<String> {
    let all = configuration.context_window.map(|n| format!("{n} tokens"));
    let of = configuration.context_windows.iter().map(|(model, n)| format!("{model}: {n} tokens"));
    let said: Vec<String> = all.into_iter().chain(of).collect();
    (!said.is_empty()).then(|| said.join(", "))
}

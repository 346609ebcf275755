//! The public data formats: `documents.jsonl` and `items.jsonl`.

use closeread_metrics::HashedAnswer;
use closeread_text::hash::short_hash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// One line of `documents.jsonl`: a text that questions are asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Unique name.
    pub id: String,
    /// Title as a prompt shows it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// ISO 639-1 code (`en`, `zh`, ...); absent means: detect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The text itself, or else where it lies.
    #[serde(flatten)]
    pub content: Content,
    /// Fields closeread does not know, kept.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The place of a document's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// The text, in the line itself.
    Text(String),
    /// Path of a file that holds the text, relative to `documents.jsonl`.
    Path(String),
}

/// The kind of answer that an item asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// A short free answer.
    Generative,
    /// One of the given options.
    Choice,
    /// A text of several sentences.
    Summary,
}

/// One line of `items.jsonl`: a question with its gold answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Item {
    /// Unique name.
    pub id: String,
    /// Ids of the documents the question is about, in reading order.
    pub documents: Vec<String>,
    /// The question, or the query of a summary.
    pub question: String,
    /// The kind of answer that is asked for.
    pub task: Task,
    /// Acceptable answers, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// The options of a choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Index of the correct option, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correct: Option<usize>,
    /// Passages that hold the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// HAMLET's key facts about one chunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_facts: Option<KeyFacts>,
    /// Labels, name and value, that reports break the scores down by, e.g. `complexity: multi-hop`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Fields closeread does not know, kept.
    #[serde(flatten)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub other: Map<String, Value>,
}

/// Fields that closeread does not know and that stay in published items: any other may hold text of a book, or tell the answer.
pub const PUBLISHED: [&str; 2] = ["canary", "language"];

/// Label that tells the two ways of asking a question apart.
pub const ASKED_AS: &str = "asked_as";

/// Returns the question that an item asks: its id, without the way where it is asked once more the other way (`q1#choice`
/// asks `q1`). Tables that count questions go by it.
pub fn question_id<'i>(id: &'i str, labels: &BTreeMap<String, String>) -> &'i str {
    let asked_again = |way: &String| id.strip_suffix(way.as_str())?.strip_suffix('#');
    labels.get(ASKED_AS).and_then(asked_again).unwrap_or(id)
}

impl Item {
    /// A question about one document, with nothing that is optional.
    pub fn new(id: impl Into<String>, document: impl Into<String>, question: impl Into<String>, task: Task) -> Self {
        Self {
            id: id.into(),
            documents: vec![document.into()],
            question: question.into(),
            task,
            answers: Vec::new(),
            options: Vec::new(),
            correct: None,
            evidence: Vec::new(),
            key_facts: None,
            labels: BTreeMap::new(),
            other: Map::new(),
        }
    }

    /// Returns what identifies the item in another run: sixteen hex digits that change with the question and what is
    /// gold as it is asked, the options of a choice or the answers of an open question.
    ///
    /// Not with the documents: the same question about a book alone and about a whole library is a comparison worth
    /// making.
    pub fn gold_fingerprint(&self) -> String {
        match self.task {
            Task::Choice => short_hash(&serde_json::json!([self.question, self.options, self.correct])),
            _ => short_hash(&serde_json::json!([self.question, self.answers])),
        }
    }

    /// True if it has gold answers and all are in words: of a hashed one no judge could say anything.
    pub fn has_told_answers(&self) -> bool {
        !self.answers.is_empty() && self.answers.iter().all(|gold| HashedAnswer::parse(gold).is_none())
    }

    /// True of an open question with gold answers in words: it can be judged whether an answer is correct.
    pub fn is_open(&self) -> bool {
        self.task == Task::Generative && self.has_told_answers()
    }

    /// Returns the name that intervals cluster by, as [`ItemFacts::cluster`](crate::observations::ItemFacts::cluster).
    pub fn cluster(&self) -> String {
        cluster(&self.documents, &self.id)
    }

    /// Returns what names the gold evidence of the item: the quotes, wherever they stand; `None` without any.
    pub(crate) fn evidence_fingerprint(&self) -> Option<String> {
        let quotes: Vec<&str> = self.evidence.iter().map(|evidence| evidence.quote.as_str()).collect();
        (!quotes.is_empty()).then(|| short_hash(&serde_json::json!(quotes)))
    }

    /// Adds a label unless its value is empty.
    pub fn label(mut self, name: &str, value: &str) -> Self {
        if !value.trim().is_empty() {
            self.labels.insert(name.to_owned(), value.trim().to_owned());
        }
        self
    }
}

/// A passage of a document that holds (part of) the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Evidence {
    /// The document it stands in; absent where the item has one document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Words of the passage.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
    /// First byte in the document's file as decoded to UTF-8; absent means: look the quote up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// End in bytes: one past the last byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
}

/// The key-fact trees of one chunk (HAMLET, section 3): roots, branches, leaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct KeyFacts {
    /// The document the chunk belongs to.
    pub document: String,
    /// Place of the chunk in the document.
    #[serde(flatten)]
    pub chunk: ChunkPlace,
    /// The main insights or sequences.
    pub roots: Vec<KeyFact>,
}

/// The place of a key-fact tree's chunk: by offsets, or by its words until the text is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(untagged)]
pub enum ChunkPlace {
    /// Offsets in the document's file as decoded to UTF-8.
    Offsets {
        /// First byte of the chunk.
        start: usize,
        /// One past the last byte of the chunk.
        end: usize,
    },
    /// Quotations: from the first occurrence of `first` to the end of the first `last` that does not begin before it.
    Quotes {
        /// The words the chunk begins with.
        first: String,
        /// The words it ends with.
        last: String,
    },
}

/// One node of a key-fact tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct KeyFact {
    /// A sentence without pronouns, supported by the chunk.
    pub fact: String,
    /// Facts that support this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<KeyFact>,
}

/// Returns the name that intervals cluster by; no other code decides it.
pub(crate) fn cluster(documents: &[String], id: &str) -> String {
    let documents: BTreeSet<&str> = documents.iter().map(String::as_str).collect();
    if documents.is_empty() {
        return format!("\n{id}");
    }
    documents.into_iter().collect::<Vec<_>>().join("\n")
}

//! A corpus in the manner of CorpusQA, invented from a seed: a table, the reports it is hidden in, the questions.
//!
//! CorpusQA (section 3) starts from real documents and extracts a table by majority vote of models. Here the way is
//! reversed: the table comes first and is the truth, the documents are written from it, and the gold answers are
//! computed from it, so that nothing in the corpus depends on a model, and no model can have seen it.
//!
//! The same [`CorpusSpec`] gives the same bytes on every platform: all arithmetic is in integers, the random numbers
//! are SplitMix64, and each report has its own stream, so that reports can be written one at a time in any order.

mod chinese;
mod chinese_questions;
mod domain;
mod draw;
mod english;
mod english_questions;
mod plan;
mod question;
mod report;
mod rng;
mod sql;
mod table;

pub use table::{Column, ValueType};

use crate::benchmark::{Content, Document, Item, Task};
use domain::Domain;
use question::{Answer, Query};
use rng::Rng;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use table::Row;

/// What to invent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct CorpusSpec {
    /// Decides everything that the other fields leave open.
    pub seed: u64,
    /// Institutions, a report each; 2 to [`MAX_DOCUMENTS`].
    pub n_documents: usize,
    /// Language, and with it the kind of institution.
    pub language: CorpusLanguage,
    /// Length aimed at for a report, in cl100k tokens, [`MIN_TOKENS`] to [`MAX_TOKENS`]; reports come within about
    /// a fifth of it. It is estimated from bytes, so that no tokenizer's version can change a corpus.
    pub tokens_per_document: usize,
}

/// Most reports of one corpus: the invented names stay short up to here.
pub const MAX_DOCUMENTS: usize = 100_000;
/// Shortest report that holds all facts with something to distract from them.
pub const MIN_TOKENS: usize = 1_000;
/// Longest report: 10M tokens, CorpusQA's largest set, in ten of them.
pub const MAX_TOKENS: usize = 1_000_000;
/// Questions of each difficulty, where the table yields as many.
const QUESTIONS_EACH: usize = 12;

/// A language that corpora can be invented in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub enum CorpusLanguage {
    /// English: housing cooperatives.
    #[serde(rename = "en")]
    English,
    /// Chinese: regional hospitals.
    #[serde(rename = "zh")]
    Chinese,
}

/// Why nothing can be invented from a [`CorpusSpec`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorpusError {
    /// The number of documents is out of range.
    #[error("{0} documents cannot be invented: ask for 2 to {MAX_DOCUMENTS} (one cannot be compared with anything)")]
    Documents(usize),
    /// The length of a document is out of range.
    #[error(
        "a report of {0} tokens cannot be written: ask for {MIN_TOKENS} to {MAX_TOKENS} (its facts take about {MIN_TOKENS})"
    )]
    Tokens(usize),
}

/// An invented corpus. Only the table and the questions are held; reports and items are made when asked for.
pub struct Corpus {
    spec: CorpusSpec,
    domain: &'static Domain,
    rows: Vec<Row>,
    questions: Vec<(Query, Answer)>,
}

/// One report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Its line of `documents.jsonl`; the path is relative to that file.
    pub document: Document,
    /// Its text, Markdown.
    pub markdown: String,
}

impl Corpus {
    /// Invents the table and draws the questions.
    ///
    /// # Errors
    /// [`CorpusError`] if a number of `spec` is out of range.
    pub fn new(spec: CorpusSpec) -> Result<Self, CorpusError> {
        if !(2..=MAX_DOCUMENTS).contains(&spec.n_documents) {
            return Err(CorpusError::Documents(spec.n_documents));
        }
        if !(MIN_TOKENS..=MAX_TOKENS).contains(&spec.tokens_per_document) {
            return Err(CorpusError::Tokens(spec.tokens_per_document));
        }
        let domain = match spec.language {
            CorpusLanguage::English => &english::ENGLISH,
            CorpusLanguage::Chinese => &chinese::CHINESE,
        };
        let rows = table::invent(domain, &mut Rng::stream(spec.seed, TABLE), spec.n_documents);
        let questions = draw::questions(domain, &rows, &mut Rng::stream(spec.seed, QUESTIONS), QUESTIONS_EACH);
        Ok(Self { spec, domain, rows, questions })
    }

    /// The columns of the table, with types and units.
    pub fn columns(&self) -> &[Column] {
        &self.domain.columns
    }

    /// The lines of `table.csv`, header first, without line ends.
    pub fn csv_lines(&self) -> impl Iterator<Item = String> {
        let header = self.columns().iter().map(|column| column.key).collect::<Vec<_>>().join(",");
        std::iter::once(header).chain(self.rows.iter().map(Row::csv))
    }

    /// The lines of `table.jsonl`: a row as an object, numbers as numbers.
    pub fn json_lines(&self) -> impl Iterator<Item = Map<String, Value>> {
        self.rows.iter().map(|row| row.json(&self.domain.columns))
    }

    /// The reports in the order of the table, each written when it is reached.
    pub fn reports(&self) -> impl ExactSizeIterator<Item = Report> {
        (0..self.rows.len()).map(|idx| self.report(idx))
    }

    /// The items, each made when it is reached; every one is asked about all documents.
    pub fn items(&self) -> impl ExactSizeIterator<Item = Item> {
        (0..self.questions.len()).map(|idx| self.item(idx))
    }

    /// The content of `manifest.json`: what was asked for, and the schema of the table.
    pub fn manifest(&self) -> Value {
        json!({
            "format": "closeread-corpus/1",
            "domain": self.domain.name,
            "spec": self.spec,
            "columns": self.columns(),
            "items": self.questions.len(),
        })
    }

    fn report(&self, idx: usize) -> Report {
        let mut rng = Rng::stream(self.spec.seed, REPORTS + idx as u64);
        let (title, markdown) = report::write(self.domain, &self.rows[idx], &mut rng, self.spec.tokens_per_document);
        let document = Document {
            id: self.document_id(idx),
            title,
            language: Some(self.domain.language.to_owned()),
            content: Content::Path(format!("reports/{}.md", self.document_id(idx))),
            other: Map::new(),
        };
        Report { document, markdown }
    }

    fn document_id(&self, idx: usize) -> String {
        let width = self.rows.len().to_string().len().max(3);
        format!("{}-{:0width$}", self.domain.name.replace('_', "-"), idx + 1)
    }

    fn item(&self, idx: usize) -> Item {
        let (query, answer) = &self.questions[idx];
        let labels =
            [("difficulty", query.difficulty().label()), ("domain", self.domain.name), ("answer_type", answer.kind())];
        let labels: BTreeMap<String, String> =
            labels.into_iter().map(|(label, value)| (label.to_owned(), value.to_owned())).collect();
        Item {
            id: format!("{}_{}", self.domain.name, idx + 1),
            documents: (0..self.rows.len()).map(|idx| self.document_id(idx)).collect(),
            question: (self.domain.ask)(query),
            task: Task::Generative,
            answers: vec![answer.gold()],
            options: Vec::new(),
            correct: None,
            evidence: Vec::new(),
            key_facts: None,
            labels,
            other: Map::from_iter([("sql".to_owned(), Value::from(query.sql(self.columns())))]),
        }
    }
}

const TABLE: u64 = 1;
const QUESTIONS: u64 = 2;
/// Streams from here on belong to the reports.
const REPORTS: u64 = 16;

#[cfg(test)]
mod tests;

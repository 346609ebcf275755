//! A run folder, read.

use super::{Arm, HowAsked, RunView, ServedUsage, TokenPlaces};
use closeread_data::statistics::BookFacts;
use closeread_eval::Item;
use closeread_judges::Judging;
use closeread_llm::price::PriceList;
use closeread_methods::Preparation;
use closeread_methods::record::{CallTrace, Record};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::{BTreeMap, BTreeSet};

/// A run folder, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Name of the run, which no other run of the report has.
    pub name: String,
    /// Name of the benchmark.
    pub benchmark: String,
    /// Arms that were asked for, in the order of the table, finished or not.
    pub plan: Vec<Arm>,
    /// Items of the run.
    pub items: Vec<Item>,
    /// Records of the run.
    pub records: Vec<Record>,
    /// Number of times that each item was asked.
    pub repeats: u32,
    /// The tokens of its books by document; empty where the texts are not at hand.
    pub books: BTreeMap<String, TokenPlaces>,
    /// SHA-256 of the text of each of its documents; empty where they are not known.
    pub texts: BTreeMap<String, String>,
    /// Books of the run as the papers' tables on data have them.
    pub data: Vec<BookFacts>,
    /// Settings with which the models were asked.
    pub asked: HowAsked,
    /// Judging of the run; its verdicts are among the scores of the records already.
    pub judging: Judging,
    /// Facts that the run's numbers rest on, name and value: retriever, tokenizer, version.
    pub facts: Vec<(String, String)>,
    /// Calls of methods before the questions, by preparation.
    pub preparations: Vec<PreparationCalls>,
    /// The prices of its models that its money is counted by.
    pub prices: PriceList,
    /// Usage of embedding models and rerankers on servers, where the folder was read for it.
    pub served: Vec<ServedUsage>,
    /// True for a log of another tool, of which no calls are read.
    pub is_log: bool,
    /// Gaps of the folder, damaged or missing, a sentence each; see [`Run::lacks`].
    pub gaps: Vec<String>,
}

impl Run {
    /// The run as tables look at it.
    pub fn view(&self) -> RunView<'_> {
        let Self { name, benchmark, plan, items, records, repeats, books, judging, asked, .. } = self;
        RunView { name, benchmark, plan, items, records, repeats: *repeats, books, judging, asked }
    }
}

/// Says which documents had other texts in another run of these; `None` where all had the same.
pub(crate) fn other_texts<'a>(runs: impl IntoIterator<Item = &'a BTreeMap<String, String>>) -> Option<String> {
    const NAMED: usize = 5;
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    let mut differ: BTreeSet<&str> = BTreeSet::new();
    for (document, text) in runs.into_iter().flatten() {
        if *known.entry(document).or_insert(text) != text {
            differ.insert(document);
        }
    }
    let named: Vec<String> = differ.iter().take(NAMED).map(|document| format!("`{document}`")).collect();
    let more = if differ.len() > NAMED { format!(" and {} more", differ.len() - NAMED) } else { String::new() };
    (!differ.is_empty()).then(|| {
        format!(
            "The runs read different texts under the same id: {}{more}; their answers there are about different texts",
            named.join(", ")
        )
    })
}

/// Returns the judge that decides on a run's correct answers; `None` where nobody was asked that.
pub(crate) fn judge_of(judging: &Judging) -> Option<String> {
    let (panel, judge) = judging.correctness()?;
    let prompt = panel.prompts.get(&judge).map_or("", |sha256| sha256.get(..8).unwrap_or(sha256));
    let prompt = if prompt.is_empty() { String::new() } else { format!(" (prompt {prompt})") };
    Some(format!("{}, {}{prompt}", judge.name(), panel.name()))
}

/// Says by which judges answers of these runs, given by name, were judged; `None` where it was one.
pub(crate) fn other_judges<'a>(runs: impl IntoIterator<Item = (&'a str, Option<String>)>) -> Option<String> {
    let judged: Vec<(&str, String)> = runs.into_iter().filter_map(|(name, judge)| Some((name, judge?))).collect();
    let is_one = judged.iter().all(|(_, judge)| *judge == judged[0].1);
    (!is_one).then(|| {
        let said: Vec<String> = judged.iter().map(|(name, judge)| format!("{name} by {judge}")).collect();
        format!("The runs were judged by different judges, which a judged accuracy depends on: {}", said.join("; "))
    })
}

/// The calls of a preparation: what a method asked about books before the questions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "KeptPreparation")]
pub struct PreparationCalls {
    /// Name of the method.
    pub method: String,
    /// The model, `provider/model`.
    pub model: String,
    /// The calls of the preparation.
    pub calls: Vec<CallTrace>,
    /// The tokens of all its prompts, where the last response was blocked.
    pub blocked_tokens: Option<usize>,
}

/// What a file of `preparations/` has of it.
#[derive(Deserialize)]
struct KeptPreparation {
    method: String,
    model: String,
    #[serde(flatten)]
    preparation: Preparation<IgnoredAny>,
}

impl From<KeptPreparation> for PreparationCalls {
    fn from(KeptPreparation { method, model, preparation }: KeptPreparation) -> Self {
        let blocked_tokens = preparation.blocked_tokens();
        Self { method, model, calls: preparation.calls, blocked_tokens }
    }
}

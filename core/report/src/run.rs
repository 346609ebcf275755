//! A run folder, read.

use super::{Arm, HowAsked, RunView, ServedUsage, TokenPlaces};
use closeread_data::statistics::BookFacts;
use closeread_eval::Item;
use closeread_judges::{Judge, Judging, Panel, Reference, judged_metrics};
use closeread_llm::price::PriceList;
use closeread_methods::Preparation;
use closeread_methods::record::{CallTrace, Record};
use closeread_table::number::metric_label;
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

/// The judges that gave the scores of a run, by metric.
pub(crate) type JudgesByMetric = BTreeMap<&'static str, String>;

/// Returns the judges that give the scores of a run.
pub(crate) fn judges_of(judging: &Judging) -> JudgesByMetric {
    let named = |(panel, judge): (&Panel, Judge)| {
        let prompt = panel.prompts.get(&judge).map_or("", |sha256| sha256.get(..8).unwrap_or(sha256));
        let prompt = if prompt.is_empty() { String::new() } else { format!(" (prompt {prompt})") };
        // Sentences alone are verified against a text.
        let reference = if judge == Judge::VerifyFacts { panel.reference } else { Reference::Chunk };
        format!("{}, {}{prompt}", judge.name(), Panel { reference, ..panel.clone() }.name())
    };
    let judges = |metric| judging.behind(metric).into_iter().map(named).collect::<Vec<_>>().join(" and ");
    judged_metrics().map(|metric| (metric, judges(metric))).filter(|(_, judges)| !judges.is_empty()).collect()
}

/// Says which of these metrics different judges gave in these runs, which are given by name.
pub(crate) fn other_judges<'a>(
    metrics: impl IntoIterator<Item = &'a str>,
    runs: &[(&str, &JudgesByMetric)],
) -> Vec<String> {
    let mut differ: Vec<(String, Vec<String>)> = Vec::new();
    for metric in metrics {
        let judged: Vec<(&str, &String)> =
            runs.iter().filter_map(|(name, judges)| Some((*name, judges.get(metric)?))).collect();
        if judged.iter().all(|(_, judges)| *judges == judged[0].1) {
            continue;
        }
        let said = judged.iter().map(|(name, judges)| format!("{name} by {judges}")).collect::<Vec<_>>().join("; ");
        match differ.iter_mut().find(|(known, _)| *known == said) {
            Some((_, metrics)) => metrics.push(metric_label(metric)),
            None => differ.push((said, vec![metric_label(metric)])),
        }
    }
    let note = |(said, metrics): (String, Vec<String>)| {
        let depend = if metrics.len() == 1 { "depends" } else { "depend" };
        format!("The runs were judged by different judges, on which {} {depend}: {said}", metrics.join(", "))
    };
    differ.into_iter().map(note).collect()
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

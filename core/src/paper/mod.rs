//! The numbers and tables of the five papers, as pure functions of finished trials.
//!
//! One file a paper: first its quantities, each a small function that reads like the paper's definition, then `tables`,
//! which lays out the paper's tables for whatever the trials carry. What a paper leaves open is settled in the doc
//! comment of the function that needed it.

mod case;
mod correlate;
mod tabulate;

pub mod audit;
pub mod corpusqa;
pub mod dos_rag;
pub mod hamlet;
pub mod label;
pub mod novelqa;
pub mod sagascale;

pub use case::{Case, Configuration, Ending, FailurePolicy};
pub use tabulate::{mean_over_items, per_item};

use crate::table::Table;
use serde::{Deserialize, Serialize};

/// A paper whose tables can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Paper {
    /// SagaScale: questions on whole novels, long context against retrieval.
    SagaScale,
    /// NovelQA: questions on novels by complexity and aspect.
    NovelQa,
    /// DOS RAG ("Stronger Baselines"): accuracy over the token budget.
    DosRag,
    /// CorpusQA: questions on document collections.
    CorpusQa,
    /// HAMLET: summaries against key facts.
    Hamlet,
}

impl Paper {
    /// Every paper.
    pub const ALL: [Self; 5] = [Self::SagaScale, Self::NovelQa, Self::DosRag, Self::CorpusQa, Self::Hamlet];

    /// The paper's name as it is cited.
    pub const fn title(self) -> &'static str {
        match self {
            Self::SagaScale => "SagaScale",
            Self::NovelQa => "NovelQA",
            Self::DosRag => "DOS RAG",
            Self::CorpusQa => "CorpusQA",
            Self::Hamlet => "HAMLET",
        }
    }

    /// The paper that reports on the benchmark of that name (an adapter's name, a folder's name), if one does.
    ///
    /// Case, hyphens, blanks and underscores do not count. InfiniteBench, QuALITY and NarrativeQA are the benchmarks
    /// of DOS RAG.
    pub fn of_benchmark(name: &str) -> Option<Self> {
        let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        match plain.as_str() {
            "sagascale" => Some(Self::SagaScale),
            "novelqa" => Some(Self::NovelQa),
            "infinitebench" | "quality" | "levalquality" | "narrativeqa" | "levalnarrativeqa" => Some(Self::DosRag),
            "corpusqa" => Some(Self::CorpusQa),
            "hamlet" => Some(Self::Hamlet),
            _ => None,
        }
    }

    /// The paper whose labels the trials carry: `complexity` and `aspect` are NovelQA's, `domain` with `difficulty` or
    /// `length_set` CorpusQA's, `question_type` SagaScale's. The first that fits.
    pub fn of_labels(cases: &[Case]) -> Option<Self> {
        let has = |label: &str| cases.iter().any(|case| case.labels.contains_key(label));
        if has("complexity") && has("aspect") {
            Some(Self::NovelQa)
        } else if has("domain") && (has("difficulty") || has("length_set")) {
            Some(Self::CorpusQa)
        } else if has("question_type") {
            Some(Self::SagaScale)
        } else {
            None
        }
    }

    /// The paper's tables for these trials; those for which the trials carry nothing are left out.
    ///
    /// HAMLET's come from judged summaries, not from trials: [`hamlet::tables`].
    pub fn tables(self, cases: &[Case]) -> Vec<Table> {
        match self {
            Self::SagaScale => sagascale::tables(cases),
            Self::NovelQa => novelqa::tables(cases),
            Self::DosRag => dos_rag::tables(cases),
            Self::CorpusQa => corpusqa::tables(cases),
            Self::Hamlet => Vec::new(),
        }
    }
}

/// The tables for a run: those of the paper that `benchmark` or the labels name, the budget curve where several budgets
/// were run, and one table a label where no paper has its own.
pub fn tables(benchmark: Option<&str>, cases: &[Case]) -> Vec<Table> {
    let paper = benchmark.and_then(Paper::of_benchmark).or_else(|| Paper::of_labels(cases));
    let mut tables = paper.map(|paper| paper.tables(cases)).unwrap_or_default();
    if paper != Some(Paper::DosRag) {
        tables.extend(dos_rag::tables(cases));
    }
    if !matches!(paper, Some(Paper::NovelQa | Paper::CorpusQa)) {
        tables.extend(label::tables(cases));
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::case::testing::case;
    use super::*;

    #[test]
    fn a_benchmark_is_known_by_its_name_or_its_labels() {
        assert_eq!(Paper::of_benchmark("NovelQA"), Some(Paper::NovelQa));
        assert_eq!(Paper::of_benchmark("saga-scale"), Some(Paper::SagaScale));
        assert_eq!(Paper::of_benchmark("nocha"), None);
        let labelled = case("a").label("complexity", "detail").label("aspect", "plot");
        assert_eq!(Paper::of_labels(&[labelled]), Some(Paper::NovelQa));
        assert_eq!(Paper::of_labels(&[case("a")]), None);
    }

    #[test]
    fn a_benchmark_without_a_paper_gets_a_table_a_label() {
        let cases = [case("a").scored("accuracy", 1.0).label("genre", "gothic")];
        let ids: Vec<String> = tables(Some("own"), &cases).into_iter().map(|table| table.id).collect();
        assert_eq!(ids, ["label-genre"]);
    }
}

//! The five papers.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A paper whose benchmark and tables closeread knows.
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

    /// Returns the paper's name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SagaScale => "sagascale",
            Self::NovelQa => "novelqa",
            Self::DosRag => "stronger-baselines",
            Self::CorpusQa => "corpusqa",
            Self::Hamlet => "hamlet",
        }
    }

    /// The paper of that [name](Self::name).
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|paper| paper.name() == name)
    }

    /// The paper's name as it is cited.
    pub const fn title(self) -> &'static str {
        match self {
            Self::SagaScale => "SagaScale",
            Self::NovelQa => "NovelQA",
            Self::DosRag => "Stronger Baselines",
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

    /// The paper whose labels the items carry: `complexity` and `aspect` are NovelQA's, `domain` with `difficulty` or
    /// `length_set` CorpusQA's, `question_type` SagaScale's. The first that fits.
    pub fn of_labels<'a>(labels: impl IntoIterator<Item = &'a BTreeMap<String, String>>) -> Option<Self> {
        let names: BTreeSet<&str> = labels.into_iter().flat_map(|of_item| of_item.keys().map(String::as_str)).collect();
        let has = |label: &str| names.contains(label);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_benchmark_is_known_by_its_name_or_its_labels() {
        assert_eq!(Paper::of_benchmark("NovelQA"), Some(Paper::NovelQa));
        assert_eq!(Paper::of_benchmark("saga-scale"), Some(Paper::SagaScale));
        assert_eq!(Paper::of_benchmark("nocha"), None);
        let labels = |name: &str| BTreeMap::from([(name.to_owned(), "x".to_owned())]);
        assert_eq!(Paper::of_labels(&[labels("complexity"), labels("aspect")]), Some(Paper::NovelQa));
        assert_eq!(Paper::of_labels(&[labels("aspect")]), None);
    }
}

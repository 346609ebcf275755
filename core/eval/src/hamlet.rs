//! HAMLET (sections 3 and 4): recall of key facts and faithfulness of sentences, by level.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A judged summary: what became of each key fact and of each of its sentences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryEvaluation {
    /// Id of the query.
    pub item: String,
    /// The book summarised; its queries cluster.
    #[serde(default)]
    pub book: String,
    /// What wrote the summary.
    #[serde(default)]
    pub model: String,
    /// Which of the chunk's two trees the query comes from.
    pub perspective: Perspective,
    /// Where the chunk stands in its book: chunk index / number of chunks, in 0..=1; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<f64>,
    /// The key facts of the tree, depth first.
    pub facts: Vec<FactVerdict>,
    /// The summary's sentences in order.
    pub sentences: Vec<SentenceVerdict>,
    /// Length of the summary in words.
    pub n_words: usize,
}

/// Which tree of a chunk a query comes from (section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Perspective {
    /// Insights and their support.
    Analytical,
    /// Sequences of events.
    Narrative,
}

impl Perspective {
    /// Both, in the order of the paper's tables.
    pub const ALL: [Self; 2] = [Self::Analytical, Self::Narrative];

    /// As a table shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Analytical => "analytical",
            Self::Narrative => "narrative",
        }
    }
}

/// Depth of a key fact in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The main insight or sequence.
    Root,
    /// What supports it.
    Branch,
    /// Details.
    Leaf,
}

impl Level {
    /// All, from the root down.
    pub const ALL: [Self; 3] = [Self::Root, Self::Branch, Self::Leaf];

    /// As a table shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Branch => "branch",
            Self::Leaf => "leaf",
        }
    }
}

/// What the judge said of a key fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactVerdict {
    /// Its level.
    pub level: Level,
    /// True if the summary states it.
    pub matched: bool,
}

/// What the judge said of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentenceVerdict {
    /// Levels of the key facts it was aligned with; none if with no key fact.
    pub levels: BTreeSet<Level>,
    /// What is wrong with it.
    pub category: ErrorCategory,
}

/// What is wrong with a sentence (Table 12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCategory {
    /// Nothing: the sentence is faithful.
    NoError,
    /// Extrinsic: the chunk does not say so.
    OutOfArticle,
    /// Intrinsic: a wrong entity.
    Entity,
    /// Intrinsic: a wrong relation between entities.
    Relation,
    /// Intrinsic: the whole sentence contradicts the chunk.
    Sentence,
}

impl ErrorCategory {
    /// The errors, extrinsic first.
    pub const ERRORS: [Self; 4] = [Self::OutOfArticle, Self::Relation, Self::Entity, Self::Sentence];

    /// The words the judge's prompt uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoError => "No error",
            Self::OutOfArticle => "Out-of-article error",
            Self::Entity => "Entity error",
            Self::Relation => "Relation error",
            Self::Sentence => "Sentence error",
        }
    }

    /// The category of that name, whatever its case; with or without the word `error`.
    pub fn of_name(name: &str) -> Option<Self> {
        let plain = |name: &str| {
            let letters: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
            match letters.strip_suffix("error") {
                Some(stem) if !stem.is_empty() => stem.to_owned(),
                _ => letters,
            }
        };
        let wanted = plain(name);
        let all = [Self::NoError].into_iter().chain(Self::ERRORS);
        all.into_iter().find(|category| plain(category.name()) == wanted)
    }

    /// True for errors that the chunk itself contradicts.
    pub const fn is_intrinsic(self) -> bool {
        matches!(self, Self::Entity | Self::Relation | Self::Sentence)
    }
}

/// What a recall or faithfulness is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Key facts, or sentences aligned with key facts, of the root level.
    Root,
    /// Of the branch level.
    Branch,
    /// Of the leaf level.
    Leaf,
    /// Sentences aligned with no key fact; no key fact is in it.
    None,
    /// Everything.
    All,
}

impl Scope {
    /// Columns of a recall table.
    pub const OF_FACTS: [Self; 4] = [Self::Root, Self::Branch, Self::Leaf, Self::All];
    /// Columns of a faithfulness table.
    pub const OF_SENTENCES: [Self; 5] = [Self::Root, Self::Branch, Self::Leaf, Self::None, Self::All];

    /// As a table shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Branch => "branch",
            Self::Leaf => "leaf",
            Self::None => "none",
            Self::All => "all",
        }
    }

    const fn level(self) -> Option<Level> {
        match self {
            Self::Root => Some(Level::Root),
            Self::Branch => Some(Level::Branch),
            Self::Leaf => Some(Level::Leaf),
            Self::None | Self::All => None,
        }
    }
}

/// Which of the two scores is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Share of the key facts that the summary states (Eq. 1).
    Recall,
    /// Share of the sentences without error (Eq. 2).
    Faithfulness,
}

/// A count out of a total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ratio {
    /// Those that hold.
    pub count: usize,
    /// All of them.
    pub total: usize,
}

impl Ratio {
    /// Count / total in 0..=1; `None` for nothing out of nothing.
    pub fn value(self) -> Option<f64> {
        (self.total > 0).then(|| self.count as f64 / self.total as f64)
    }

    fn of(verdicts: impl Iterator<Item = bool>) -> Self {
        verdicts.fold(Self::default(), |r, holds| Self { count: r.count + usize::from(holds), total: r.total + 1 })
    }
}

/// Matched key facts out of those in scope (Eq. 1).
pub fn recall(summary: &SummaryEvaluation, scope: Scope) -> Ratio {
    let in_scope = |fact: &&FactVerdict| match scope {
        Scope::All => true,
        _ => scope.level() == Some(fact.level),
    };
    Ratio::of(summary.facts.iter().filter(in_scope).map(|fact| fact.matched))
}

/// Faithful sentences out of those in scope (Eq. 2).
///
/// The paper does not say where a sentence counts that is aligned with facts of several levels; here it counts in each
/// of them, and once in [`Scope::All`]: the equation asks for the sentences of a level, and it is one of each.
pub fn faithfulness(summary: &SummaryEvaluation, scope: Scope) -> Ratio {
    let in_scope = |sentence: &&SentenceVerdict| match scope.level() {
        Some(level) => sentence.levels.contains(&level),
        None => scope == Scope::All || sentence.levels.is_empty(),
    };
    let counted = summary.sentences.iter().filter(in_scope);
    Ratio::of(counted.map(|sentence| sentence.category == ErrorCategory::NoError))
}

/// Either score of one summary.
pub fn ratio(summary: &SummaryEvaluation, measure: Measure, scope: Scope) -> Ratio {
    match measure {
        Measure::Recall => recall(summary, scope),
        Measure::Faithfulness => faithfulness(summary, scope),
    }
}

/// The scores of one summary by name, each where it has something to be taken over: `recall`, `recall_root`,
/// `recall_branch`, `recall_leaf`; `faithfulness`, `faithfulness_root`, `_branch`, `_leaf` and `_none` (sentences aligned
/// with no key fact); and `recall_faithfulness`, the mean of the two.
pub fn scores(summary: &SummaryEvaluation) -> BTreeMap<String, f64> {
    let mut scores = BTreeMap::new();
    let mut give = |measure: Measure, name: &str, scopes: &[Scope]| {
        for scope in scopes {
            let name = match scope {
                Scope::All => name.to_owned(),
                scope => format!("{name}_{}", scope.name()),
            };
            scores.extend(ratio(summary, measure, *scope).value().map(|value| (name, value)));
        }
    };
    give(Measure::Recall, "recall", &Scope::OF_FACTS);
    give(Measure::Faithfulness, "faithfulness", &Scope::OF_SENTENCES);
    if let (Some(recall), Some(faithfulness)) = (scores.get("recall"), scores.get("faithfulness")) {
        let mean = recall_faithfulness_mean(*recall, *faithfulness);
        scores.insert("recall_faithfulness".to_owned(), mean);
    }
    scores
}

/// Mean of the summaries' own ratios (Table 7, "summary-level"); a summary with nothing in scope is left out.
pub fn summary_level_mean(summaries: &[&SummaryEvaluation], measure: Measure, scope: Scope) -> Option<f64> {
    let ratios: Vec<f64> = summaries.iter().filter_map(|summary| ratio(summary, measure, scope).value()).collect();
    mean(&ratios)
}

/// One ratio over all facts or sentences of all summaries: the other reading of how the paper's tables aggregate.
pub fn pooled(summaries: &[&SummaryEvaluation], measure: Measure, scope: Scope) -> Ratio {
    summaries
        .iter()
        .map(|summary| ratio(summary, measure, scope))
        .fold(Ratio::default(), |sum, ratio| Ratio { count: sum.count + ratio.count, total: sum.total + ratio.total })
}

/// Mean of recall and faithfulness (Table 7).
pub fn recall_faithfulness_mean(recall: f64, faithfulness: f64) -> f64 {
    (recall + faithfulness) / 2.0
}

/// Position bins of 20% each (section 4.3).
pub const POSITION_BINS: usize = 5;

/// The position bin, from 0, of a place in 0..=1; the end of the book belongs to the last.
pub fn position_bin(position: f64) -> usize {
    ((position.clamp(0.0, 1.0) * POSITION_BINS as f64) as usize).min(POSITION_BINS - 1)
}

/// Highest minus lowest recall over the position bins (Table 4); `None` with fewer than two bins.
pub fn recall_gap(recall_by_bin: &[f64]) -> Option<f64> {
    let highest = recall_by_bin.iter().copied().reduce(f64::max)?;
    let lowest = recall_by_bin.iter().copied().reduce(f64::min)?;
    (recall_by_bin.len() > 1).then_some(highest - lowest)
}

/// How the erroneous sentences of all summaries divide (Table 14).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorTaxonomy {
    /// Sentences with any error, of all sentences.
    pub errors: Ratio,
    /// Extrinsic errors, of all errors.
    pub extrinsic: Ratio,
    /// Intrinsic errors, of all errors.
    pub intrinsic: Ratio,
    /// Relation errors, of the intrinsic ones.
    pub relation: Ratio,
    /// Entity errors, of the intrinsic ones.
    pub entity: Ratio,
    /// Sentence errors, of the intrinsic ones.
    pub sentence: Ratio,
}

/// Counts the errors of all sentences (Table 14): extrinsic and intrinsic of all errors, the kinds of the intrinsic ones.
pub fn error_taxonomy(summaries: &[&SummaryEvaluation]) -> ErrorTaxonomy {
    let categories: Vec<ErrorCategory> =
        summaries.iter().flat_map(|summary| &summary.sentences).map(|sentence| sentence.category).collect();
    let errors = || categories.iter().filter(|category| **category != ErrorCategory::NoError);
    let intrinsic = |kind| Ratio::of(errors().filter(|c| c.is_intrinsic()).map(|category| *category == kind));
    ErrorTaxonomy {
        errors: Ratio::of(categories.iter().map(|category| *category != ErrorCategory::NoError)),
        extrinsic: Ratio::of(errors().map(|category| !category.is_intrinsic())),
        intrinsic: Ratio::of(errors().map(|category| category.is_intrinsic())),
        relation: intrinsic(ErrorCategory::Relation),
        entity: intrinsic(ErrorCategory::Entity),
        sentence: intrinsic(ErrorCategory::Sentence),
    }
}

/// Pearson's correlation between a summary's length in words and its recall (section 4.4), with the number of summaries
/// that have key facts in scope; `None` where either is constant.
pub fn length_correlation(summaries: &[&SummaryEvaluation], scope: Scope) -> Option<(f64, usize)> {
    let points = summaries.iter().filter_map(|s| Some((s.n_words as f64, recall(s, scope).value()?)));
    let (words, recalls): (Vec<f64>, Vec<f64>) = points.unzip();
    Some((crate::correlate::correlation(&words, &recalls)?, words.len()))
}

/// Mean of `b` minus `a` over the queries that both have (Table 6: reasoning against base model), with their number.
pub fn paired_difference(
    a: &[&SummaryEvaluation],
    b: &[&SummaryEvaluation],
    measure: Measure,
    scope: Scope,
) -> Option<(f64, usize)> {
    let of_a: std::collections::BTreeMap<&str, f64> =
        a.iter().filter_map(|s| Some((s.item.as_str(), ratio(s, measure, scope).value()?))).collect();
    let differences: Vec<f64> =
        b.iter().filter_map(|s| Some(ratio(s, measure, scope).value()? - of_a.get(s.item.as_str())?)).collect();
    Some((mean(&differences)?, differences.len()))
}

/// The mean of `values`; `None` of none.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests;

//! HAMLET (section 3.3, appendix E): recall of key facts and faithfulness of sentences, by level.
//!
//! What the judges said of a summary becomes scores by scope, each a share that can be pooled. The evaluation table
//! ([`observations`](crate::observations)) says what a trial without them counts for.

use crate::observations::{Applies, MetricName, Score};
use crate::rows::scalars;
use crate::{KeyFact, KeyFacts};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The key facts of a tree, depth first, as a judge gets them. What lies deeper than three levels is a leaf.
pub fn linearised(facts: &KeyFacts) -> Vec<(Level, &str)> {
    fn walk<'f>(fact: &'f KeyFact, depth: usize, into: &mut Vec<(Level, &'f str)>) {
        into.push((Level::ALL[depth.min(Level::ALL.len() - 1)], &fact.fact));
        for child in &fact.children {
            walk(child, depth + 1, into);
        }
    }
    let mut list = Vec::new();
    for root in &facts.roots {
        walk(root, 0, &mut list);
    }
    list
}

/// A judged summary: what became of each key fact and of each of its sentences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryEvaluation {
    /// Id of the query.
    pub item: String,
    /// The book summarised; its queries cluster.
    #[serde(default)]
    pub book: String,
    /// Name of the model that wrote the summary.
    #[serde(default)]
    pub model: String,
    /// The tree of the chunk that the query comes from.
    pub perspective: Perspective,
    /// Position of the chunk in its book: chunk index / number of chunks, in 0..=1; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<f64>,
    /// Verdicts of the judges on the summary.
    #[serde(flatten)]
    pub verdicts: SummaryVerdicts,
}

/// Verdicts of the judges on a summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SummaryVerdicts {
    /// The key facts of the tree, depth first; `None` if nobody said, in words that could be read, which ones the summary
    /// states. One that the judge skipped is not stated.
    pub facts: Option<Vec<FactVerdict>>,
    /// The summary's sentences in order; `None` if one of them got no verdict that could be read.
    pub sentences: Option<Vec<SentenceVerdict>>,
}

/// The tree of a chunk that a query comes from (section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Perspective {
    /// The tree of insights and their support.
    Analytical,
    /// The tree of sequences of events.
    Narrative,
}

impl Perspective {
    /// Both perspectives, in the order of the paper's tables.
    pub const ALL: [Self; 2] = [Self::Analytical, Self::Narrative];

    /// Returns the perspective's name in tables.
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
    /// Facts that support a root.
    Branch,
    /// Details, at the leaves.
    Leaf,
}

impl Level {
    /// All levels, from the root down.
    pub const ALL: [Self; 3] = [Self::Root, Self::Branch, Self::Leaf];

    /// Returns the level's name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Branch => "branch",
            Self::Leaf => "leaf",
        }
    }
}

/// A judge's verdict on a key fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactVerdict {
    /// Level of the key fact.
    pub level: Level,
    /// True if the summary states the fact.
    pub matched: bool,
}

/// A judge's verdict on a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentenceVerdict {
    /// Levels of the key facts it was aligned with; none if with no key fact.
    pub levels: BTreeSet<Level>,
    /// Error of the sentence.
    pub category: ErrorCategory,
}

/// The error in a sentence (Table 12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCategory {
    /// No error: the sentence is faithful.
    NoError,
    /// Extrinsic: the chunk does not say so.
    OutOfArticle,
    /// Intrinsic error: a wrong entity.
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

/// The lines that an entry of a judge's list names: a number, a list of them, or either as text, such as `[1, 2]`.
pub fn line_numbers(entry: &Map<String, Value>) -> Vec<usize> {
    const NAMES: [&str; 5] = ["line number", "line_number", "line numbers", "line_numbers", "line"];
    let named = NAMES.iter().find_map(|name| entry.get(*name)).map(scalars).unwrap_or_default();
    let words = named.iter().flat_map(|text| text.split(|c: char| c.is_whitespace() || "[],;".contains(c)));
    words.filter_map(|word| word.strip_suffix(".0").unwrap_or(word).parse().ok()).collect()
}

/// The facts or sentences that a recall or faithfulness is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Key facts, or sentences aligned with key facts, of the root level.
    Root,
    /// Facts or sentences of the branch level.
    Branch,
    /// Facts or sentences of the leaf level.
    Leaf,
    /// Sentences aligned with no key fact; no key fact is in it.
    None,
    /// Sentences aligned with some key fact; no key fact is in it.
    Aligned,
    /// All facts or sentences.
    All,
}

impl Scope {
    /// Scopes that recall is taken over.
    pub const OF_FACTS: [Self; 4] = [Self::Root, Self::Branch, Self::Leaf, Self::All];
    /// Scopes that faithfulness is taken over.
    pub const OF_SENTENCES: [Self; 6] = [Self::Root, Self::Branch, Self::Leaf, Self::None, Self::Aligned, Self::All];

    /// Returns the scope's name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Branch => "branch",
            Self::Leaf => "leaf",
            Self::None => "none",
            Self::Aligned => "aligned",
            Self::All => "all",
        }
    }

    fn has_fact(self, level: Level) -> bool {
        match self {
            Self::Root => level == Level::Root,
            Self::Branch => level == Level::Branch,
            Self::Leaf => level == Level::Leaf,
            Self::None | Self::Aligned => false,
            Self::All => true,
        }
    }

    fn has_sentence(self, levels: &BTreeSet<Level>) -> bool {
        match self {
            Self::Root | Self::Branch | Self::Leaf => levels.iter().any(|level| self.has_fact(*level)),
            Self::None => levels.is_empty(),
            Self::Aligned => !levels.is_empty(),
            Self::All => true,
        }
    }
}

/// The choice between the two scores, recall and faithfulness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Share of the key facts that the summary states (Eq. 1).
    Recall,
    /// Share of the sentences without error (Eq. 2).
    Faithfulness,
}

impl Measure {
    /// The metric of this score over a scope: `recall`, `recall_root`, `faithfulness_aligned`.
    pub fn metric(self, scope: Scope) -> MetricName {
        let name = match self {
            Self::Recall => RECALL,
            Self::Faithfulness => FAITHFULNESS,
        };
        match scope {
            Scope::All => name.into(),
            scope => format!("{name}_{}", scope.name()).into(),
        }
    }

    /// Returns the scopes that the score is taken over.
    pub const fn scopes(self) -> &'static [Scope] {
        match self {
            Self::Recall => &Scope::OF_FACTS,
            Self::Faithfulness => &Scope::OF_SENTENCES,
        }
    }
}

/// Share of the key facts that a summary states.
pub const RECALL: &str = "recall";
/// Share of a summary's sentences without an error.
pub const FAITHFULNESS: &str = "faithfulness";
/// Name of the mean of recall and faithfulness.
pub const RECALL_FAITHFULNESS: &str = "recall_faithfulness";

/// Kinds of errors with their metric (Table 14): of all errors the first two, of the intrinsic ones the others.
pub const ERROR_SHARES: [(&str, &str); 5] = [
    ("(A) Extrinsic Error", "extrinsic_errors"),
    ("(B) Intrinsic Error", "intrinsic_errors"),
    ("Relation Error", "relation_errors"),
    ("Entity Error", "entity_errors"),
    ("Sentence Error", "sentence_errors"),
];

/// Recall of a summary (Eq. 1).
pub fn recall(verdicts: &SummaryVerdicts, scope: Scope) -> Score {
    let Some(facts) = &verdicts.facts else { return Score::Unjudged };
    share(facts.iter().filter(|fact| scope.has_fact(fact.level)).map(|fact| fact.matched))
}

/// Faithfulness of a summary (Eq. 2).
///
/// The paper does not say where a sentence counts that is aligned with facts of several levels; here it counts in each
/// of them, and once in [`Scope::Aligned`] and [`Scope::All`]: the equation asks for the sentences of a level, and it is
/// one of each. Where nobody said which facts the summary states, its sentences are in [`Scope::All`] alone.
pub fn faithfulness(verdicts: &SummaryVerdicts, scope: Scope) -> Score {
    match &verdicts.sentences {
        Some(sentences) if scope == Scope::All || verdicts.facts.is_some() => {
            let in_scope = sentences.iter().filter(|sentence| scope.has_sentence(&sentence.levels));
            share(in_scope.map(|sentence| sentence.category == ErrorCategory::NoError))
        }
        _ => Score::Unjudged,
    }
}

/// The scores of one summary: [`recall`] and [`faithfulness`] over every scope, each under [`Measure::metric`], and
/// [`RECALL_FAITHFULNESS`] where both have a value.
pub fn scores(verdicts: &SummaryVerdicts) -> BTreeMap<MetricName, Score> {
    let recalls = Scope::OF_FACTS.map(|scope| (Measure::Recall.metric(scope), recall(verdicts, scope)));
    let faithful =
        Scope::OF_SENTENCES.map(|scope| (Measure::Faithfulness.metric(scope), faithfulness(verdicts, scope)));
    let mut scores: BTreeMap<MetricName, Score> = recalls.into_iter().chain(faithful).collect();
    let value = |name: &str| scores[&MetricName::from(name)].value(&name.into());
    let both = value(RECALL).zip(value(FAITHFULNESS));
    let is_unjudged = verdicts.facts.is_none() || verdicts.sentences.is_none();
    let both = match both {
        _ if is_unjudged => Some(Score::Unjudged),
        Some((recall, faithfulness)) => Some(Score::Value((recall + faithfulness) / 2.0)),
        None => None,
    };
    scores.extend(both.map(|score| (RECALL_FAITHFULNESS.into(), score)));
    scores
}

/// Returns how the erroneous sentences of a summary divide, under the metrics of [`ERROR_SHARES`].
pub fn error_shares(verdicts: &SummaryVerdicts) -> BTreeMap<MetricName, Score> {
    let sentences = verdicts.sentences.as_ref();
    let errors = || {
        let categories = sentences.into_iter().flatten().map(|sentence| sentence.category);
        categories.filter(|category| *category != ErrorCategory::NoError)
    };
    let of_intrinsic = |kind| share(errors().filter(|error| error.is_intrinsic()).map(|error| error == kind));
    let shares = [
        share(errors().map(|error| !error.is_intrinsic())),
        share(errors().map(ErrorCategory::is_intrinsic)),
        of_intrinsic(ErrorCategory::Relation),
        of_intrinsic(ErrorCategory::Entity),
        of_intrinsic(ErrorCategory::Sentence),
    ];
    let shares = shares.map(|share| if sentences.is_some() { share } else { Score::Unjudged });
    ERROR_SHARES.iter().zip(shares).map(|((_, name), share)| (MetricName::from(*name), share)).collect()
}

/// Returns how the scores apply to the query of a tree with facts of these levels.
pub fn applies(levels: &[Level]) -> BTreeMap<MetricName, Applies> {
    let facts = |scope: Scope| levels.iter().filter(|level| scope.has_fact(**level)).count() as u32;
    let recalls = Scope::OF_FACTS.map(|scope| (Measure::Recall.metric(scope), Applies::OutOf(facts(scope))));
    let faithful = Scope::OF_SENTENCES.map(|scope| Measure::Faithfulness.metric(scope));
    let of_answer = faithful.into_iter().chain(ERROR_SHARES.map(|(_, name)| name.into()));
    recalls.into_iter().chain(of_answer.map(|metric| (metric, Applies::OutOfAnswer))).collect()
}

/// Returns the names of the scores of levels of which a query has none of these key facts.
pub fn scores_of_nothing(facts: &[FactVerdict]) -> Vec<String> {
    let without = Scope::OF_FACTS.iter().filter(|scope| !facts.iter().any(|fact| scope.has_fact(fact.level)));
    let both = |scope: &Scope| [Measure::Recall, Measure::Faithfulness].map(|measure| measure.metric(*scope).into());
    without.flat_map(both).collect()
}

fn share(holds: impl Iterator<Item = bool>) -> Score {
    let (hit, of) = holds.fold((0, 0), |(hit, of), holds| (hit + u32::from(holds), of + 1));
    Score::Ratio { hit, of }
}

/// Names of the fifths of a book (5.1.1).
pub const FIFTHS: [&str; 5] = ["0-20%", "20-40%", "40-60%", "60-80%", "80-100%"];

/// The fifth, from 0, in which a chunk begins: `chunk` counts from 0 up to `chunks`. The paper does not say how chunks
/// fall into fifths where their number is no multiple of five.
pub fn fifth(chunk: usize, chunks: usize) -> usize {
    (FIFTHS.len() * chunk).checked_div(chunks).unwrap_or(0).min(FIFTHS.len() - 1)
}

/// The fifth, from 0, of a place in 0..=1; the end of the book belongs to the last.
pub fn fifth_at(position: f64) -> usize {
    ((position.clamp(0.0, 1.0) * FIFTHS.len() as f64) as usize).min(FIFTHS.len() - 1)
}

#[cfg(test)]
mod tests;

//! Pruning: what fails a pass goes, with everything below it (section 3.1.2, appendix C).

use super::pronoun::pronoun;
use super::tree::number;
use super::{Chunk, Criterion, FactLabel, Labels, Numbered, Tree};
use closeread_eval::KeyFact;
use closeread_eval::hamlet::{Level, Perspective};
use closeread_text::Language;
use serde::{Deserialize, Serialize};

/// A tree without what was removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pruned {
    /// Chunk that the tree is about.
    pub chunk: Chunk,
    /// Perspective, the kind of facts that the tree holds.
    pub perspective: Perspective,
    /// Facts that are left.
    pub roots: Vec<KeyFact>,
    /// Facts that were removed, by their number in the tree as it was, depth first.
    pub removed: Vec<Removed>,
}

/// A fact that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// The fact that was removed.
    #[serde(flatten)]
    pub fact: Numbered,
    /// Kind of reason for the removal.
    pub why: Removal,
    /// Reason in words; empty for an orphan.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// The reason why a fact was removed; of several reasons the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Removal {
    /// The fact fails the first pass.
    Faithfulness,
    /// The fact fails the second pass.
    Objectivity,
    /// The fact fails the third pass.
    Significance,
    /// The fact has a pronoun, where names are enforced.
    Pronoun,
    /// The fact above it was removed.
    Orphaned,
}

impl Removal {
    /// All reasons, in the order in which they are looked for.
    pub const ALL: [Self; 5] =
        [Self::Faithfulness, Self::Objectivity, Self::Significance, Self::Pronoun, Self::Orphaned];

    /// Returns the reason's name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faithfulness => "faithfulness",
            Self::Objectivity => "objectivity",
            Self::Significance => "significance",
            Self::Pronoun => "pronoun",
            Self::Orphaned => "orphaned",
        }
    }

    const fn of(criterion: Criterion) -> Self {
        match criterion {
            Criterion::Faithfulness => Self::Faithfulness,
            Criterion::Objectivity => Self::Objectivity,
            Criterion::Significance => Self::Significance,
        }
    }
}

/// Removes every fact that fails a pass or has no label in one, and everything below it; with `names_in`, the language of
/// the book, also every fact that has a pronoun.
pub fn prune(tree: &Tree, passes: &[&Labels], names_in: Option<Language>) -> Pruned {
    let mut pruning = Pruning { passes, names_in, next: 0, removed: Vec::new() };
    let roots = pruning.walk(&tree.roots, "", 0, false);
    Pruned { chunk: tree.chunk.clone(), perspective: tree.perspective, roots, removed: pruning.removed }
}

struct Pruning<'a> {
    passes: &'a [&'a Labels],
    names_in: Option<Language>,
    /// Place of the next fact in the labels.
    next: usize,
    removed: Vec<Removed>,
}

impl Pruning<'_> {
    fn walk(&mut self, facts: &[KeyFact], above: &str, depth: usize, orphaned: bool) -> Vec<KeyFact> {
        let mut left = Vec::new();
        for (idx, KeyFact { fact, children }) in facts.iter().enumerate() {
            let id = number(above, idx);
            let verdict = self.verdict(fact).or_else(|| orphaned.then(|| (Removal::Orphaned, String::new())));
            let goes = verdict.is_some() || orphaned;
            if let Some((why, reason)) = verdict {
                let level = Level::ALL[depth.min(Level::ALL.len() - 1)];
                self.removed.push(Removed {
                    fact: Numbered { id: id.clone(), level, fact: fact.clone() },
                    why,
                    reason,
                });
            }
            let children = self.walk(children, &id, depth + 1, goes);
            if !goes {
                left.push(KeyFact { fact: fact.clone(), children });
            }
        }
        left
    }

    /// Returns why the next fact fails by itself.
    fn verdict(&mut self, fact: &str) -> Option<(Removal, String)> {
        let place = self.next;
        self.next += 1;
        for (criterion, pass) in Criterion::ALL.into_iter().zip(self.passes) {
            match pass.labels.get(place).and_then(Option::as_ref) {
                Some(FactLabel { passes: true, .. }) => {}
                Some(FactLabel { reason, .. }) => return Some((Removal::of(criterion), reason.clone())),
                None => return Some((Removal::of(criterion), "it has no label".to_owned())),
            }
        }
        let word = pronoun(fact, self.names_in?)?;
        Some((Removal::Pronoun, format!("`{word}`")))
    }
}

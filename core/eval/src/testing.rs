//! Cases and summaries for tests, of this crate and of others.

use crate::Case;
use crate::hamlet::{ErrorCategory, FactVerdict, Level, Perspective, SentenceVerdict, SummaryEvaluation};

/// A case of method `m` on book `b`.
pub fn case(item: &str) -> Case {
    Case { model: "p/x".to_owned(), ..Case::new(item, "b", "m") }
}

impl Case {
    /// The same with a score.
    #[must_use]
    pub fn scored(mut self, metric: &str, score: f64) -> Self {
        self.scores.insert(metric.to_owned(), score);
        self
    }

    /// The same with a label.
    #[must_use]
    pub fn label(mut self, name: &str, value: &str) -> Self {
        self.labels.insert(name.to_owned(), value.to_owned());
        self
    }
}

/// A narrative summary of facts by level and of sentences by the levels they are aligned with.
pub fn summary(item: &str, facts: &[(Level, bool)], sentences: &[(&[Level], ErrorCategory)]) -> SummaryEvaluation {
    let sentence = |(levels, category): &(&[Level], ErrorCategory)| SentenceVerdict {
        levels: levels.iter().copied().collect(),
        category: *category,
    };
    SummaryEvaluation {
        item: item.to_owned(),
        book: "b".to_owned(),
        model: "m".to_owned(),
        perspective: Perspective::Narrative,
        position: Some(0.5),
        facts: facts.iter().map(|&(level, matched)| FactVerdict { level, matched }).collect(),
        sentences: sentences.iter().map(sentence).collect(),
        n_words: 100,
    }
}

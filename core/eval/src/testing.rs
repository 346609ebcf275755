//! Summaries for tests, of this crate and of others.

use crate::hamlet::{ErrorCategory, FactVerdict, Level, Perspective, SentenceVerdict, SummaryEvaluation};

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

//! Judged summaries for tests, of this crate and of others.

use crate::hamlet::{ErrorCategory, FactVerdict, Level, SentenceVerdict, SummaryVerdicts};

/// Makes verdicts on a summary: facts by level, sentences by the levels they are aligned with.
pub fn verdicts(facts: &[(Level, bool)], sentences: &[(&[Level], ErrorCategory)]) -> SummaryVerdicts {
    let sentence = |(levels, category): &(&[Level], ErrorCategory)| SentenceVerdict {
        levels: levels.iter().copied().collect(),
        category: *category,
    };
    SummaryVerdicts {
        facts: Some(facts.iter().map(|&(level, matched)| FactVerdict { level, matched }).collect()),
        sentences: Some(sentences.iter().map(sentence).collect()),
    }
}

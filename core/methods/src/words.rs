//! The scores of answers in words that a paper prints beside the main one.

use crate::protocol::Protocol;
use closeread_eval::answer::NOT_FOUND;
use closeread_eval::{Answer, Evaluator, Item, Outcome, Task};
use closeread_metrics::meteor::WordNet;
use closeread_metrics::{Metric, Words};
use closeread_text::Language;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Scorer of answers in words, by a protocol's metrics.
#[derive(Debug, Default)]
pub struct WordScores {
    metrics: &'static [Metric],
    evaluator: Evaluator,
}

impl WordScores {
    /// The scores of a protocol; `wordnet` is loaded if one of them needs it.
    pub fn of(protocol: &Protocol, wordnet: impl FnOnce() -> Arc<WordNet>) -> Self {
        let metrics = *protocol.metrics;
        let wordnet = metrics.contains(&Metric::Meteor).then(wordnet);
        let evaluator = Evaluator::new(metrics, Words::default(), wordnet).unwrap_or_default();
        Self { metrics, evaluator }
    }

    /// The scores of an outcome by metric name; none of what is no question in words. The words "not found" are scored as
    /// text, which counts where a report says so; what else ended without an answer has 0.
    pub fn scores(&self, item: &Item, outcome: &Outcome, language: Language) -> BTreeMap<String, f64> {
        if item.task != Task::Generative || matches!(outcome, Outcome::NotAsked { .. }) {
            return BTreeMap::new();
        }
        let answer = said(outcome).map(|text| Answer { text, choice: None });
        let spaceless = language.is_spaceless();
        let score = |metric: &Metric| {
            let value = self.evaluator.score(*metric, item, answer, spaceless)?;
            Some((metric.name().to_owned(), value))
        };
        self.metrics.iter().filter_map(score).collect()
    }
}

/// The words of an outcome as they are scored: its answer, or that the context does not hold it.
pub fn said(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::Answered { answer, .. } => Some(answer),
        Outcome::NotFound => Some(NOT_FOUND),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrativeqa_has_the_five_metrics_of_its_paper() {
        let scores = WordScores { metrics: &[Metric::F1V2, Metric::Bleu1, Metric::RougeL], ..WordScores::default() };
        let mut item = Item::new("a", "b", "Who?", Task::Generative);
        item.answers = vec!["the old miller".to_owned()];
        let of = |outcome: &Outcome| scores.scores(&item, outcome, Language::ENGLISH);
        let answered = of(&Outcome::Answered { answer: "the old miller".to_owned(), choice: None });
        assert_eq!(answered.keys().collect::<Vec<_>>(), ["bleu_1", "f1_v2", "rougeL"]);
        assert!(answered.values().all(|value| (*value - 1.0).abs() < 1e-12), "{answered:?}");
        assert!(of(&Outcome::NotFound).values().all(|value| *value == 0.0));
        assert!(of(&Outcome::NotAsked { reason: String::new() }).is_empty());
        item.answers = vec!["not found in context".to_owned()];
        let as_text = scores.scores(&item, &Outcome::NotFound, Language::ENGLISH);
        assert!((as_text["f1_v2"] - 1.0).abs() < 1e-12, "{as_text:?}");
        assert_eq!(Protocol::of("narrativeqa").metrics.len(), 5);
    }
}

//! Which metrics an item is scored by, and what an outcome is worth.

use super::{best_over, character_f1, rouge_l, token_f1};
use crate::benchmark::{Item, Task};
use crate::record::Outcome;
use std::collections::BTreeMap;

/// Scores of an outcome by metric name, each in 0..=1; empty if the item has nothing to score against.
///
/// - choice: `accuracy`;
/// - generative: `f1`, the best over the gold answers: SQuAD v1 token F1, for a Chinese text InfiniteBench's character
///   F1, since token F1 of Chinese compares whole sentences;
/// - summary: `rougeL`, the best over the references, for a Chinese text character `f1`, since ROUGE as published finds
///   no words there.
///
/// Whatever ended without an answer scores 0: each of the five papers counts such items as wrong in its main tables.
pub fn score(item: &Item, outcome: &Outcome, language: &str) -> BTreeMap<String, f64> {
    let answered = match outcome {
        Outcome::Answered { answer, choice } => Some((answer.as_str(), *choice)),
        _ => None,
    };
    let best = |metric: fn(&str, &str) -> f64| {
        answered.map_or(0.0, |(answer, _)| best_over(&item.answers, |gold| metric(answer, gold)))
    };
    let chinese = language == "zh";
    let scored = match item.task {
        Task::Choice => item.correct.map(|correct| {
            ("accuracy", f64::from(u8::from(answered.is_some_and(|(_, choice)| choice == Some(correct)))))
        }),
        _ if item.answers.is_empty() => None,
        Task::Generative | Task::Summary if chinese => Some(("f1", best(character_f1))),
        Task::Generative => Some(("f1", best(token_f1))),
        Task::Summary => Some(("rougeL", best(rouge_l))),
    };
    scored.into_iter().map(|(metric, value)| (metric.to_owned(), value)).collect()
}

//! Items and records for the tests of reports.

use super::CellKey;
use closeread_eval::Outcome;
use closeread_eval::{Item, Task};
use closeread_methods::record::{Record, TrialKey};
use std::collections::BTreeMap;

pub(super) fn item(id: &str, document: &str) -> Item {
    let mut item = Item::new(id, document, "?", Task::Choice);
    item.options = vec!["True".to_owned(), "False".to_owned()];
    item.correct = Some(0);
    item
}

pub(super) fn key(method: &str, budget: Option<usize>) -> CellKey {
    CellKey { method: method.to_owned(), model: "p/x".to_owned(), budget }
}

pub(super) fn record(key: &CellKey, id: &str, outcome: Outcome, scores: &[(&str, f64)]) -> Record {
    let CellKey { method, model, budget } = key.clone();
    Record {
        key: TrialKey { item: id.to_owned(), method, model, budget, sample: 0 },
        outcome,
        scores: scores.iter().map(|(metric, score)| ((*metric).to_owned(), *score)).collect(),
        prompt_tokens: 10,
        context: None,
        calls: Vec::new(),
        measures: BTreeMap::new(),
        evidence: None,
        asked_with: None,
        seconds: 0.5,
    }
}

pub(super) fn answered() -> Outcome {
    Outcome::Answered { answer: "True".to_owned(), choice: Some(0) }
}

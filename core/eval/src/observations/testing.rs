//! Tables for tests.

use super::{Cell, CellFacts, CellKey, Done, Ending, ItemFacts, Observation, Score};
use crate::Task;
use std::collections::BTreeMap;

/// An item about a book of its own, with nothing that is optional.
pub(super) fn item(id: &str) -> ItemFacts {
    ItemFacts {
        id: id.to_owned(),
        gold: format!("gold of {id}"),
        evidence: String::new(),
        documents: vec![format!("book of {id}")],
        labels: BTreeMap::new(),
        book_tokens: None,
        evidence_tokens: Vec::new(),
        evidence_unplaced: 0,
        metrics: BTreeMap::new(),
    }
}

fn key(method: &str) -> CellKey {
    let (configuration, model) = ("".into(), "p/x".into());
    CellKey { configuration, method: method.into(), model, budget: None, task: Task::Generative }
}

/// A cell of that method.
pub(super) fn cell(method: &str) -> Cell {
    Cell { key: key(method), facts: CellFacts::default() }
}

/// An answer with that F1.
pub(super) fn done(method: &str, item: &str, repeat: u32, f1: Option<f64>) -> Done {
    let mut done = Observation::new(key(method), item.to_owned(), repeat, Ending::Answered);
    done.scores.extend(f1.map(|f1| ("f1".into(), Score::Value(f1))));
    done
}

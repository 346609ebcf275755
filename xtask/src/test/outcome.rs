//! Outcomes of steps: how a step ended, and what it left out.

use std::collections::BTreeMap;

/// The outcome of a step that did not fail; the text goes into the table.
pub(super) enum Done {
    Passed(String),
    Skipped(String),
}

/// The tests that were not run, by their missing need.
#[derive(Default)]
pub(super) struct LeftOut(pub(super) BTreeMap<String, Vec<String>>);

impl LeftOut {
    pub(super) fn add(&mut self, lacking: &str, what: String) {
        self.0.entry(lacking.to_owned()).or_default().push(what);
    }
}

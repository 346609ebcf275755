//! Shared parts of the adapters' tests.

use super::Dataset;
use closeread_eval::{Content, InputFile};

pub(super) fn file(name: &str, text: &str) -> InputFile {
    InputFile { name: name.into(), bytes: text.as_bytes().to_vec() }
}

/// The text of a document.
pub(super) fn text(dataset: &Dataset, document: usize) -> &str {
    match &dataset.documents[document].content {
        Content::Text(text) => text,
        Content::Path(path) => panic!("{path} is not loaded"),
    }
}

/// Holds the number of usable items and every problem to what is expected.
#[track_caller]
pub(super) fn check(dataset: &Dataset, n_items: usize, problems: &[&str]) {
    let found: Vec<String> = dataset.problems.iter().map(ToString::to_string).collect();
    assert_eq!(found, problems);
    assert_eq!(dataset.items.len(), n_items);
    for item in &dataset.items {
        assert!(!item.question.trim().is_empty(), "{}", item.id);
        for id in &item.documents {
            assert!(dataset.documents.iter().any(|document| document.id == *id), "{} asks about {id}", item.id);
        }
    }
}

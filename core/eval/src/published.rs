//! A benchmark's own prompt, as its row has it.

use crate::Item;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The field of an item that holds it.
const FIELD: &str = "published";

/// The messages of a published row: what the system says, if anything, and one message of the user, in which the item's
/// documents stand by reference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// What the system says; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// What the user says, in its parts.
    pub user: Vec<Part>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Part {
    /// The text of a document, by its number among those of the item, from 0.
    Document(usize),
    /// These words.
    Words(String),
}

impl Published {
    /// That of an item, among the fields that are kept as they are; `None` without, or if it is none.
    pub fn of(item: &Item) -> Option<Self> {
        Self::deserialize(item.other.get(FIELD)?).ok()
    }

    /// Puts it among the fields of an item.
    pub fn put(&self, item: &mut Item) {
        item.other.insert(FIELD.to_owned(), json!(self));
    }
}

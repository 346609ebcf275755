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
    /// The system message; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// The parts of the user's message.
    pub user: Vec<Part>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Part {
    /// The text of a document, by its number among those of the item, from 0.
    Document(usize),
    /// A stretch of words.
    Words(String),
}

impl Published {
    /// Reads the messages from the item's fields that are kept as they are; `None` if it has none, or if they are
    /// malformed.
    pub fn of(item: &Item) -> Option<Self> {
        Self::deserialize(item.other.get(FIELD)?).ok()
    }

    /// Puts the messages among the fields of an item.
    pub fn put(&self, item: &mut Item) {
        item.other.insert(FIELD.to_owned(), json!(self));
    }
}

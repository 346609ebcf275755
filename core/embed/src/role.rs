//! Roles of texts: queries and passages.

use serde::{Deserialize, Serialize};

/// The role of a text, which side of a search it is on; some models want another prefix for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A query: what is searched for.
    Query,
    /// A passage: what is searched through.
    Passage,
}

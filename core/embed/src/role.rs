//! Queries and passages.

use serde::{Deserialize, Serialize};

/// On which side of a search a text stands; some models want another prefix for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// What is searched for.
    Query,
    /// What is searched through.
    Passage,
}

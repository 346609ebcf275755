//! Number of a shard, which says which part of a run it is.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Part `index` of `of`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// Number of the part, from 1.
    pub index: usize,
    /// Number of all parts.
    pub of: usize,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

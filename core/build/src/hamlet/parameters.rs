//! HAMLET's parameters.

use crate::About;
use closeread_eval::hamlet::Perspective;
use serde::{Deserialize, Serialize};

/// Parameters of [`hamlet`](super::hamlet).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hamlet {
    /// Most tokens that a chunk may have: 4,000 in the paper.
    pub chunk_tokens: usize,
    /// Fewest tokens of a chunk; a shorter one, as the last of a book can be, is dropped. The paper says nothing of it.
    pub least_tokens: usize,
    /// The perspectives; both in the paper.
    pub perspectives: Vec<Perspective>,
    /// A tree whose facts have pronouns is asked for once more, and facts that still have one are removed. The paper asks
    /// for proper nouns in its prompt and does nothing more.
    pub enforce_names: bool,
    /// Facts that the books state of themselves (Table 8); they change nothing that is made.
    #[serde(skip)]
    pub about: About,
}

impl Default for Hamlet {
    fn default() -> Self {
        Self {
            chunk_tokens: 4_000,
            least_tokens: 500,
            perspectives: Perspective::ALL.to_vec(),
            enforce_names: false,
            about: About::default(),
        }
    }
}

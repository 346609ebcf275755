//! Retrievers: the choice of the ranking that a method reads.

use serde::{Deserialize, Serialize};

/// The retriever, whose ranking a method reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Retriever {
    /// Cosine similarity of embeddings: what the papers use.
    Dense,
    /// BM25 over words.
    Bm25,
    /// Reciprocal rank fusion of the two.
    Hybrid,
}

impl Retriever {
    /// Returns whether embeddings are needed.
    pub fn needs_vectors(self) -> bool {
        self != Self::Bm25
    }

    /// Name as the command line takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Bm25 => "bm25",
            Self::Hybrid => "hybrid",
        }
    }
}

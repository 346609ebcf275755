//! Searching the world: another door beside [`Host`](closeread_methods::Host).

use closeread_llm::HostError;
use serde::{Deserialize, Serialize};

/// What a search brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Its title; may be empty.
    #[serde(default)]
    pub title: String,
    /// What it says, or the part that matches.
    pub text: String,
}

/// Something that searches: a search engine, or an index on disk.
#[allow(async_fn_in_trait, reason = "futures are deliberately not Send, as those of a host")]
pub trait SearchHost {
    /// How many results there are for a query.
    ///
    /// # Errors
    /// [`HostError::Failed`].
    async fn hits(&self, query: &str) -> Result<u64, HostError>;

    /// The best results for a query, best first.
    ///
    /// # Errors
    /// [`HostError::Failed`].
    async fn find(&self, query: &str) -> Result<Vec<Found>, HostError>;
}

//! Searching the world: another door beside [`Host`](closeread_methods::Host).

use closeread_llm::HostError;
use serde::{Deserialize, Serialize};

/// A result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Title of the result; may be empty.
    #[serde(default)]
    pub title: String,
    /// Text of the result, or the part that matches.
    pub text: String,
}

/// A searcher: a search engine, or an index on disk.
#[allow(async_fn_in_trait, reason = "futures are deliberately not Send, as those of a host")]
pub trait SearchHost {
    /// Returns how many results there are for a query.
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

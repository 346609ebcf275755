//! Models on servers: who serves them, how they are asked, and what they replied before.

#![forbid(unsafe_code)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod account;
pub mod batch;
mod client;
mod embeddings;
pub mod ending;
pub mod extra_body;
pub mod http;
mod model;
mod news;
mod outgoing;
mod query;
mod rerank;
pub mod response_cache;
mod secrets;
mod sending;
mod served;
mod served_providers;
mod throttle;
mod tries;
pub mod under_way;
mod wire;

pub use account::{
    Account, Address, Keys, PROVIDERS, Provider, account, check_address, check_constraint, check_name, keys,
    needs_address, reasoning_fields, required_limit, with_one_slash, without_credentials,
};
pub use batch::Batcher;
pub use client::{ChatModel, Options};
pub use embeddings::{EmbeddingAccount, EmbeddingProvider, EmbeddingServer, is_served, served_by};
pub use model::Model;
pub use outgoing::{Beginnings, Outgoing, Source};
pub use query::{query_hash, told_apart};
pub use rerank::{RerankAccount, RerankProvider, RerankServer, rerank_provider, reranked_by};
pub use secrets::Secrets;
pub use sending::sent;
pub use served::{Asked, Kind, ModelServer, ServedAccount, ServedProvider};
pub use served_providers::{EMBEDDING_PROVIDERS, RERANK_PROVIDERS};
pub use throttle::{Permit, Rates};
pub use tries::{Bill, Tries, Uncounted};

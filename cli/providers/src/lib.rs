//! Models on servers: who serves them, how they are asked, and what they replied before.

/// `eprintln!` in the place of the standard library's: what it says does not steer the terminal.
macro_rules! eprintln {
    ($($argument:tt)*) => {
        closeread_terminal::say(format_args!("{}\n", format_args!($($argument)*)))
    };
}

mod account;
pub mod batch;
mod client;
mod embeddings;
pub mod ending;
pub mod extra_body;
pub mod http;
mod outgoing;
mod reader;
pub mod reply_cache;
mod sending;
mod throttle;
pub mod under_way;
mod wire;

pub use account::{
    Account, Keys, PROVIDERS, Provider, account, check_address, check_name, keys, needs_address, without_credentials,
};
pub use batch::Batcher;
pub use client::{ChatModel, Options};
pub use embeddings::{EMBEDDING_PROVIDERS, EmbeddingAccount, EmbeddingProvider, EmbeddingServer, is_served, served_by};
pub use outgoing::{Beginnings, Outgoing, Source};
pub use reader::Reader;
pub use throttle::{Permit, Rates};

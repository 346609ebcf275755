//! closeread-core for JavaScript: conversions, no algorithm.
//!
//! Every result is the JSON that the command line prints for the same input. Errors are JavaScript `Error`s whose
//! `name` is stable and whose `message` says what was expected and what to do.
//!
//! With the default feature `page` it is the module of the page; without it the scorer alone, which other pages embed.

#[cfg(feature = "page")]
mod audit;
#[cfg(feature = "page")]
mod books;
mod error;
#[cfg(feature = "page")]
mod method;
mod options;
#[cfg(feature = "page")]
mod provider;
mod score;

#[cfg(feature = "page")]
pub use audit::audit_json;
#[cfg(feature = "page")]
pub use books::{OpenBook, chunk, search};
#[cfg(feature = "page")]
pub use method::{MethodRun, changes, methods};
#[cfg(feature = "page")]
pub use provider::ChatModel;
pub use score::{score, score_format, score_format_json, score_json};

//! NovelQA: questions on English novels by aspect and complexity.

#[cfg(feature = "data-sets")]
mod novels;
mod questions;

#[cfg(feature = "data-sets")]
pub use novels::{ADAPTER, read};
pub(crate) use questions::items;
pub use questions::{ASPECTS, COMPLEXITIES};

//! Readers that are no language model.

mod extractive;

pub use extractive::answer;

/// The reader's name, as `--model` takes it.
pub const EXTRACTIVE: &str = "builtin/extractive";

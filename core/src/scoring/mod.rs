//! From predictions to a scorecard: what was predicted, what it is worth, and what is missing.

pub mod format;
mod submission;

pub use submission::{Attempt, Problems, Submission};

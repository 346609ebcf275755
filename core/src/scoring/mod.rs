//! From predictions to a scorecard: what was predicted, what it is worth, and what is missing.

mod submission;

pub use submission::{Attempt, Problems, Submission};

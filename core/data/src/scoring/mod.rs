//! Scoring, from predictions to a scorecard: what was predicted, what it is worth, and what is missing.

pub mod format;
pub mod prediction;
mod score;
mod scorecard;
mod submission;
mod tables;

pub use score::{Options, ScoreError, score};
pub use scorecard::{Group, PolicyScores, Scorecard, ScoredItem, ScoredLedger};
pub use submission::{Attempt, Problems, Submission};

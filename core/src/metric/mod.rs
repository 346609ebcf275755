//! Numbers from answers and retrieved passages. Every metric names the implementation it reproduces.

pub mod evidence;
mod f1;
pub mod meteor;
mod name;
mod rouge;
mod score;

pub use f1::{character_f1, token_f1};
pub use name::{Metric, UnknownMetric};
pub use rouge::rouge_l;
pub use score::score;

/// The best of `score` over several acceptable answers; 0 if there is none.
pub fn best_over(references: &[String], score: impl Fn(&str) -> f64) -> f64 {
    references.iter().map(|reference| score(reference)).fold(0.0, f64::max)
}

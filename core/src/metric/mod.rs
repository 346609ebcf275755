//! Numbers from answers and retrieved passages. Every metric names the implementation it reproduces.

pub mod bleu;
mod citation;
mod evaluate;
pub mod evidence;
mod f1;
mod hashed;
pub mod meteor;
mod name;
mod normalize;
mod pair;
mod prf;
mod recorded;
pub mod rouge;
mod tokens;
mod words;

pub use citation::citation_recall;
pub use evaluate::{Answer, Evaluator, NoWordNet, default_metrics, is_chinese, score};
pub use f1::{
    MemAgentScore, SquadScore, character_f1, infinitebench_en_f1, infinitebench_zh_f1, memagent_score, squad_v1,
    squad_v2, token_f1,
};
pub use hashed::{HashedAnswer, hashed};
pub use name::{Metric, UnknownMetric};
pub(crate) use normalize::split_at_articles;
pub use normalize::{infinitebench_zh_normalize, squad_normalize};
pub use pair::{ClaimScore, PAIR, pair_scores};
pub use prf::Prf;
pub use recorded::{Shown, recorded_scores};
pub use rouge::rouge_l;
pub use words::Words;

/// The best of `score` over several acceptable answers; 0 if there is none.
pub fn best_over(references: &[String], score: impl Fn(&str) -> f64) -> f64 {
    references.iter().map(|reference| score(reference)).fold(0.0, f64::max)
}

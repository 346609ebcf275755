//! Numbers from answers, and how far they can be trusted. Every metric names the implementation it reproduces.

#![forbid(unsafe_code)]

pub mod bleu;
mod f1;
mod hashed;
pub mod meteor;
mod name;
mod normalize;
mod prf;
pub mod random;
pub mod rouge;
pub mod stats;
mod tokens;
mod words;

pub use f1::{MemAgentScore, SquadScore, infinitebench_en_f1, infinitebench_zh_f1, memagent_score, squad_v1, squad_v2};
pub use hashed::{HashedAnswer, hashed};
pub use name::{Metric, UnknownMetric};
pub use normalize::{infinitebench_zh_normalize, split_at_articles, squad_normalize};
pub use prf::Prf;
pub use rouge::rouge_l;
pub use words::Words;

//! Text to vectors: model descriptions and the backends that run them.

#![forbid(unsafe_code)]

#[cfg(feature = "encoder")]
pub mod checkpoint;
#[cfg(feature = "encoder")]
pub mod encoder;
mod error;
#[cfg(feature = "tokenizer-json")]
mod fallback;
mod model;
pub mod onnx;
#[cfg(feature = "tokenizer-json")]
mod plan;
mod reranked;
mod role;
pub mod rows;
mod served;
#[cfg(feature = "tokenizer-json")]
mod texts;
#[cfg(feature = "tokenizer-json")]
mod tokens;
mod vectors;

pub use error::{EmbedError, unknown_token};
#[cfg(feature = "tokenizer-json")]
pub use fallback::{Fallback, LoadSecond};
pub use model::{Check, Hub, ModelSpec, Pooling};
#[cfg(feature = "tokenizer-json")]
pub use plan::{Bucket, Unit, plan, plan_in_order};
pub use reranked::PairScores;
pub use role::Role;
pub use served::ServedSpec;
#[cfg(feature = "tokenizer-json")]
pub use texts::{Backend, Embedded, EmbeddingModel, gather, normalized, pool};
#[cfg(feature = "tokenizer-json")]
pub use tokens::{PairIds, TextTokenizer, TokenIds};
pub use vectors::Vectors;

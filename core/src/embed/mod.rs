//! Text to vectors: model descriptions and the backends that run them.

#[cfg(feature = "encoder")]
pub mod checkpoint;
#[cfg(feature = "encoder")]
pub mod encoder;
mod error;
mod model;
pub mod onnx;
mod plan;
mod served;
mod texts;
mod tokens;
#[cfg(feature = "tract")]
pub mod tract;
mod vectors;

pub use error::EmbedError;
pub use model::{Check, Hub, ModelSpec, Pooling};
pub use plan::{Bucket, Unit, plan, plan_in_order};
pub use served::ServedSpec;
pub use texts::{Backend, Embedded, Encoder, gather, normalized, pool};
pub use tokens::{TextTokenizer, TokenIds};
pub use vectors::Vectors;

use serde::{Deserialize, Serialize};

/// On which side of a search a text stands; some models want another prefix for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// What is searched for.
    Query,
    /// What is searched through.
    Passage,
}

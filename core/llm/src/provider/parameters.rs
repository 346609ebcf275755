//! What a request asks besides its call.

use super::dialect::Dialect;
use serde_json::{Map, Value};

/// What a request asks besides the [`crate::Call`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    /// The model, as the provider names it.
    pub model: String,
    /// Sampling seed, where the provider takes one (Anthropic does not).
    pub seed: Option<u64>,
    /// Whether the response is to come in pieces.
    pub stream: bool,
    /// Further fields of the body, merged last; objects are merged field by field.
    pub extra_body: Map<String, Value>,
    /// What the model turned out to refuse.
    pub dialect: Dialect,
}

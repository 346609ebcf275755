//! Parameters that a request has besides its call.

use super::dialect::Dialect;
use serde_json::{Map, Value};

/// The parameters that a request has besides the [`crate::Call`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    /// The model, as the provider names it.
    pub model: String,
    /// Sampling seed, where the provider takes one (Anthropic does not).
    pub seed: Option<u64>,
    /// Whether the response must come in pieces.
    pub stream: bool,
    /// Further fields of the body, merged last; objects are merged field by field.
    pub extra_body: Map<String, Value>,
    /// Dialect of the model, learnt from its refusals.
    pub dialect: Dialect,
}

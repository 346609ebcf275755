//! A model is described by data: no code knows a model's name.

use super::Role;
use serde::{Deserialize, Serialize};

/// What must be known of an embedding model to use it as its authors meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// Name, as `--embedder` takes it.
    pub name: String,
    /// Numbers in a vector.
    pub dimension: usize,
    /// Longest input in tokens of the model, special tokens included; longer input is cut and counted.
    pub max_tokens: usize,
    /// How the last hidden states become one vector.
    pub pooling: Pooling,
    /// Written before a query.
    #[serde(default)]
    pub query_prefix: String,
    /// Written before a passage.
    #[serde(default)]
    pub passage_prefix: String,
    /// Whether vectors are scaled to length 1. Every cosine here is a dot product, so this is rarely `false`.
    #[serde(default = "yes")]
    pub normalize: bool,
    /// Languages it is meant for (ISO 639-1); empty means: any.
    #[serde(default)]
    pub languages: Vec<String>,
}

fn yes() -> bool {
    true
}

/// How the last hidden states become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean over the tokens of the text, padding excluded.
    Mean,
    /// The state of the first token.
    Cls,
}

impl ModelSpec {
    /// What is written before a text of this role.
    pub fn prefix(&self, role: Role) -> &str {
        match role {
            Role::Query => &self.query_prefix,
            Role::Passage => &self.passage_prefix,
        }
    }

    /// Whether the model is meant for a language (ISO 639-1).
    pub fn speaks(&self, language: &str) -> bool {
        self.languages.is_empty() || self.languages.iter().any(|l| l == language)
    }
}

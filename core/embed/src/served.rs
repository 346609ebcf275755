//! Description of an embedding model that a server computes.

use super::model::toml_problem;
use super::role::Role;
use super::{EmbedError, ModelSpec};
use serde::{Deserialize, Serialize};

/// An embedding model on a server: pooling and weights are the server's business, prefixes and the longest input are not.
///
/// As TOML this is what `--embedder-spec` takes:
///
/// ```toml
/// max_tokens = 512                # longest input, special tokens included
/// tokenizer = "tokenizer.json"    # beside this file; or "cl100k", "o200k"
/// query_prefix = "query: "
/// passage_prefix = "passage: "
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServedSpec {
    /// Numbers in a vector; learnt from the server where it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimension: Option<usize>,
    /// Longest input in tokens of the model, special tokens included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<usize>,
    /// Tokenizer that counts these tokens: the path of a `tokenizer.json`, `cl100k` or `o200k`. With `max_tokens`,
    /// longer texts are cut before they are sent, and counted; without it the server has to refuse them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// Text that is written before a query.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub query_prefix: String,
    /// Text that is written before a passage.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub passage_prefix: String,
    /// Languages that the model is meant for (ISO 639-1); empty means: any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<String>,
}

/// Models that only their makers serve: name, numbers in a vector. They read 8,191 tokens of cl100k
/// (model_prices_and_context_window.json of BerriAI/litellm at 00035b69) and take no prefix.
const OPENAI: [(&str, usize); 3] =
    [("text-embedding-3-small", 1536), ("text-embedding-3-large", 3072), ("text-embedding-ada-002", 1536)];
const OPENAI_MAX_TOKENS: usize = 8191;

impl ServedSpec {
    /// Returns the description of a model that is known out of the box: OpenAI's, and those of [`ModelSpec::built_in`],
    /// which are known by the last part of the name that a server gives them.
    pub fn named(model: &str) -> Option<Self> {
        if let Some((_, dimension)) = OPENAI.iter().find(|(name, _)| *name == model) {
            return Some(Self {
                dimension: Some(*dimension),
                max_tokens: Some(OPENAI_MAX_TOKENS),
                tokenizer: Some("cl100k".to_owned()),
                ..Self::default()
            });
        }
        ModelSpec::named(model.rsplit('/').next()?).map(Self::from)
    }

    /// Reads a description; `file` names it in errors.
    ///
    /// # Errors
    /// [`EmbedError::Spec`] if it is not TOML of this shape (unknown keys included), if a size is too
    /// small, or if a tokenizer is named without `max_tokens`.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, EmbedError> {
        let wrong = |problem: String| EmbedError::Spec { name: file.to_owned(), problem };
        let spec: Self = toml::from_str(text).map_err(|error| wrong(toml_problem(text, &error)))?;
        if spec.dimension == Some(0) {
            return Err(wrong("`dimension` must be at least 1".to_owned()));
        }
        if spec.max_tokens.is_some_and(|n| n < 8) {
            return Err(wrong("`max_tokens` must be at least 8: special tokens and prefix need room".to_owned()));
        }
        if spec.tokenizer.is_some() && spec.max_tokens.is_none() {
            return Err(wrong("`tokenizer` counts up to `max_tokens`, which is not said".to_owned()));
        }
        Ok(spec)
    }

    /// Returns the text that is written before a text of this role.
    pub fn prefix(&self, role: Role) -> &str {
        match role {
            Role::Query => &self.query_prefix,
            Role::Passage => &self.passage_prefix,
        }
    }

    /// Returns whether the model is meant for a language (ISO 639-1).
    pub fn speaks(&self, language: &str) -> bool {
        self.languages.is_empty() || self.languages.iter().any(|l| l == language)
    }
}

impl From<ModelSpec> for ServedSpec {
    fn from(spec: ModelSpec) -> Self {
        Self {
            dimension: Some(spec.dimension),
            max_tokens: Some(spec.max_tokens),
            tokenizer: None,
            query_prefix: spec.query_prefix,
            passage_prefix: spec.passage_prefix,
            languages: spec.languages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_the_name_that_servers_give_it() {
        let e5 = ServedSpec::named("intfloat/multilingual-e5-large").unwrap();
        assert_eq!((e5.prefix(Role::Query), e5.prefix(Role::Passage)), ("query: ", "passage: "));
        assert_eq!((e5.dimension, e5.max_tokens), (Some(1024), Some(512)));
        let small = ServedSpec::named("text-embedding-3-small").unwrap();
        assert_eq!((small.dimension, small.tokenizer.as_deref()), (Some(1536), Some("cl100k")));
        assert_eq!(ServedSpec::named("Qwen/Qwen3-Embedding-8B"), None);
    }

    #[test]
    fn a_description_says_only_what_it_knows() {
        let text = "max_tokens = 512\ntokenizer = 'tokenizer.json'\nquery_prefix = 'q: '\n";
        let spec = ServedSpec::from_toml("m.toml", text).unwrap();
        assert_eq!((spec.max_tokens, spec.dimension, spec.prefix(Role::Passage)), (Some(512), None, ""));
        for (wrong, word) in [
            ("dimension = 0", "dimension"),
            ("max_tokens = 3", "max_tokens"),
            ("tokenizer = 'cl100k'", "max_tokens"),
            ("prefix = 'q: '", "prefix"),
        ] {
            let message = ServedSpec::from_toml("m.toml", wrong).unwrap_err().to_string();
            assert!(message.contains(word) && message.contains("m.toml"), "{message}");
        }
    }

    #[test]
    fn finding_15_a_key_in_a_description_is_not_repeated() {
        for wrong in
            ["api_key = 'sk-planted'", "tokenizer = 'sk-planted", "max_tokens = 'sk-planted'", "x = 'sk-planted' y"]
        {
            let message = ServedSpec::from_toml("m.toml", &format!("\n{wrong}\n")).unwrap_err().to_string();
            assert!(message.contains("`m.toml`: line 2: ") && !message.contains("planted"), "{message}");
        }
    }
}

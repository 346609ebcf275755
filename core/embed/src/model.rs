//! A model is described by data: no code knows a model's name.

use super::EmbedError;
use super::role::Role;
use serde::{Deserialize, Serialize};

/// The description of an embedding model: what must be known to use it as its authors meant.
///
/// As TOML this is a model's `model.toml`; the three under `core/embed/assets/models` are the worked examples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ModelFacts"))]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// Name, as `--embedder` takes it.
    pub name: String,
    /// Number of values in a vector.
    pub dimension: usize,
    /// Longest input in tokens of the model, special tokens included; longer input is cut and counted.
    pub max_tokens: usize,
    /// Pooling, by which the last hidden states become one vector.
    pub pooling: Pooling,
    /// Text that is written before a query.
    #[serde(default)]
    pub query_prefix: String,
    /// Text that is written before a passage.
    #[serde(default)]
    pub passage_prefix: String,
    /// Whether vectors are scaled to length 1. Every cosine here is a dot product, so this is rarely `false`.
    #[serde(default = "yes")]
    pub normalize: bool,
    /// Languages that the model is meant for (ISO 639-1); empty means: any.
    #[serde(default)]
    pub languages: Vec<String>,
    /// Repository where the model's files can be fetched; absent for a model that only exists as a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hub: Option<Hub>,
    /// A similarity known from another implementation, which `model verify` recomputes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
}

fn yes() -> bool {
    true
}

/// A repository on a Hugging Face hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Hub {
    /// Name of the repository, `owner/name`.
    pub repo: String,
    /// Branch, tag or commit.
    #[serde(default = "main")]
    pub revision: String,
    /// Licence of the weights (SPDX).
    pub licence: String,
}

fn main() -> String {
    "main".to_owned()
}

/// The cosine of two passages as another implementation computes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Text of the first passage.
    pub a: String,
    /// Text of the second passage.
    pub b: String,
    /// Cosine of the passages with the published weights in f32, -1..1.
    pub cosine: f64,
    /// Tolerance: how far rounded weights may move the cosine.
    pub tolerance: f64,
}

/// The way in which the last hidden states become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean over the tokens of the text, special tokens included, padding excluded (sentence-transformers).
    Mean,
    /// The state of the first token.
    Cls,
}

/// The description of the model that ships with closeread, and of two that the papers use.
const BUILT_IN: [&str; 3] = [
    include_str!("../assets/models/all-MiniLM-L6-v2.toml"),
    include_str!("../assets/models/snowflake-arctic-embed-m-v1.5.toml"),
    include_str!("../assets/models/multilingual-e5-large.toml"),
];

impl ModelSpec {
    /// The models described out of the box: all-MiniLM-L6-v2, snowflake-arctic-embed-m-v1.5 (Stronger Baselines, for
    /// DOS RAG) and multilingual-e5-large (SagaScale, for naive RAG).
    pub fn built_in() -> Vec<Self> {
        BUILT_IN.iter().map(|text| Self::from_toml("built-in", text).expect("a test reads all of them")).collect()
    }

    /// The built-in description of a name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::built_in().into_iter().find(|spec| spec.name == name)
    }

    /// Reads a description; `file` names it in errors.
    ///
    /// # Errors
    /// [`EmbedError::Spec`] if it is not TOML of this shape (unknown keys included), or if a size is 0.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, EmbedError> {
        let spec: Self = toml::from_str(text)
            .map_err(|error| EmbedError::Spec { name: file.to_owned(), problem: toml_problem(text, &error) })?;
        let problem = if let Err(problem) = Self::check_name(&spec.name) {
            problem
        } else if spec.dimension == 0 {
            "`dimension` must be at least 1"
        } else if spec.max_tokens < 8 {
            "`max_tokens` must be at least 8: special tokens and prefix need room"
        } else {
            return Ok(spec);
        };
        Err(EmbedError::Spec { name: file.to_owned(), problem: problem.to_owned() })
    }

    /// Refuses a name that no folder of a model can have.
    ///
    /// # Errors
    /// With what is wrong with it.
    pub fn check_name(name: &str) -> Result<(), &'static str> {
        if name.is_empty() || name.contains(|c: char| matches!(c, '/' | '\\' | ':') || c.is_control()) {
            Err("`name` must be a plain folder name")
        } else if name.starts_with('.') {
            Err("`name` must not start with a dot")
        } else {
            Ok(())
        }
    }

    /// The description as TOML, which [`ModelSpec::from_toml`] reads back unchanged.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(self).expect("strings and numbers only")
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

/// Says what is wrong with a TOML file, and where; without the value in which it is wrong, which can be a key in a
/// place where none belongs.
pub(crate) fn toml_problem(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |at| text[..at.start].matches('\n').count() + 1);
    let message = error.message();
    match (message.split_once(": string \""), message.rfind(", expected ")) {
        (Some((kind, _)), Some(at)) => format!("line {line}: {kind}: string{}", &message[at..]),
        _ => format!("line {line}: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_descriptions_parse_and_survive_a_round_trip() {
        let specs = ModelSpec::built_in();
        assert_eq!(specs.len(), BUILT_IN.len());
        for spec in specs {
            assert_eq!(ModelSpec::from_toml("round trip", &spec.to_toml()), Ok(spec));
        }
    }

    #[test]
    fn prefixes_go_where_the_model_cards_say() {
        let arctic = ModelSpec::named("snowflake-arctic-embed-m-v1.5").expect("built in");
        assert_eq!(arctic.prefix(Role::Query), "Represent this sentence for searching relevant passages: ");
        assert_eq!(arctic.prefix(Role::Passage), "");
        let e5 = ModelSpec::named("multilingual-e5-large").expect("built in");
        assert_eq!((e5.prefix(Role::Query), e5.prefix(Role::Passage)), ("query: ", "passage: "));
        assert!(e5.speaks("zh") && !arctic.speaks("zh"));
    }

    #[test]
    fn refuses_what_cannot_work() {
        let good = "name = 'm'\ndimension = 4\nmax_tokens = 16\npooling = 'mean'\n";
        assert!(ModelSpec::from_toml("m.toml", good).is_ok());
        for (wrong, word) in [
            (good.replace("= 4", "= 0"), "dimension"),
            (good.replace("= 16", "= 3"), "max_tokens"),
            (good.replace("'m'", "'../m'"), "name"),
            (good.replace("'mean'", "'max'"), "max"),
            (format!("{good}poling = 1\n"), "poling"),
        ] {
            let message = ModelSpec::from_toml("m.toml", &wrong).expect_err("refused").to_string();
            assert!(message.contains(word) && message.contains("m.toml"), "{message}");
        }
    }
}

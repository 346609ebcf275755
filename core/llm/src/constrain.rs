//! Constraints: how a server is asked to hold a response to the form that its prompt asks for.

use crate::provider::Protocol;
use closeread_eval::reading::Shape;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;
use std::str::FromStr;

/// The means by which a server holds a response to its form. No paper does so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Constraint {
    /// A JSON schema, whose response is put into the form afterwards: OpenAI, Anthropic, Gemini, and servers of OpenAI's protocol
    /// such as vLLM, SGLang and llama.cpp.
    Json,
    /// A grammar in GBNF: llama.cpp.
    Grammar,
    /// A regular expression: vLLM, by `structured_outputs`.
    Regex,
}

impl Constraint {
    /// All constraints.
    pub const ALL: [Self; 3] = [Self::Json, Self::Grammar, Self::Regex];

    /// Returns the constraint's name in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Grammar => "grammar",
            Self::Regex => "regex",
        }
    }

    /// Returns whether servers of this protocol can hold a response by the constraint: `hosted` is true of a provider's
    /// own.
    pub fn fits(self, protocol: Protocol, hosted: bool) -> bool {
        self == Self::Json || (protocol == Protocol::OpenAi && !hosted)
    }

    /// The fields of a request that hold its response to the shape.
    pub fn fields(self, protocol: Protocol, shape: &Shape) -> Map<String, Value> {
        let fields = match (self, protocol) {
            (Self::Grammar, _) => json!({ "grammar": shape.grammar() }),
            (Self::Regex, _) => json!({ "structured_outputs": { "regex": shape.pattern() } }),
            // https://developers.openai.com/api/docs/guides/structured-outputs
            (Self::Json, Protocol::OpenAi) => json!({ "response_format": {
                "type": "json_schema",
                "json_schema": { "name": "response", "strict": true, "schema": shape.schema() },
            } }),
            // https://platform.claude.com/docs/en/build-with-claude/structured-outputs
            (Self::Json, Protocol::Anthropic) => {
                json!({ "output_config": { "format": { "type": "json_schema", "schema": shape.schema() } } })
            }
            // https://ai.google.dev/gemini-api/docs/structured-output
            (Self::Json, Protocol::Gemini) => json!({ "generationConfig": {
                "responseMimeType": "application/json",
                "responseJsonSchema": shape.schema(),
            } }),
        };
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Constraint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|known| known.name() == text);
        known.ok_or_else(|| "expected json, grammar or regex".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::Task;
    use closeread_eval::answer::Form;
    use closeread_eval::reading::{Expected, ExtractiveInput};

    #[test]
    fn each_server_has_a_field_of_its_own() {
        let input = ExtractiveInput {
            task: Task::Generative,
            ..ExtractiveInput::summary(Vec::new(), Expected::Answer(Form::Tags), "en".parse().unwrap())
        };
        let shape = input.shape().unwrap();
        let fields = |constraint: Constraint, protocol| Value::Object(constraint.fields(protocol, &shape));
        let by_openai = fields(Constraint::Json, Protocol::OpenAi);
        assert_eq!(by_openai["response_format"]["json_schema"]["schema"], shape.schema());
        assert_eq!(by_openai["response_format"]["json_schema"]["strict"], true);
        let by_gemini = fields(Constraint::Json, Protocol::Gemini);
        assert_eq!(by_gemini["generationConfig"]["responseJsonSchema"], shape.schema());
        let by_anthropic = fields(Constraint::Json, Protocol::Anthropic);
        assert_eq!(by_anthropic["output_config"]["format"]["schema"], shape.schema());
        assert_eq!(fields(Constraint::Grammar, Protocol::OpenAi)["grammar"], shape.grammar());
        assert_eq!(fields(Constraint::Regex, Protocol::OpenAi)["structured_outputs"]["regex"], shape.pattern());
        assert!(!Constraint::Grammar.fits(Protocol::Gemini, true) && !Constraint::Regex.fits(Protocol::OpenAi, true));
        assert!(Constraint::Grammar.fits(Protocol::OpenAi, false) && Constraint::Json.fits(Protocol::Anthropic, true));
        assert!("schema".parse::<Constraint>().is_err());
    }
}

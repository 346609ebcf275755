//! Reasoning: how much a model is to reason before it answers, in the field that its provider has for it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;
use std::str::FromStr;

/// Least tokens of reasoning that Anthropic takes.
const LEAST_BUDGET: u32 = 1024;
/// Tokens of low, medium and high where a model takes tokens alone: as Google's layer for OpenAI's protocol has it
/// (<https://ai.google.dev/gemini-api/docs/openai>).
const LOW_MEDIUM_HIGH: [u32; 3] = [1024, 8192, 24_576];

/// The reasoning effort that a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "Given")]
pub enum Reasoning {
    /// No reasoning.
    Off,
    /// A little reasoning.
    Low,
    /// Medium reasoning.
    Medium,
    /// Much reasoning.
    High,
    /// Reasoning of up to this number of tokens.
    Tokens(u32),
}

/// The server of a model, as far as its reasoning is asked for in different fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// OpenAI: `reasoning_effort` (<https://developers.openai.com/api/docs/guides/reasoning>).
    OpenAi,
    /// Anthropic: `thinking`, and `output_config.effort` from Claude 4.6 on
    /// (<https://platform.claude.com/docs/en/build-with-claude/extended-thinking> and `.../adaptive-thinking`).
    Anthropic,
    /// Google: `thinkingConfig.thinkingLevel` from Gemini 3 on, `thinkingBudget` before
    /// (<https://ai.google.dev/gemini-api/docs/thinking>).
    Gemini,
    /// A server of OpenAI's protocol that hands `chat_template_kwargs` to the model's chat template: vLLM
    /// (<https://docs.vllm.ai/en/latest/features/reasoning_outputs/>), SGLang
    /// (<https://docs.sglang.io/docs/advanced_features/thinking_budget>), llama.cpp. Templates name the switch `enable_thinking`
    /// (Qwen3, GLM) or `thinking` (DeepSeek-V3.1, Granite); both are sent. `reasoning_effort` says how much.
    ChatTemplate,
}

/// The reason why a model cannot be asked so, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoSuchReasoning(String);

impl Reasoning {
    /// The fields of a request that ask `model` for it.
    ///
    /// # Errors
    /// [`NoSuchReasoning`] where it is known that the model has no such thing. What is not known is sent; the server says so
    /// if it refuses.
    pub fn fields(self, server: Server, model: &str) -> Result<Map<String, Value>, NoSuchReasoning> {
        let fields = match server {
            Server::OpenAi => self.openai(model),
            Server::Anthropic => self.anthropic(model),
            Server::Gemini => self.gemini(model),
            Server::ChatTemplate => self.chat_template(),
        };
        match fields.map_err(|why| NoSuchReasoning(format!("reasoning {self}: {model} {why}")))? {
            Value::Object(fields) => Ok(fields),
            _ => Ok(Map::new()),
        }
    }

    /// Returns whether the model reasons at all.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }

    /// The level as a word; `None` for a number of tokens.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::Off => Some("off"),
            Self::Low => Some("low"),
            Self::Medium => Some("medium"),
            Self::High => Some("high"),
            Self::Tokens(_) => None,
        }
    }

    /// Tokens of reasoning, where a model takes tokens alone.
    fn tokens(self) -> u32 {
        let [low, medium, high] = LOW_MEDIUM_HIGH;
        match self {
            Self::Off => 0,
            Self::Low => low,
            Self::Medium => medium,
            Self::High => high,
            Self::Tokens(tokens) => tokens,
        }
    }

    fn openai(self, model: &str) -> Result<Value, &'static str> {
        const NO_TOKENS: &str = "takes no number of tokens: name low, medium or high";
        let name = model.strip_prefix("ft:").unwrap_or(model);
        let begins = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
        // Before GPT-5.1 nothing could be switched off.
        let always = name == "gpt-5" || begins(&["gpt-5-", "o1", "o3", "o4"]);
        match self {
            Self::Off if begins(&["gpt-4", "gpt-3"]) => Ok(Value::Null),
            _ if begins(&["gpt-4", "gpt-3"]) => Err("does not reason: leave the option out, or say off"),
            Self::Off if always => Err("always reasons: low is the least it takes here"),
            Self::Off => Ok(json!({ "reasoning_effort": "none" })),
            level => level.word().map(|word| json!({ "reasoning_effort": word })).ok_or(NO_TOKENS),
        }
    }

    fn anthropic(self, model: &str) -> Result<Value, &'static str> {
        const TOO_FEW: &str = "takes 1024 tokens or more";
        let version = claude_version(model);
        let (no_reasoning, adaptive) = (version < Some((3, 7)) && version.is_some(), version >= Some((4, 6)));
        let always = ["fable", "mythos"].iter().any(|family| model.contains(family));
        match self {
            Self::Off if always => Err("always reasons: low is the least it takes"),
            Self::Off if no_reasoning => Ok(Value::Null),
            Self::Off => Ok(json!({ "thinking": { "type": "disabled" } })),
            _ if no_reasoning => Err("does not reason: leave the option out, or say off"),
            Self::Tokens(tokens) if tokens < LEAST_BUDGET => Err(TOO_FEW),
            // The two models of 4.6 take both.
            Self::Tokens(_) if version > Some((4, 6)) => Err("takes no number of tokens: name low, medium or high"),
            Self::Low | Self::Medium | Self::High if adaptive => {
                Ok(json!({ "thinking": { "type": "adaptive" }, "output_config": { "effort": self.word() } }))
            }
            level => Ok(json!({ "thinking": { "type": "enabled", "budget_tokens": level.tokens() } })),
        }
    }

    fn gemini(self, model: &str) -> Result<Value, &'static str> {
        let config = |value: Value| Ok(json!({ "generationConfig": { "thinkingConfig": value } }));
        let old = ["gemini-1", "gemini-2.0"].iter().any(|begin| model.starts_with(begin));
        let budgets = model.starts_with("gemini-2.5");
        match self {
            Self::Off if old => Ok(Value::Null),
            _ if old => Err("does not reason: leave the option out, or say off"),
            Self::Off if budgets && !model.contains("pro") => config(json!({ "thinkingBudget": 0 })),
            Self::Off => Err("always reasons: low is the least it takes"),
            level if budgets => config(json!({ "thinkingBudget": level.tokens() })),
            level => match level.word() {
                Some(word) => config(json!({ "thinkingLevel": word })),
                None => Err("takes no number of tokens: name low, medium or high"),
            },
        }
    }

    fn chat_template(self) -> Result<Value, &'static str> {
        let switch = json!({ "enable_thinking": self.is_on(), "thinking": self.is_on() });
        match self {
            Self::Off => Ok(json!({ "chat_template_kwargs": switch })),
            Self::Tokens(_) => {
                Err("is on a server that may pass over a number of tokens without a word: name low, medium or \
                                    high, or add the server's own field to the request's body (vLLM: thinking_token_budget)")
            }
            level => Ok(json!({ "chat_template_kwargs": switch, "reasoning_effort": level.word() })),
        }
    }
}

/// Major and minor version in the name of a Claude model, the family before it (`claude-sonnet-4-5-20250929`) or behind it
/// (`claude-3-7-sonnet-20250219`); a date is no version.
fn claude_version(model: &str) -> Option<(u32, u32)> {
    let mut parts = model.split('-').skip_while(|part| part.parse::<u32>().is_err());
    let number = |part: Option<&str>| part.filter(|part| part.len() < 3).and_then(|part| part.parse().ok());
    Some((number(parts.next())?, number(parts.next()).unwrap_or(0)))
}

impl fmt::Display for Reasoning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.word(), self) {
            (Some(word), _) => f.write_str(word),
            (None, level) => write!(f, "{}", level.tokens()),
        }
    }
}

impl FromStr for Reasoning {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named =
            [Self::Off, Self::Low, Self::Medium, Self::High].into_iter().find(|level| level.word() == Some(text));
        let tokens = || text.parse().ok().filter(|tokens| (1..=10_000_000).contains(tokens)).map(Self::Tokens);
        named
            .or_else(tokens)
            .ok_or_else(|| "expected off, low, medium, high, or tokens from 1 to 10,000,000".to_owned())
    }
}

impl From<Reasoning> for String {
    fn from(reasoning: Reasoning) -> Self {
        reasoning.to_string()
    }
}

/// A reasoning effort as a config file gives it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected off, low, medium, high, or a number of tokens")]
enum Given {
    Tokens(u32),
    Text(String),
}

impl TryFrom<Given> for Reasoning {
    type Error = String;

    fn try_from(given: Given) -> Result<Self, String> {
        match given {
            Given::Tokens(tokens) => tokens.to_string().parse(),
            Given::Text(text) => text.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(asked: &str, server: Server, model: &str) -> Value {
        match asked.parse::<Reasoning>().unwrap().fields(server, model) {
            Ok(fields) => Value::Object(fields),
            Err(error) => json!(error.to_string()),
        }
    }

    #[test]
    fn each_provider_has_a_field_of_its_own() {
        use Server::{Anthropic, ChatTemplate, Gemini, OpenAi};
        let switch = |on: bool| json!({"enable_thinking": on, "thinking": on});
        let thinks = |config: Value| json!({"generationConfig": {"thinkingConfig": config}});
        for (asked, server, model, expected) in [
            ("low", OpenAi, "o3", json!({"reasoning_effort": "low"})),
            ("off", OpenAi, "gpt-5.5", json!({"reasoning_effort": "none"})),
            ("off", OpenAi, "gpt-4o", json!({})),
            (
                "high",
                Anthropic,
                "claude-sonnet-5",
                json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}),
            ),
            ("off", Anthropic, "claude-sonnet-5", json!({"thinking": {"type": "disabled"}})),
            ("9000", Anthropic, "claude-opus-4-6", json!({"thinking": {"type": "enabled", "budget_tokens": 9000}})),
            (
                "medium",
                Anthropic,
                "claude-sonnet-4-20250514",
                json!({"thinking": {"type": "enabled", "budget_tokens": 8192}}),
            ),
            (
                "low",
                Anthropic,
                "claude-3-7-sonnet-20250219",
                json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
            ),
            ("off", Anthropic, "claude-3-5-haiku-20241022", json!({})),
            ("off", Gemini, "gemini-2.5-flash-lite", thinks(json!({"thinkingBudget": 0}))),
            ("500", Gemini, "gemini-2.5-pro", thinks(json!({"thinkingBudget": 500}))),
            ("medium", Gemini, "gemini-3.5-flash", thinks(json!({"thinkingLevel": "medium"}))),
            ("off", ChatTemplate, "qwen3", json!({"chat_template_kwargs": switch(false)})),
            ("high", ChatTemplate, "qwen3", json!({"chat_template_kwargs": switch(true), "reasoning_effort": "high"})),
        ] {
            assert_eq!(fields(asked, server, model), expected, "{asked} {model}");
        }
    }

    #[test]
    fn what_a_model_cannot_is_refused_with_what_to_do() {
        use Server::{Anthropic, ChatTemplate, Gemini, OpenAi};
        for (asked, server, model, words) in [
            ("high", OpenAi, "gpt-4o-mini", "does not reason"),
            ("off", OpenAi, "gpt-5-mini", "low is the least"),
            ("5000", OpenAi, "gpt-5.5", "name low, medium or high"),
            ("512", Anthropic, "claude-sonnet-4-5", "1024 tokens or more"),
            ("5000", Anthropic, "claude-opus-4-7", "name low, medium or high"),
            ("off", Anthropic, "claude-fable-5-1", "always reasons"),
            ("low", Anthropic, "claude-3-5-haiku-20241022", "does not reason"),
            ("off", Gemini, "gemini-2.5-pro", "always reasons"),
            ("off", Gemini, "gemini-3.5-flash", "always reasons"),
            ("9", Gemini, "gemini-3.5-flash", "name low, medium or high"),
            ("low", Gemini, "gemini-2.0-flash", "does not reason"),
            ("9", ChatTemplate, "qwen3", "thinking_token_budget"),
        ] {
            let said = fields(asked, server, model);
            let said = said.as_str().unwrap_or_else(|| panic!("{asked} {model}: {said}"));
            assert!(said.starts_with(&format!("reasoning {asked}: {model} ")) && said.contains(words), "{said}");
        }
        for text in ["", "none", "0", "-1", "10000001", "minimal"] {
            assert!(text.parse::<Reasoning>().is_err(), "{text}");
        }
    }

    #[test]
    fn it_is_written_as_it_is_given() {
        for text in ["off", "low", "medium", "high", "4096"] {
            let asked: Reasoning = serde_json::from_value(json!(text)).unwrap();
            assert_eq!(json!(asked), json!(text));
        }
        assert_eq!(serde_json::from_value::<Reasoning>(json!(4096)).unwrap(), Reasoning::Tokens(4096));
        assert!(serde_json::from_value::<Reasoning>(json!(0)).is_err());
    }
}

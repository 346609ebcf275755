//! Chat completions as values: calls, responses, usage.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One request to a chat model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The dialogue so far, oldest first.
    pub messages: Vec<Message>,
    /// Sampling temperature; the papers decode greedily, 0.
    pub temperature: f64,
    /// Most tokens the response may have; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
    /// Name of the prompt the last message was made from: what options for single prompts go by.
    #[serde(skip)]
    pub prompt: String,
}

/// Tokens that a response without a limit is taken to have where that must be said beforehand: as what stays free in a
/// window, in an estimate, under a limit of tokens a minute. It is an assumption; a model that reasons may write far more.
pub const ASSUMED_RESPONSE_TOKENS: u32 = 1024;

impl Call {
    /// Tokens that the response is taken to have: its limit, or [`ASSUMED_RESPONSE_TOKENS`].
    pub fn assumed_response_tokens(&self) -> u32 {
        self.max_output_tokens.unwrap_or(ASSUMED_RESPONSE_TOKENS)
    }
}

/// One turn of a dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Message {
    /// Speaker of the message.
    pub role: Speaker,
    /// Words of the message.
    pub content: String,
    /// Length in bytes of the beginning that other calls share, such as a book that many questions are asked about: a
    /// hint for a provider's prompt cache. It changes nothing about what is asked.
    #[serde(skip)]
    pub shared_bytes: Option<usize>,
}

impl Message {
    /// A message of the user, nothing of it shared.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: Speaker::User, content: content.into(), shared_bytes: None }
    }

    /// Marks the message's beginning, up to the last occurrence of `shared`, as shared.
    pub fn sharing(mut self, shared: &str) -> Self {
        // To look for a whole book takes longer than to look for its first words, where there is room behind them, and
        // compare.
        let first_words = &shared[..shared.floor_char_boundary(80)];
        let begins = |start: &usize| self.content[*start..].starts_with(shared);
        let n_before = self.content.len().saturating_sub(shared.len());
        let within = &self.content[..self.content.ceil_char_boundary(n_before + first_words.len())];
        let quickly = within.rmatch_indices(first_words).map(|(start, _)| start).find(begins);
        let start = if shared.is_empty() { None } else { quickly.or_else(|| self.content.rfind(shared)) };
        self.shared_bytes = start.map(|start| start + shared.len());
        self
    }
}

/// The speaker of a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The system, which gives instructions.
    System,
    /// The user, who asks.
    User,
    /// The assistant: the model.
    Assistant,
}

/// The response to a [`Call`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ChatResponse"))]
pub struct Response {
    /// The text of the answer, reasoning excluded.
    pub text: String,
    /// Tokens as the provider counted them.
    #[serde(default)]
    pub usage: Usage,
    /// The reason why the response ended.
    #[serde(default)]
    pub finish: FinishReason,
    /// Model and version that answered, as the provider names them.
    #[serde(default, skip_serializing_if = "ServedBy::is_unnamed")]
    pub served_by: ServedBy,
    /// Whether the response came from the host's memory of an earlier call: nobody was asked now, nothing was spent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

/// The reason why a response ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model had said what it had to say.
    #[default]
    Stop,
    /// The response reached the limit on tokens: what there is was cut short, or is nothing where thinking took them
    /// all.
    Length,
}

/// The model and its version as a provider names them in a response; `None` where it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServedBy {
    /// The model, often with the date of its version: `model`, with Google `modelVersion`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Fingerprint of what else may change answers, such as the build of the server: `system_fingerprint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

impl ServedBy {
    /// True where the provider named nothing.
    pub fn is_unnamed(&self) -> bool {
        self.model.is_none() && self.fingerprint.is_none()
    }
}

impl fmt::Display for ServedBy {
    /// Writes model and version, as in `gpt-4o-2024-08-06 (fp_6b68)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.model, &self.fingerprint) {
            (Some(model), Some(fingerprint)) => write!(f, "{model} ({fingerprint})"),
            (Some(one), None) | (None, Some(one)) => f.write_str(one),
            (None, None) => f.write_str("unnamed"),
        }
    }
}

/// Tokens of one call, as the provider counted them; `None` where the provider said nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the response, reasoning included.
    pub completion_tokens: Option<u64>,
    /// Tokens of the prompt that the provider read from its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens of the prompt that the provider wrote to its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Tokens of the response that were reasoning and are not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Whether the call went through the provider's batch API, which has prices of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub batch: bool,
    /// Whether closeread counted some of the tokens: the provider named none, or a number that cannot be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_count: bool,
    /// Tokens of the prompt as the provider counted them, with `own_count`; believable or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_prompt_tokens: Option<u64>,
}

impl Usage {
    /// The usage, if the provider named any tokens.
    pub fn named(self) -> Option<Self> {
        (self.prompt_tokens.is_some() || self.completion_tokens.is_some()).then_some(self)
    }

    /// Tokens of the prompt as the provider counted them, whatever they were taken for.
    pub fn served_tokens(&self) -> Option<u64> {
        let told = if self.own_count { self.told_prompt_tokens } else { self.prompt_tokens };
        told.filter(|&n| n > 0)
    }

    /// Fills in our counts in the place of what the provider did not name or cannot have counted, by however different
    /// a tokenizer. `prompt` and `response` were counted here, and a response had at most `most_response`.
    #[must_use]
    pub fn or_counted(self, prompt: u64, response: u64, most_response: u64) -> Self {
        const FEWER: u64 = 32;
        const MORE: u64 = 8;
        /// Tokens around a prompt that are not in its text.
        const AROUND: u64 = 10_000;
        /// Tokens that a model may think beyond the limit of its response.
        const THOUGHT: u64 = 131_072;
        let can_be = |told: u64, least: u64, most: u64, besides: u64| {
            told >= least.div_ceil(FEWER) && told <= most.saturating_mul(MORE).saturating_add(besides)
        };
        let told_prompt = self.prompt_tokens.filter(|told| can_be(*told, prompt, prompt, AROUND));
        let most_response = response.max(most_response);
        let told_response = self.completion_tokens.filter(|told| can_be(*told, response, most_response, THOUGHT));
        let part = |of: Option<u64>| of.filter(|n| told_prompt.is_some_and(|told| *n <= told));
        Self {
            prompt_tokens: told_prompt.or(Some(prompt)),
            completion_tokens: told_response.or(Some(response)),
            cached_tokens: part(self.cached_tokens),
            cache_write_tokens: part(self.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.filter(|n| told_response.is_some_and(|told| *n <= told)),
            batch: self.batch,
            own_count: self.own_count || told_prompt.is_none() || told_response.is_none(),
            told_prompt_tokens: match told_prompt.is_none() || told_response.is_none() {
                true => self.prompt_tokens,
                false => self.told_prompt_tokens,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Usage;

    fn told(prompt: Option<u64>, response: Option<u64>) -> Usage {
        Usage { prompt_tokens: prompt, completion_tokens: response, ..Usage::default() }
    }

    #[test]
    fn finding_07_tokens_that_are_missing_or_cannot_be_are_counted_here() {
        for (prompt, response, counted) in [
            (Some(1000), Some(50), (1000, 50)),
            (Some(1900), Some(900), (1900, 900)),
            (None, None, (1200, 40)),
            (Some(0), Some(0), (1200, 40)),
            (Some(1000), None, (1000, 40)),
            (Some(u64::MAX), Some(1 << 63), (1200, 40)),
            (Some(3), Some(7), (1200, 7)),
            (Some(1000), Some(100_000), (1000, 100_000)),
        ] {
            let usage = told(prompt, response).or_counted(1200, 40, 4096);
            assert_eq!(
                (usage.prompt_tokens.unwrap(), usage.completion_tokens.unwrap()),
                counted,
                "{prompt:?} {response:?}"
            );
            assert_eq!(usage.own_count, (prompt, response) != (Some(counted.0), Some(counted.1)));
        }
        let cut = told(Some(4096), Some(7)).or_counted(200_000, 40, 4096);
        assert_eq!((cut.prompt_tokens, cut.served_tokens()), (Some(200_000), Some(4096)), "what was said is kept");
        assert_eq!(told(Some(0), Some(7)).served_tokens(), None);
        let cached = Usage { cached_tokens: Some(u64::MAX), ..told(Some(1000), Some(50)) };
        assert_eq!(cached.or_counted(1200, 40, 4096).cached_tokens, None, "more than the prompt has");
        assert_eq!(
            told(Some(0), Some(0)).or_counted(0, 0, 16),
            told(Some(0), Some(0)),
            "a server that says nothing was there"
        );
    }
}

/// The reason why a host could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The request does not fit the model's window, by the provider's own count.
    #[error("the request does not fit the model's context window: {message}")]
    Overflow {
        /// Message of the provider.
        message: String,
        /// Tokens of the request, where it says so.
        needed: Option<u64>,
        /// Tokens the window holds, where it says so.
        context_window: Option<u64>,
    },
    /// The provider refused the content.
    #[error("the provider blocked the request: {reason}")]
    Blocked {
        /// Message of the provider.
        reason: String,
    },
    /// An error of a call that was billed all the same.
    #[error("{error}")]
    Billed {
        /// Error of the call.
        error: Box<HostError>,
        /// Tokens that it took.
        usage: Box<Usage>,
    },
    /// The call failed for good, retries included.
    #[error("the call failed: {0}")]
    Failed(String),
    /// No vector could be made.
    #[error("embedding failed: {0}")]
    Embedding(String),
    /// Passages could not be reranked.
    #[error("reranking failed: {0}")]
    Reranking(String),
    /// The text of a book cannot be had.
    #[error("{0}")]
    Text(String),
}

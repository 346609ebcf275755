//! Settings that every session of a run shares.

use closeread_books::tokens::Tokenizer;
use closeread_llm::ASSUMED_RESPONSE_TOKENS;
use closeread_prompts::Prompts;

/// The limit on the length of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseLimit {
    /// Responses have at most this number of tokens.
    AtMost(u32),
    /// Responses are as long as the provider lets them be: no limit is sent. This number of tokens is kept free for
    /// them in a window, and assumed where their length must be said beforehand.
    Provider(u32),
}

impl ResponseLimit {
    /// The limit of a run without options: none, for no paper names one.
    pub const NONE: Self = Self::Provider(ASSUMED_RESPONSE_TOKENS);

    /// Returns the limit that a call is sent with.
    pub fn sent(self) -> Option<u32> {
        match self {
            Self::AtMost(tokens) => Some(tokens),
            Self::Provider(_) => None,
        }
    }

    /// Tokens that are kept free for a response: its limit, or the assumption.
    pub fn reserved(self) -> u32 {
        let (Self::AtMost(tokens) | Self::Provider(tokens)) = self;
        tokens
    }

    /// Returns the limit, but not below `least` tokens.
    #[must_use]
    pub fn at_least(self, least: u32) -> Self {
        match self {
            Self::AtMost(tokens) => Self::AtMost(tokens.max(least)),
            Self::Provider(tokens) => Self::Provider(tokens.max(least)),
        }
    }

    /// Returns the limit with `more` tokens added.
    #[must_use]
    pub fn plus(self, more: u32) -> Self {
        match self {
            Self::AtMost(tokens) => Self::AtMost(tokens.saturating_add(more)),
            Self::Provider(tokens) => Self::Provider(tokens.saturating_add(more)),
        }
    }
}

impl From<Option<u32>> for ResponseLimit {
    fn from(tokens: Option<u32>) -> Self {
        tokens.map_or(Self::NONE, Self::AtMost)
    }
}

/// The settings that every session of a run shares.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The prompts.
    pub prompts: &'a Prompts,
    /// Counts budgets, prompts and windows.
    pub tokenizer: &'a Tokenizer,
    /// Limit on the length of a response.
    pub response_limit: ResponseLimit,
    /// Sampling temperature; the papers decode greedily, 0.
    pub temperature: f64,
    /// Tokens a model can take, prompt and response together; `None` for a reader without a limit.
    pub context_window: Option<usize>,
}

impl<'a> Settings<'a> {
    /// Makes settings with greedy decoding, responses and a window without limit.
    pub fn new(prompts: &'a Prompts, tokenizer: &'a Tokenizer) -> Self {
        Self { prompts, tokenizer, response_limit: ResponseLimit::NONE, temperature: 0.0, context_window: None }
    }
}

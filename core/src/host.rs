//! The one door to the world.
//!
//! A method is an async function that awaits only what a [`Host`] gives it, so the same code runs under tokio, under a
//! browser's event loop and under a test's scripted host.

use crate::embed::{Role, Vectors};
use crate::reader::Reading;
use crate::work::{Here, Job, Workers};
use serde::{Deserialize, Serialize};

/// What a method may ask of the world outside. Implementations: the command line, the browser, a test's script.
///
/// Futures need not be `Send`: a browser's are not. The command line drives them on one thread and hands CPU work to
/// others.
#[allow(async_fn_in_trait, reason = "futures are deliberately not Send, see above")]
pub trait Host {
    /// One chat completion.
    ///
    /// # Errors
    /// [`HostError`]; a method decides whether it ends the item.
    async fn chat(&self, call: Call) -> Result<Reply, HostError>;

    /// One vector a text, each of the model's dimension, L2-normalised, in the order of `texts`.
    ///
    /// # Errors
    /// [`HostError::Embedding`] if no encoder is at hand or it failed.
    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vectors, HostError>;

    /// What each of `jobs` gives, in their order: on this thread, one after the other, unless the host has more.
    async fn work<T: Send + 'static>(&self, jobs: Vec<Job<T>>) -> Vec<T> {
        Here.all(jobs).await
    }
}

/// One request to a chat model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The dialogue so far, oldest first.
    pub messages: Vec<Message>,
    /// Sampling temperature; the papers decode greedily, 0.
    pub temperature: f32,
    /// Most tokens the reply may have.
    pub max_output_tokens: u32,
    /// Name of the prompt the last message was made from: what options for single prompts go by.
    #[serde(skip)]
    pub prompt: String,
    /// What the prompt was made from. A language model never sees it; a reader without one answers from it.
    #[serde(skip)]
    pub reading: Option<Reading>,
}

/// One turn of a dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Speaker,
    /// What is said.
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

    /// The same message, its beginning up to the last occurrence of `shared` marked as shared.
    pub fn sharing(mut self, shared: &str) -> Self {
        // To look for a whole book takes longer than to look for its first words, where there is room behind them, and compare.
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

/// Who speaks a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// Instructions.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

/// What came back for a [`Call`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text of the answer, reasoning excluded.
    pub text: String,
    /// Tokens as the provider counted them.
    #[serde(default)]
    pub usage: Usage,
    /// Why it ended.
    #[serde(default)]
    pub stop: Stop,
    /// It was asked before and came from the host's memory: nobody was asked now, nothing was spent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembered: bool,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model had said what it had to say.
    #[default]
    Finished,
    /// It reached the limit on tokens: what there is was cut short, or is nothing where thinking took them all.
    Length,
}

/// Tokens of one call, as the provider counted them; `None` where it said nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the reply, reasoning included.
    pub completion_tokens: Option<u64>,
    /// Tokens of the prompt that the provider read from its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens of the prompt that the provider wrote to its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Tokens of the reply that were reasoning and are not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// They went through the provider's batch API, which has prices of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub batch: bool,
}

/// Why a host could not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// The request does not fit the model's window, by the provider's own count.
    #[error("the request does not fit the model's context window: {message}")]
    Overflow {
        /// The provider's words.
        message: String,
        /// Tokens of the request, where it says so.
        needed: Option<u64>,
        /// Tokens the window holds, where it says so.
        window: Option<u64>,
    },
    /// The provider refused the content.
    #[error("the provider blocked the request: {reason}")]
    Blocked {
        /// The provider's words.
        reason: String,
    },
    /// The call failed for good, retries included.
    #[error("the call failed: {0}")]
    Failed(String),
    /// No vector could be made.
    #[error("embedding failed: {0}")]
    Embedding(String),
}

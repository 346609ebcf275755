//! What answers: the built-in reader, and chat models on servers.

use crate::account::account;
use crate::client::{ChatModel, Options};
use anyhow::Result;
use closeread_methods::reader::EXTRACTIVE;

/// What answers, as `--model` names it.
pub enum Model {
    /// No language model: counts words.
    Extractive,
    /// A server.
    Chat(Box<ChatModel>),
}

impl Model {
    /// The one of a name such as `anthropic/claude-sonnet-4` or `openai-compatible/qwen`.
    pub fn named(name: &str, base_url: Option<&str>, options: Options) -> Result<Self> {
        if name == EXTRACTIVE {
            return Ok(Self::Extractive);
        }
        Ok(Self::Chat(Box::new(ChatModel::new(account(name, base_url)?, options)?)))
    }
}

//! Models that answer: the built-in reader, and chat models on servers.

use crate::account::account;
use crate::client::{ChatModel, Options};
use anyhow::Result;
use closeread_methods::reader::EXTRACTIVE;

/// A model that answers, as `--model` names it.
pub enum Model {
    /// The built-in reader without a language model, which counts words.
    Extractive,
    /// A chat model on a server.
    Chat(Box<ChatModel>),
}

impl Model {
    /// Returns the model of a name such as `anthropic/claude-sonnet-4` or `openai-compatible/qwen`.
    pub fn named(name: &str, base_url: Option<&str>, options: Options) -> Result<Self> {
        if name == EXTRACTIVE {
            return Ok(Self::Extractive);
        }
        Ok(Self::Chat(Box::new(ChatModel::new(account(name, base_url)?, options)?)))
    }
}

//! Readers: the builtin one, and chat models on servers.

mod account;
pub(crate) mod batch;
mod client;
mod embeddings;
mod outgoing;
mod throttle;
mod wire;

pub(crate) use account::{Account, Keys, PROVIDERS, keys};
pub(crate) use batch::Batcher;
pub(crate) use client::{ChatModel, Options};
pub(crate) use embeddings::{EMBEDDING_PROVIDERS, EmbeddingAccount, EmbeddingServer, is_served, served_by};
pub(crate) use outgoing::{Beginnings, Outgoing};
pub(crate) use throttle::{Rates, Seat};

use anyhow::{Result, bail};
use closeread_core::reader::EXTRACTIVE;

/// A reader, as `--model` names it.
pub(crate) enum Reader {
    /// No language model: counts words.
    Extractive,
    /// A server.
    Chat(Box<ChatModel>),
}

impl Reader {
    /// The reader of a name such as `anthropic/claude-sonnet-4` or `openai-compatible/qwen`.
    pub(crate) fn named(name: &str, base_url: Option<&str>, options: Options) -> Result<Self> {
        if name == EXTRACTIVE {
            return Ok(Self::Extractive);
        }
        Ok(Self::Chat(Box::new(ChatModel::new(account(name, base_url)?, options)?)))
    }
}

/// Refuses a name that no provider serves, without looking for keys and addresses.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let (prefix, model) = name.split_once('/').unwrap_or((name, ""));
    if name == EXTRACTIVE || (PROVIDERS.iter().any(|provider| provider.name == prefix) && !model.is_empty()) {
        return Ok(());
    }
    let names: Vec<String> = PROVIDERS.iter().map(|provider| format!("{}/MODEL", provider.name)).collect();
    bail!("unknown model `{name}`: expected {EXTRACTIVE}, {}", names.join(", "));
}

/// Whether a model's provider has no address but the user's.
pub(crate) fn needs_address(name: &str) -> bool {
    let prefix = name.split_once('/').map_or(name, |(prefix, _)| prefix);
    PROVIDERS.iter().any(|provider| provider.name == prefix && provider.base_url().is_none())
}

/// The account that a model's name asks for, its key found.
pub(crate) fn account(name: &str, base_url: Option<&str>) -> Result<Account> {
    let (prefix, model) = name.split_once('/').unwrap_or((name, ""));
    let Some(provider) = PROVIDERS.iter().find(|provider| provider.name == prefix) else {
        let names: Vec<String> = PROVIDERS.iter().map(|provider| format!("{}/MODEL", provider.name)).collect();
        bail!("unknown model `{name}`: expected {EXTRACTIVE}, {} (the last with --base-url)", names.join(", "));
    };
    if model.is_empty() {
        bail!("model `{name}` names no model: expected {prefix}/MODEL");
    }
    let Some(base_url) = base_url.or(provider.base_url()) else {
        bail!("model `{name}` needs --base-url, the server's address up to and including /v1");
    };
    let key = keys()?.of(provider);
    if key.is_none() && Some(base_url) == provider.base_url() {
        let variables = provider.variables.join(" or ");
        bail!("model `{name}` needs a key: set the environment variable {variables}, or write it into a file .env");
    }
    Ok(Account { provider, model: model.to_owned(), base_url: base_url.to_owned(), key })
}

/// An address without user, password and query, which may hold a key.
pub(crate) fn without_credentials(url: &str) -> String {
    match reqwest::Url::parse(url) {
        Ok(mut parsed) => {
            // Both fail only for addresses that cannot hold credentials.
            let _ = parsed.set_username("");
            let _ = parsed.set_password(None);
            parsed.set_query(None);
            parsed.to_string()
        }
        Err(_) => "an address that does not parse".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cannot_be_used_say_what_is_expected() {
        let message = |name| account(name, None).expect_err("refused").to_string();
        assert!(message("gpt").contains("expected builtin/extractive, openai/MODEL, anthropic/MODEL, gemini/MODEL"));
        assert!(message("openai-compatible/x").contains("needs --base-url"));
        assert!(message("anthropic/").contains("names no model"));
    }
}

//! The providers, and the keys for them: from the environment, or from a file `.env`. Keys appear nowhere else.

use anyhow::{Result, anyhow};
use closeread_core::provider::{Dialect, Protocol, Secret, TokenLimit};
use std::collections::HashMap;

/// Who serves models.
#[derive(Debug)]
pub(crate) struct Provider {
    /// What stands before the slash of a model's name.
    pub(crate) name: &'static str,
    /// What it speaks.
    pub(crate) protocol: Protocol,
    /// Where its key is looked for, first come first served.
    pub(crate) variables: &'static [&'static str],
    /// How its models are asked before they refuse anything.
    pub(crate) token_limit: TokenLimit,
    /// False where there is no address but the user's.
    hosted: bool,
}

/// Every provider, in the order in which help lists them.
pub(crate) static PROVIDERS: [Provider; 4] = [
    Provider {
        name: "openai",
        protocol: Protocol::OpenAi,
        variables: &["OPENAI_API_KEY"],
        token_limit: TokenLimit::MaxCompletionTokens,
        hosted: true,
    },
    Provider {
        name: "anthropic",
        protocol: Protocol::Anthropic,
        variables: &["ANTHROPIC_API_KEY"],
        token_limit: TokenLimit::MaxTokens,
        hosted: true,
    },
    Provider {
        name: "gemini",
        protocol: Protocol::Gemini,
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        token_limit: TokenLimit::MaxTokens,
        hosted: true,
    },
    Provider {
        name: "openai-compatible",
        protocol: Protocol::OpenAi,
        variables: &["OPENAI_COMPATIBLE_API_KEY"],
        token_limit: TokenLimit::MaxTokens,
        hosted: false,
    },
];

impl Provider {
    /// Its own address, where it has one.
    pub(crate) fn base_url(&self) -> Option<&'static str> {
        self.hosted.then(|| self.protocol.default_base_url())
    }

    /// How its models are asked at first.
    pub(crate) fn dialect(&self) -> Dialect {
        Dialect { token_limit: self.token_limit, ..Dialect::default() }
    }
}

/// A model of a provider, with address and key.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    /// Who serves it.
    pub(crate) provider: &'static Provider,
    /// Its name with the provider.
    pub(crate) model: String,
    /// Where requests go.
    pub(crate) base_url: String,
    /// The key, where there is one.
    pub(crate) key: Option<Secret>,
}

/// The variables of the environment and of `.env`; the environment wins.
pub(crate) struct Keys {
    file: HashMap<String, String>,
}

/// Reads `.env` of the working folder, or of a folder above it, where there is one.
pub(crate) fn keys() -> Result<Keys> {
    let mut file = HashMap::new();
    match dotenvy::dotenv_iter() {
        Ok(lines) => {
            for line in lines {
                // The parser's own message repeats the line, and with it perhaps a key.
                let (name, value) = line
                    .map_err(|_| anyhow!("the file .env holds a line that is not NAME=VALUE; correct or remove it"))?;
                file.insert(name, value);
            }
        }
        Err(error) if error.not_found() => {}
        Err(_) => return Err(anyhow!("the file .env cannot be read; correct its rights or remove it")),
    }
    Ok(Keys { file })
}

impl Keys {
    /// The key for a provider.
    pub(crate) fn of(&self, provider: &Provider) -> Option<Secret> {
        self.place(provider).map(|(_, secret)| secret)
    }

    /// The key for a provider and the variable that holds it.
    pub(crate) fn place(&self, provider: &Provider) -> Option<(&'static str, Secret)> {
        self.first_of(provider.variables)
    }

    /// The first of these variables that is set.
    pub(crate) fn first_of(&self, variables: &[&'static str]) -> Option<(&'static str, Secret)> {
        variables.iter().find_map(|&variable| {
            let value = std::env::var(variable).ok().or_else(|| self.file.get(variable).cloned())?;
            let value = value.trim();
            (!value.is_empty()).then(|| (variable, Secret::new(value)))
        })
    }
}

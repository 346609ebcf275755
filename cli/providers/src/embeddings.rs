//! Embedding models on servers: who serves them, and how they are asked.

use crate::account::{Address, PROVIDERS, keys};
use crate::throttle::{Rates, Throttle};
use crate::wire::{Message, Wire};
use anyhow::{Context, Result, bail};
use closeread_embed::Vectors;
use closeread_llm::HostError;
use closeread_llm::provider::{EmbeddingProtocol, Limits, Request, Secret, TeiInfo};
use std::time::Duration;

/// Longest that one request for vectors may take.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Most requests under way at once; the throttle begins with fewer.
const CONCURRENCY: usize = 64;
/// Texts of a request where the server sets no limit: a few hundred passages are far below the 300,000 tokens that OpenAI
/// takes, and small servers do not hold up everything else for one request.
const TEXTS: usize = 32;
const TEXTS_OPENAI: usize = 256;

/// Who serves embedding models.
#[derive(Debug)]
pub struct EmbeddingProvider {
    /// What stands before the slash of a model's name.
    pub name: &'static str,
    /// What it speaks.
    pub protocol: EmbeddingProtocol,
    /// Where its key is looked for, first come first served.
    pub variables: &'static [&'static str],
    /// Its own address, where it has one.
    pub base_url: Option<&'static str>,
    /// How the address ends, for messages.
    address_ends: &'static str,
    /// Most texts of a request.
    pub texts: usize,
}

/// Every provider of embeddings, in the order in which help lists them.
pub static EMBEDDING_PROVIDERS: [EmbeddingProvider; 3] = [
    EmbeddingProvider {
        name: "openai",
        protocol: EmbeddingProtocol::OpenAi,
        variables: &["OPENAI_API_KEY"],
        base_url: Some("https://api.openai.com/v1"),
        address_ends: "up to and including /v1",
        texts: TEXTS_OPENAI,
    },
    EmbeddingProvider {
        name: "openai-compatible",
        protocol: EmbeddingProtocol::OpenAi,
        variables: &["OPENAI_COMPATIBLE_API_KEY"],
        base_url: None,
        address_ends: "up to and including /v1",
        texts: TEXTS,
    },
    EmbeddingProvider {
        name: "tei",
        protocol: EmbeddingProtocol::Tei,
        variables: &["TEI_API_KEY"],
        base_url: None,
        address_ends: "up to where /embed begins",
        texts: TEXTS,
    },
];

/// A model of a provider, with address and key.
#[derive(Debug, Clone)]
pub struct EmbeddingAccount {
    /// Who serves it.
    pub provider: &'static EmbeddingProvider,
    /// Its name with the provider.
    pub model: String,
    /// Where requests go.
    base_url: Address,
    key: Option<Secret>,
    limits: Limits,
}

/// Whether a name is that of an embedding model on a server.
pub fn is_served(name: &str) -> bool {
    name.split_once('/').is_some_and(|(prefix, _)| EMBEDDING_PROVIDERS.iter().any(|p| p.name == prefix))
}

/// The account of a name such as `tei/bge-m3`; `None` for a name of no provider, which is an installed model's.
pub fn served_by(name: &str, base_url: Option<&str>) -> Result<Option<EmbeddingAccount>> {
    let Some((prefix, model)) = name.split_once('/') else { return Ok(None) };
    let Some(provider) = EMBEDDING_PROVIDERS.iter().find(|provider| provider.name == prefix) else {
        if PROVIDERS.iter().any(|provider| provider.name == prefix) {
            let names: Vec<String> = EMBEDDING_PROVIDERS.iter().map(|p| format!("{}/MODEL", p.name)).collect();
            bail!(
                "embedding model `{name}`: closeread gets embeddings from {}, or an installed model",
                names.join(", ")
            );
        }
        return Ok(None);
    };
    if model.is_empty() {
        bail!("embedding model `{name}` names no model: expected {prefix}/MODEL");
    }
    let base_url = base_url.or(provider.base_url).with_context(|| {
        format!("embedding model `{name}` needs --embedder-base-url, the server's address {}", provider.address_ends)
    })?;
    let address = Address::new(base_url, "--embedder-base-url")?;
    let key = keys()?.fit_for_a_header(provider.variables)?;
    if key.is_none() && Some(base_url) == provider.base_url {
        let variables = provider.variables.join(" or ");
        bail!(
            "embedding model `{name}` needs a key: set the environment variable {variables}, or write it into a file .env"
        );
    }
    Ok(Some(EmbeddingAccount { provider, model: model.to_owned(), base_url: address, key, limits: Limits::default() }))
}

impl EmbeddingAccount {
    /// The same account, for whose requests it is gone so far.
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// As `--embedder` names it.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider.name, self.model)
    }

    /// The address without user, password and query.
    pub fn endpoint(&self) -> String {
        self.base_url.shown()
    }

    fn message(&self, path: &str, request: Option<&Request>) -> Message {
        let base = self.base_url.reveal().trim_end_matches('/');
        let key = self.key.as_ref().map(|key| ("authorization", format!("Bearer {}", key.reveal())));
        Message {
            url: format!("{base}{path}"),
            headers: key.into_iter().collect(),
            body: request.map(|request| ("application/json".to_owned(), request.body.to_string().into_bytes())),
        }
    }
}

/// The server of an embedding model.
pub struct EmbeddingServer {
    account: EmbeddingAccount,
    wire: Wire,
    throttle: Throttle,
}

impl EmbeddingServer {
    /// The server of the account.
    pub fn new(account: EmbeddingAccount) -> Result<Self> {
        let wire = Wire::new(account.name(), account.key.clone(), TIMEOUT)?.within(account.limits);
        Ok(Self { account, wire, throttle: Throttle::new(CONCURRENCY, Rates::default()) })
    }

    /// One vector a text, as the server gave them, and the tokens it counted.
    pub async fn vectors(&self, texts: &[&str]) -> Result<(Vectors, Option<u64>), HostError> {
        let protocol = self.account.provider.protocol;
        let request = protocol.request(&self.account.model, texts);
        let message = self.account.message(&request.path, Some(&request));
        self.wire
            .send(&self.throttle, 0, &message, |received| {
                let response = protocol.read(received.response(), texts.len())?;
                // Text-Embeddings-Inference says it in a header.
                Ok((
                    Vectors::new(response.dimension, response.values),
                    response.tokens.or_else(|| received.number("x-compute-tokens")),
                ))
            })
            .await
    }

    /// What a server of Text-Embeddings-Inference says of itself; `None` for others, which say nothing.
    pub async fn info(&self) -> Result<Option<TeiInfo>, HostError> {
        if self.account.provider.protocol != EmbeddingProtocol::Tei {
            return Ok(None);
        }
        let message = self.account.message(TeiInfo::PATH, None);
        self.wire.send(&self.throttle, 0, &message, |received| TeiInfo::read(received.response())).await.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::account;

    #[test]
    fn a_name_is_a_providers_or_an_installed_models() {
        assert!(served_by("all-MiniLM-L6-v2", None).unwrap().is_none());
        assert!(served_by("./my/folder", None).unwrap().is_none());
        let account = served_by("tei/BAAI/bge-m3", Some("http://user:pw@h:8080/?key=1")).unwrap().unwrap();
        assert_eq!((account.name().as_str(), account.endpoint().as_str()), ("tei/BAAI/bge-m3", "http://h:8080/"));
        let message = |name, url| served_by(name, url).unwrap_err().to_string();
        assert!(message("tei/x", None).contains("needs --embedder-base-url"));
        assert!(message("openai-compatible/", Some("http://h")).contains("names no model"));
        assert!(message("anthropic/x", None).contains("gets embeddings from openai/MODEL, openai-compatible/MODEL"));
    }

    #[test]
    fn finding_11_an_address_that_no_request_can_go_to_is_refused_at_once() {
        for (url, words) in [
            ("", "--base-url is empty: expected one that begins with http:// or https://"),
            ("  ", "is empty"),
            ("localhost:8000/v1", "is no web address: expected"),
            ("ftp://h/v1", "but one of `ftp`"),
            ("unix:/run/sk-secret.sock", "but one of `unix`"),
            ("/v1", "relative URL"),
            ("http://", "empty host"),
            ("http://h:99999/v1", "invalid port"),
            ("https://sk-secret key@ h/", "is no web address"),
        ] {
            for error in
                [account("openai-compatible/x", Some(url)).err(), served_by("openai-compatible/x", Some(url)).err()]
            {
                let error = error.expect(url).to_string();
                let said = error.contains(words) || error.contains(&words.replace("--base", "--embedder-base"));
                assert!(said && !error.contains("secret"), "{url}: {error}");
            }
        }
        assert!(account("openai-compatible/x", Some("https://h/v1?key=1")).is_ok());
    }
}

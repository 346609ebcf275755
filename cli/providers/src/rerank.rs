//! Rerankers on servers: who serves them, and how they are asked.

use crate::account::{Address, PROVIDERS, keys};
use crate::embeddings::EMBEDDING_PROVIDERS;
use crate::throttle::{Rates, Throttle};
use crate::wire::{Message, Wire};
use anyhow::{Context, Result, bail};
use closeread_llm::HostError;
use closeread_llm::provider::{Limits, Request, RerankProtocol, RerankResponse, Secret, TeiInfo};
use std::time::Duration;

/// Longest that one request for scores may take.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Most requests under way at once; the throttle begins with fewer.
const CONCURRENCY: usize = 32;

/// Who serves rerankers.
#[derive(Debug)]
pub struct RerankProvider {
    /// What stands before the slash of a model's name.
    pub name: &'static str,
    /// What it speaks.
    pub protocol: RerankProtocol,
    /// Where its key is looked for, first come first served.
    pub variables: &'static [&'static str],
    /// Its own address, where it has one.
    pub base_url: Option<&'static str>,
    /// How the address ends, for messages.
    address_ends: &'static str,
    /// Most texts of a request: what the provider takes, or what one server can be asked at once.
    pub texts: usize,
    /// Texts of one search, where it is paid by these.
    pub texts_of_a_search: Option<usize>,
}

/// Every provider of rerankers, in the order in which help lists them.
///
/// Cohere takes 1,000 texts a request (docs.cohere.com/docs/reranking-best-practices) and counts 100 as a search. TEI says its
/// own limit; 32 is what it takes unless it was started otherwise.
pub static RERANK_PROVIDERS: [RerankProvider; 4] = [
    RerankProvider {
        name: "cohere",
        protocol: RerankProtocol::Cohere,
        variables: &["COHERE_API_KEY", "CO_API_KEY"],
        base_url: Some("https://api.cohere.com/v2"),
        address_ends: "up to and including /v2",
        texts: 1000,
        texts_of_a_search: Some(100),
    },
    RerankProvider {
        name: "jina",
        protocol: RerankProtocol::Jina,
        variables: &["JINA_API_KEY"],
        base_url: Some("https://api.jina.ai/v1"),
        address_ends: "up to and including /v1",
        texts: 1000,
        texts_of_a_search: None,
    },
    RerankProvider {
        name: "openai-compatible",
        protocol: RerankProtocol::Cohere,
        variables: &["OPENAI_COMPATIBLE_API_KEY"],
        base_url: None,
        address_ends: "up to where /rerank begins, for vLLM and llama.cpp up to and including /v1",
        texts: 128,
        texts_of_a_search: None,
    },
    RerankProvider {
        name: "tei",
        protocol: RerankProtocol::Tei,
        variables: &["TEI_API_KEY"],
        base_url: None,
        address_ends: "up to where /rerank begins",
        texts: 32,
        texts_of_a_search: None,
    },
];

/// A model of a provider, with address and key.
#[derive(Debug, Clone)]
pub struct RerankAccount {
    /// Who serves it.
    pub provider: &'static RerankProvider,
    /// Its name with the provider.
    pub model: String,
    base_url: Address,
    key: Option<Secret>,
    limits: Limits,
}

/// The provider of a reranker's name such as `cohere/rerank-v3.5`; `None` for an installed model's.
pub fn rerank_provider(name: &str) -> Option<&'static RerankProvider> {
    let (prefix, _) = name.split_once('/')?;
    RERANK_PROVIDERS.iter().find(|provider| provider.name == prefix)
}

/// The account of such a name; `None` for a name of no provider, which is an installed model's.
pub fn reranked_by(name: &str, base_url: Option<&str>) -> Result<Option<RerankAccount>> {
    let Some((prefix, model)) = name.split_once('/') else { return Ok(None) };
    let Some(provider) = rerank_provider(name) else {
        let chats = PROVIDERS.iter().any(|provider| provider.name == prefix);
        if chats || EMBEDDING_PROVIDERS.iter().any(|provider| provider.name == prefix) {
            let names: Vec<String> = RERANK_PROVIDERS.iter().map(|p| format!("{}/MODEL", p.name)).collect();
            bail!("reranker `{name}`: closeread reranks by {}, or an installed model", names.join(", "));
        }
        return Ok(None);
    };
    if model.is_empty() {
        bail!("reranker `{name}` names no model: expected {prefix}/MODEL");
    }
    let base_url = base_url.or(provider.base_url).with_context(|| {
        format!("reranker `{name}` needs --reranker-base-url, the server's address {}", provider.address_ends)
    })?;
    let address = Address::new(base_url, "--reranker-base-url")?;
    let key = keys()?.fit_for_a_header(provider.variables)?;
    if key.is_none() && Some(base_url) == provider.base_url {
        let variables = provider.variables.join(" or ");
        bail!("reranker `{name}` needs a key: set the environment variable {variables}, or write it into a file .env");
    }
    Ok(Some(RerankAccount { provider, model: model.to_owned(), base_url: address, key, limits: Limits::default() }))
}

impl RerankAccount {
    /// The same account, for whose requests it is gone so far.
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// As `--reranker` names it.
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

/// The server of a reranker.
pub struct RerankServer {
    account: RerankAccount,
    wire: Wire,
    throttle: Throttle,
}

impl RerankServer {
    /// The server of the account.
    pub fn new(account: RerankAccount) -> Result<Self> {
        let wire = Wire::new(account.name(), account.key.clone(), TIMEOUT)?.within(account.limits);
        Ok(Self { account, wire, throttle: Throttle::new(CONCURRENCY, Rates::default()) })
    }

    /// Whose server it is.
    pub fn account(&self) -> &RerankAccount {
        &self.account
    }

    /// One score a text, and what the server counted.
    pub async fn scores(&self, query: &str, texts: &[&str]) -> Result<RerankResponse, HostError> {
        let protocol = self.account.provider.protocol;
        let request = protocol.request(&self.account.model, query, texts);
        let message = self.account.message(&request.path, Some(&request));
        self.wire
            .send(&self.throttle, 0, &message, |received| {
                let response = protocol.read(received.response(), texts.len())?;
                let tokens = response.tokens.or_else(|| received.number("x-compute-tokens"));
                Ok(RerankResponse { tokens, ..response })
            })
            .await
    }

    /// What a server of Text-Embeddings-Inference says of itself; `None` for others, which say nothing.
    pub async fn info(&self) -> Result<Option<TeiInfo>, HostError> {
        if self.account.provider.protocol != RerankProtocol::Tei {
            return Ok(None);
        }
        let message = self.account.message(TeiInfo::PATH, None);
        self.wire.send(&self.throttle, 0, &message, |received| TeiInfo::read(received.response())).await.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_providers_or_an_installed_models() {
        assert!(reranked_by("ms-marco-MiniLM-L6-v2", None).unwrap().is_none());
        assert!(reranked_by("./my/folder", None).unwrap().is_none());
        let account = reranked_by("tei/BAAI/bge-reranker-base", Some("http://user:pw@h:8080/?key=1")).unwrap().unwrap();
        let (name, endpoint) = (account.name(), account.endpoint());
        assert_eq!((name.as_str(), endpoint.as_str()), ("tei/BAAI/bge-reranker-base", "http://h:8080/"));
        let message = |name, url| reranked_by(name, url).unwrap_err().to_string();
        assert!(message("tei/x", None).contains("needs --reranker-base-url"));
        assert!(message("openai-compatible/", Some("http://h")).contains("names no model"));
        assert!(message("openai/x", None).contains("reranks by cohere/MODEL, jina/MODEL, openai-compatible/MODEL"));
        let refused = message("tei/x", Some("ftp://h/sk-secret"));
        assert!(refused.contains("--reranker-base-url") && !refused.contains("secret"), "{refused}");
    }
}

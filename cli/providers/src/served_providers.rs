//! Every provider of embedding models and of rerankers: name, variables of its key, address; and whose a model is.

use crate::account::{Address, PROVIDERS, elsewhere, keys};
use crate::served::{Kind, ServedAccount, ServedProvider};
use anyhow::{Context, Result, bail};
use closeread_llm::provider::{EmbeddingProtocol, RerankProtocol};

/// Texts of a request where the server sets no limit: a few hundred passages are far below the 300,000 tokens that OpenAI
/// takes, and small servers do not hold up everything else for one request.
const TEXTS: usize = 32;
const TEXTS_OPENAI: usize = 256;

/// Every provider of embeddings, in the order in which help lists them.
pub static EMBEDDING_PROVIDERS: [ServedProvider<EmbeddingProtocol>; 3] = [
    ServedProvider {
        name: "openai",
        asked: EmbeddingProtocol::OpenAi,
        variables: &["OPENAI_API_KEY"],
        base_url: Some("https://api.openai.com/v1"),
        address_ends: "up to and including /v1",
        texts: TEXTS_OPENAI,
    },
    ServedProvider {
        name: "openai-compatible",
        asked: EmbeddingProtocol::OpenAi,
        variables: &["OPENAI_COMPATIBLE_API_KEY"],
        base_url: None,
        address_ends: "up to and including /v1",
        texts: TEXTS,
    },
    ServedProvider {
        name: "tei",
        asked: EmbeddingProtocol::Tei,
        variables: &["TEI_API_KEY"],
        base_url: None,
        address_ends: "up to where /embed begins",
        texts: TEXTS,
    },
];

/// The ways in which a provider of rerankers is asked, and paid.
#[derive(Debug)]
pub struct Reranking {
    /// Protocol that the provider speaks.
    pub protocol: RerankProtocol,
    /// Whether it is paid by the search, unless a price list says otherwise.
    pays_searches: bool,
}

/// Texts that Cohere counts as one search.
const TEXTS_OF_A_SEARCH: u64 = 100;

/// Most tokens of a text with its query that Cohere counts as one text of a search; it cuts a longer one into several.
const TOKENS_OF_A_TEXT: u64 = 500;

impl Reranking {
    /// Number of searches that are paid for a query and texts of so many tokens, as Cohere counts them; `None` where tokens are
    /// paid. `listed` is what the price list says.
    pub fn searches(&self, listed: Option<bool>, query: u64, texts: impl IntoIterator<Item = u64>) -> Option<u64> {
        if !listed.unwrap_or(self.pays_searches) {
            return None;
        }
        // Each piece has the query beside it.
        let piece = TOKENS_OF_A_TEXT - query.min(TOKENS_OF_A_TEXT / 2);
        let pieces: u64 = texts.into_iter().map(|tokens| tokens.div_ceil(piece).max(1)).sum();
        Some(pieces.div_ceil(TEXTS_OF_A_SEARCH))
    }
}

/// Every provider of rerankers, in the order in which help lists them.
///
/// Cohere takes 1,000 texts a request (docs.cohere.com/docs/reranking-best-practices) and counts 100 as a search, those of more
/// than 500 tokens with their query as several (learn.microsoft.com, deploy Cohere Rerank models). TEI says its own limit; 32 is
/// what it takes unless it was started otherwise.
pub static RERANK_PROVIDERS: [ServedProvider<Reranking>; 4] = [
    ServedProvider {
        name: "cohere",
        asked: Reranking { protocol: RerankProtocol::Cohere, pays_searches: true },
        variables: &["COHERE_API_KEY", "CO_API_KEY"],
        base_url: Some("https://api.cohere.com/v2"),
        address_ends: "up to and including /v2",
        texts: 1000,
    },
    ServedProvider {
        name: "jina",
        asked: Reranking { protocol: RerankProtocol::Jina, pays_searches: false },
        variables: &["JINA_API_KEY"],
        base_url: Some("https://api.jina.ai/v1"),
        address_ends: "up to and including /v1",
        texts: 1000,
    },
    ServedProvider {
        name: "openai-compatible",
        asked: Reranking { protocol: RerankProtocol::Cohere, pays_searches: false },
        variables: &["OPENAI_COMPATIBLE_API_KEY"],
        base_url: None,
        address_ends: "up to where /rerank begins, for vLLM and llama.cpp up to and including /v1",
        texts: 128,
    },
    ServedProvider {
        name: "tei",
        asked: Reranking { protocol: RerankProtocol::Tei, pays_searches: false },
        variables: &["TEI_API_KEY"],
        base_url: None,
        address_ends: "up to where /rerank begins",
        texts: 32,
    },
];

/// The provider of a model's name such as `tei/bge-m3`; `None` for an installed model's.
pub(crate) fn provider_of<K: Kind>(name: &str) -> Option<&'static ServedProvider<K>> {
    let (prefix, _) = name.split_once('/')?;
    K::providers().iter().find(|provider| provider.name == prefix)
}

/// Returns the account of a model's name such as `tei/bge-m3`; `None` for a name of no provider, which is an installed
/// model's.
///
/// # Errors
/// If the provider serves no such models, or model, address or key is missing or cannot be used.
pub(crate) fn account_of<K: Kind>(name: &str, base_url: Option<&str>) -> Result<Option<ServedAccount<K>>> {
    let Some((prefix, model)) = name.split_once('/') else { return Ok(None) };
    let Some(provider) = provider_of::<K>(name) else {
        let chat = PROVIDERS.iter().map(|provider| provider.name);
        let others = EMBEDDING_PROVIDERS.iter().map(|p| p.name).chain(RERANK_PROVIDERS.iter().map(|p| p.name));
        if chat.chain(others).any(|other| other == prefix) {
            let names: Vec<String> = K::providers().iter().map(|p| format!("{}/MODEL", p.name)).collect();
            bail!("{} `{name}`: closeread {} {}, or an installed model", K::MODEL, K::FROM, names.join(", "));
        }
        return Ok(None);
    };
    if model.is_empty() {
        bail!("{} `{name}` names no model: expected {prefix}/MODEL", K::MODEL);
    }
    let keys = keys()?;
    if let (None, Some(own)) = (base_url, provider.base_url) {
        elsewhere::refuse_another(&keys, provider.name, own, K::ADDRESS)?;
    }
    let base_url = base_url.or(provider.base_url).with_context(|| {
        format!("{} `{name}` needs {}, the server's address {}", K::MODEL, K::ADDRESS, provider.address_ends)
    })?;
    let address = Address::new(base_url, K::ADDRESS)?;
    let key = keys.fit_for_a_header(provider.variables)?;
    if key.is_none() && Some(base_url) == provider.base_url {
        let variables = provider.variables.join(" or ");
        bail!(
            "{} `{name}` needs a key: set the environment variable {variables}, or write it into a file .env",
            K::MODEL
        );
    }
    Ok(Some(ServedAccount::new(provider, model.to_owned(), address, key)))
}

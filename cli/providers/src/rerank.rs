//! Rerankers on servers: who serves them, and how they are asked.

use crate::served::{Asked, Kind, ModelServer, ServedAccount, ServedProvider, can_be_tokens};
use crate::served_providers::{RERANK_PROVIDERS, Reranking, account_of, provider_of};
use crate::tries::Tries;
use anyhow::Result;
use closeread_llm::provider::{RerankProtocol, RerankResponse};

/// A provider of rerankers.
pub type RerankProvider = ServedProvider<Reranking>;
/// A reranker of a provider, with address and key.
pub type RerankAccount = ServedAccount<Reranking>;
/// The server of a reranker.
pub type RerankServer = ModelServer<Reranking>;

impl Kind for Reranking {
    const MODEL: &'static str = "reranker";
    const FROM: &'static str = "reranks by";
    const ADDRESS: &'static str = "--reranker-base-url";
    const CONCURRENCY: usize = 32;

    fn providers() -> &'static [RerankProvider] {
        &RERANK_PROVIDERS
    }

    fn says_what_it_serves(&self) -> bool {
        self.protocol == RerankProtocol::Tei
    }
}

/// The provider of a reranker's name such as `cohere/rerank-v3.5`; `None` for an installed model's.
pub fn rerank_provider(name: &str) -> Option<&'static RerankProvider> {
    provider_of(name)
}

/// Returns the account of a reranker's name; `None` for a name of no provider, which is an installed model's.
///
/// # Errors
/// If the provider serves no such models, or model, address or key is missing or cannot be used.
pub fn reranked_by(name: &str, base_url: Option<&str>) -> Result<Option<RerankAccount>> {
    account_of(name, base_url)
}

impl RerankServer {
    /// Returns one score a text, and what the server counted. `tries` hears of each try.
    pub async fn scores(&self, query: &str, texts: &[&str], tries: &impl Tries) -> Asked<RerankResponse> {
        let protocol = self.account().provider.asked.protocol;
        let can_be = |tokens: &u64| can_be_tokens(*tokens, texts.iter().flat_map(|text| [*text, query]));
        let request = protocol.request(&self.account().model, query, texts);
        let asked = self.send(&request, tries, |received| {
            let response = protocol.read(received.response(), texts.len())?;
            let tokens = response.tokens.or_else(|| received.tokens_of_tei());
            let tokens = tokens.filter(can_be);
            // A search has a text at least.
            let searches = response.searches.filter(|searches| *searches <= texts.len() as u64);
            Ok(RerankResponse { tokens, searches, ..response })
        });
        asked.await.that_can_be(can_be)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_07_a_text_of_more_tokens_than_cohere_counts_as_one_is_several_of_a_search() {
        let searches = |name: &str, query: u64, texts: &[u64]| {
            rerank_provider(name).unwrap().asked.searches(None, query, texts.iter().copied())
        };
        assert_eq!(searches("cohere/x", 20, &[]), Some(0));
        assert_eq!(searches("cohere/x", 20, &[480; 100]), Some(1));
        assert_eq!(searches("cohere/x", 20, &[512; 50]), Some(1));
        assert_eq!(searches("cohere/x", 20, &[512; 51]), Some(2));
        assert_eq!(searches("cohere/x", 9_000, &[0, 251]), Some(1));
        assert_eq!(searches("jina/x", 20, &[512; 51]), None);
        let listed = |name: &str, listed| rerank_provider(name).unwrap().asked.searches(Some(listed), 20, [512; 51]);
        assert_eq!((listed("openai-compatible/x", true), listed("cohere/x", false)), (Some(2), None));
    }

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

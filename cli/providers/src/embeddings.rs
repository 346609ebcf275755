//! Embedding models on servers: who serves them, and how they are asked.

use crate::served::{Asked, Kind, ModelServer, ServedAccount, ServedProvider, can_be_tokens};
use crate::served_providers::{EMBEDDING_PROVIDERS, account_of, provider_of};
use crate::tries::Tries;
use anyhow::Result;
use closeread_embed::Vectors;
use closeread_llm::provider::EmbeddingProtocol;

/// A provider of embedding models.
pub type EmbeddingProvider = ServedProvider<EmbeddingProtocol>;
/// An embedding model of a provider, with address and key.
pub type EmbeddingAccount = ServedAccount<EmbeddingProtocol>;
/// The server of an embedding model.
pub type EmbeddingServer = ModelServer<EmbeddingProtocol>;

impl Kind for EmbeddingProtocol {
    const MODEL: &'static str = "embedding model";
    const FROM: &'static str = "gets embeddings from";
    const ADDRESS: &'static str = "--embedder-base-url";
    const CONCURRENCY: usize = 64;

    fn providers() -> &'static [EmbeddingProvider] {
        &EMBEDDING_PROVIDERS
    }

    fn says_what_it_serves(&self) -> bool {
        *self == Self::Tei
    }
}

/// Returns whether a name is that of an embedding model on a server.
pub fn is_served(name: &str) -> bool {
    provider_of::<EmbeddingProtocol>(name).is_some()
}

/// The account of a name such as `tei/bge-m3`; `None` for a name of no provider, which is an installed model's.
///
/// # Errors
/// If the provider serves no such models, or model, address or key is missing or cannot be used.
pub fn served_by(name: &str, base_url: Option<&str>) -> Result<Option<EmbeddingAccount>> {
    account_of(name, base_url)
}

impl EmbeddingServer {
    /// Returns one vector a text, as the server gave them, and the tokens it counted. `tries` hears of each try.
    pub async fn vectors(&self, texts: &[&str], tries: &impl Tries) -> Asked<(Vectors, Option<u64>)> {
        let protocol = self.account().provider.asked;
        let can_be = |tokens: &u64| can_be_tokens(*tokens, texts.iter().copied());
        let request = protocol.request(&self.account().model, texts);
        let asked = self.send(&request, tries, |received| {
            let response = protocol.read(received.response(), texts.len())?;
            let tokens = response.tokens.or_else(|| received.tokens_of_tei());
            Ok((Vectors::new(response.dimension, response.values), tokens.filter(can_be)))
        });
        asked.await.that_can_be(can_be)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::account;
    use crate::tries::Uncounted;
    use closeread_llm::provider::Limits;
    use std::time::Duration;

    #[test]
    fn tokens_that_no_text_can_have_are_not_counted() {
        let texts = ["A bell.", "Ana"];
        for (told, can_be) in [(0, false), (7, true), (1500, true), (3000, false), (u64::MAX, false)] {
            assert_eq!(can_be_tokens(told, texts.into_iter()), can_be, "{told}");
        }
        assert!(can_be_tokens(0, [""].into_iter()));
    }

    #[tokio::test]
    async fn finding_08_a_server_that_never_answers_is_waited_for_as_long_as_its_limits_say() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let limits = Limits { tries: 1, longest_wait: Duration::from_millis(300), ..Limits::impatient() };
        let account = served_by("openai-compatible/x", Some(&url)).unwrap().unwrap().within(limits);
        let server = EmbeddingServer::new(account).unwrap();
        let asked =
            tokio::time::timeout(Duration::from_secs(20), server.vectors(&["A bell."], &Uncounted)).await.unwrap();
        assert!(asked.result.unwrap_err().to_string().contains("no response in time"));
        assert_eq!(asked.lost, [None], "it may be billed");
    }

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

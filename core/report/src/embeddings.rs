//! What embeddings from servers took.

use closeread_llm::Usage;
use closeread_llm::price::{Dollars, PriceList};
use closeread_methods::record::EmbeddingCall;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the requests to one embedding model took.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EmbeddingUsage {
    /// The model, `provider/model`.
    pub model: String,
    /// Requests that came back with vectors.
    pub requests: usize,
    /// Texts that were embedded; those that were remembered are not among them.
    pub texts: usize,
    /// Tokens as the server counted them.
    pub tokens: u64,
    /// Requests of which the server did not say how many tokens they took.
    pub uncounted: usize,
    /// What the requests cost whose price is known.
    pub dollars: Dollars,
    /// Requests whose cost is not known.
    pub unpriced: usize,
}

/// The requests by model, in the order of the names.
pub fn embedding_usage(calls: &[EmbeddingCall], prices: &PriceList) -> Vec<EmbeddingUsage> {
    let mut by_model: BTreeMap<&str, EmbeddingUsage> = BTreeMap::new();
    for call in calls {
        let usage = by_model
            .entry(&call.model)
            .or_insert_with(|| EmbeddingUsage { model: call.model.clone(), ..EmbeddingUsage::default() });
        usage.requests += 1;
        usage.texts += call.texts;
        usage.tokens = usage.tokens.saturating_add(call.tokens.unwrap_or(0));
        usage.uncounted += usize::from(call.tokens.is_none());
        let tokens = Usage { prompt_tokens: call.tokens, completion_tokens: Some(0), ..Usage::default() };
        match prices.cost(&call.model, &tokens) {
            Some(dollars) => usage.dollars += dollars,
            None => usage.unpriced += 1,
        }
    }
    by_model.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_priced_and_what_is_not_known_is_counted() {
        let call = |model: &str, texts, tokens| EmbeddingCall { model: model.to_owned(), texts, tokens };
        let calls = [call("p/x", 32, Some(1_000_000)), call("p/x", 3, None), call("tei/y", 5, Some(9))];
        let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0.02, output = 0 }";
        let usage = embedding_usage(&calls, &PriceList::read(list).unwrap());
        let x = &usage[0];
        assert_eq!((x.requests, x.texts, x.tokens, x.uncounted, x.unpriced), (2, 35, 1_000_000, 1, 1));
        assert_eq!(x.dollars, Dollars(0.02));
        assert_eq!((usage[1].model.as_str(), usage[1].unpriced), ("tei/y", 1));
    }
}

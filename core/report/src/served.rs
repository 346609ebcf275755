//! Usage of embedding models and rerankers on servers.

use closeread_llm::price::{Dollars, PriceList};
use closeread_methods::record::ServedCall;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Usage of one such model, over all requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServedUsage {
    /// The model, `provider/model`.
    pub model: String,
    /// Number of requests that may be billed.
    pub requests: usize,
    /// Texts that were embedded or scored; those that were remembered are not among them.
    pub texts: usize,
    /// Tokens as the server counted them, or as closeread did.
    pub tokens: u64,
    /// Requests of which the server did not say how many tokens they took.
    pub uncounted: usize,
    /// Requests of which closeread counted the tokens, because the server named none, or a number that cannot be.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub own_count: usize,
    /// Searches that are billed, where the provider counts these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub searches: u64,
    /// Cost of the requests whose price is known.
    pub dollars: Dollars,
    /// Requests whose cost is not known.
    pub unpriced: usize,
}

/// The requests by model, in the order of the names.
pub fn served_usage(calls: &[ServedCall], prices: &PriceList) -> Vec<ServedUsage> {
    let mut by_model: BTreeMap<&str, ServedUsage> = BTreeMap::new();
    for call in calls {
        let usage = by_model
            .entry(&call.model)
            .or_insert_with(|| ServedUsage { model: call.model.clone(), ..ServedUsage::default() });
        usage.requests += 1;
        usage.texts += call.texts;
        usage.tokens = usage.tokens.saturating_add(call.tokens.unwrap_or(0));
        usage.uncounted += usize::from(call.tokens.is_none());
        usage.own_count += usize::from(call.own_count);
        usage.searches = usage.searches.saturating_add(call.searches.unwrap_or(0));
        match prices.cost_of_texts(&call.model, call.tokens, call.searches) {
            Some(dollars) => usage.dollars += dollars,
            None => usage.unpriced += 1,
        }
    }
    by_model.into_values().collect()
}

fn is_zero<N: Default + PartialEq>(n: &N) -> bool {
    *n == N::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_and_tokens_are_priced_and_what_is_not_known_is_counted() {
        let call = |model: &str, tokens, searches| ServedCall {
            model: model.to_owned(),
            texts: 50,
            tokens,
            searches,
            ..ServedCall::default()
        };
        let calls = [call("p/x", None, Some(1)), call("p/x", Some(9), Some(2)), call("tei/y", Some(7), None)];
        let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nsearches = 2.0";
        let usage = served_usage(&calls, &PriceList::read(list).unwrap());
        let x = &usage[0];
        assert_eq!((x.requests, x.texts, x.searches, x.uncounted, x.unpriced), (2, 100, 3, 1, 0));
        assert_eq!(x.dollars, Dollars(0.006));
        assert_eq!((usage[1].model.as_str(), usage[1].tokens, usage[1].unpriced), ("tei/y", 7, 1));
    }

    #[test]
    fn tokens_are_priced_and_what_is_not_known_is_counted() {
        let call =
            |model: &str, texts, tokens| ServedCall { model: model.to_owned(), texts, tokens, ..ServedCall::default() };
        let calls = [call("p/x", 32, Some(1_000_000)), call("p/x", 3, None), call("tei/y", 5, Some(9))];
        let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0.02, output = 0 }";
        let usage = served_usage(&calls, &PriceList::read(list).unwrap());
        let x = &usage[0];
        assert_eq!((x.requests, x.texts, x.tokens, x.uncounted, x.unpriced), (2, 35, 1_000_000, 1, 1));
        assert_eq!(x.dollars, Dollars(0.02));
        assert_eq!((usage[1].model.as_str(), usage[1].unpriced), ("tei/y", 1));
    }
}

//! Prices of tokens and context windows of models: facts with a source and a date, which users can replace. What is not
//! listed is not known, and never guessed.

mod dollars;
mod problem;

pub use dollars::Dollars;
pub use problem::{toml_problem, without_value};

use crate::Usage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const BUILT_IN: &str = include_str!("../../assets/models.toml");

/// Facts on models by their name, `provider/model`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PriceList(BTreeMap<String, ModelFacts>);

/// Facts of a model: prices, window, limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFacts {
    /// Source of the facts, where they were looked up.
    pub source: String,
    /// Date of the look-up, as YYYY-MM-DD.
    pub date: String,
    /// Tokens of prompt and response together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<usize>,
    /// Most tokens that a response can have, reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
    /// The tokenizer that the model counts with, by tiktoken's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// Price of the model's tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Rates>,
    /// Price of the model's tokens where the prompt is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrompt>,
    /// Price of the model's tokens through the provider's batch API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Rates>,
    /// Dollars for a thousand searches of a reranker that is paid by the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searches: Option<f64>,
}

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Price of the prompt's tokens.
    pub input: f64,
    /// Tokens of the response, reasoning included.
    pub output: f64,
    /// Tokens of the prompt that come from the provider's cache; as `input` where no other price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Price of the prompt's tokens that are written to the cache; as `input` where no other price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

/// Prices from a certain length of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPrompt {
    /// Length of the prompt above which the prices hold, in tokens; they hold for every token of such a call.
    pub above: u64,
    /// Price of tokens in such a call.
    pub price: Rates,
    /// Price of tokens in such a call through the provider's batch API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Rates>,
}

/// The tokens of a call, or of several calls with prompts of the same length, as they are priced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Tokens of the prompt, cached ones included.
    pub prompt: u64,
    /// Tokens of the prompt that were read from the provider's cache.
    pub cached: u64,
    /// Tokens of the prompt that were written to the provider's cache.
    pub written: u64,
    /// Tokens of the response, reasoning included.
    pub response: u64,
}

/// The reason why a price list cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// The file is not TOML, or not of this form.
    #[error(
        "not a list of models ({0}); expected tables [\"provider/model\"] with source, date and what is known of \
         window, max_output, tokenizer, price, long, batch and searches"
    )]
    Form(String),
    /// An entry says something that cannot be.
    #[error("model `{model}`: {problem}")]
    Entry {
        /// Name of the entry.
        model: String,
        /// Problem with the entry, and what was expected.
        problem: String,
    },
}

impl PriceList {
    /// Returns the list that ships.
    pub fn built_in() -> Self {
        Self::read(BUILT_IN).expect("the list that ships is read by a test")
    }

    /// Reads a list in TOML.
    ///
    /// # Errors
    /// [`PriceError`] for what is not of this form, a model without its provider, a price that is negative or no
    /// number, a date that is none, a window or a longest response of 0.
    pub fn read(text: &str) -> Result<Self, PriceError> {
        let list: Self = toml::from_str(text).map_err(|error| PriceError::Form(toml_problem(text, &error)))?;
        for (model, facts) in &list.0 {
            let wrong = |problem: String| PriceError::Entry { model: model.clone(), problem };
            if !model.contains('/') {
                return Err(wrong("expected a name such as openai/gpt-4o, provider/model".to_owned()));
            }
            if !is_date(&facts.date) {
                return Err(wrong(format!("date `{}`: expected YYYY-MM-DD", facts.date)));
            }
            let limits = [("window", facts.window), ("max_output", facts.max_output.map(|tokens| tokens as usize))];
            if let Some((name, _)) = limits.into_iter().find(|(_, tokens)| *tokens == Some(0)) {
                return Err(wrong(format!("{name} 0: expected 1 token or more")));
            }
            if let Some(price) = facts.searches.filter(|price| !price.is_finite() || *price < 0.0) {
                return Err(wrong(format!("searches {price}: expected dollars for a thousand, 0 or more")));
            }
            for rates in facts.rates_of_all() {
                if let Some(price) = rates.all().find(|price| !price.is_finite() || *price < 0.0) {
                    return Err(wrong(format!("price {price}: expected dollars for a million tokens, 0 or more")));
                }
            }
        }
        Ok(list)
    }

    /// Adds the entries of another list to this one, or puts them in the place of its own.
    #[must_use]
    pub fn overlaid(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Returns the entries, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ModelFacts)> {
        self.0.iter().map(|(model, facts)| (model.as_str(), facts))
    }

    /// Returns the facts of a model.
    pub fn of(&self, model: &str) -> Option<&ModelFacts> {
        self.0.get(model)
    }

    /// The part of the list that concerns these models.
    #[must_use]
    pub fn only<'a>(&self, models: impl IntoIterator<Item = &'a str>) -> Self {
        let known = |model: &str| Some((model.to_owned(), self.of(model)?.clone()));
        Self(models.into_iter().filter_map(known).collect())
    }

    /// Returns the most tokens that a response of a model can have, as far as it is known: its maximum, else all that
    /// its window holds.
    pub fn longest_response(&self, model: &str) -> Option<u64> {
        let facts = self.of(model)?;
        facts.max_output.map(u64::from).or(facts.window.map(|window| window as u64))
    }

    /// Returns the cost of a call of a model; `None` where the price is not known or the provider did not say how many
    /// tokens.
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<Dollars> {
        if self.is_free(model) {
            return Some(Dollars::default());
        }
        let tokens = Tokens {
            prompt: usage.prompt_tokens?,
            cached: usage.cached_tokens.unwrap_or(0),
            written: usage.cache_write_tokens.unwrap_or(0),
            response: usage.completion_tokens?,
        };
        let facts = self.of(model)?;
        let rates = if usage.batch { facts.batch_rates(tokens.prompt) } else { facts.rates(tokens.prompt) };
        Some(rates?.cost(tokens))
    }

    /// Returns the cost of a request to an embedding model or a reranker: by its searches where it is paid by these,
    /// else by its tokens; `None` where price or number is not known.
    pub fn cost_of_texts(&self, model: &str, tokens: Option<u64>, searches: Option<u64>) -> Option<Dollars> {
        match self.of(model)?.searches {
            Some(price) => Some(Dollars(price / 1000.0 * searches? as f64)),
            None => self.cost(model, &Usage { prompt_tokens: tokens, completion_tokens: Some(0), ..Usage::default() }),
        }
    }

    /// Returns whether a reranker is paid by its searches; `None` where it has no entry.
    pub fn pays_searches(&self, model: &str) -> Option<bool> {
        self.of(model).map(|facts| facts.searches.is_some())
    }

    /// True if calls of the model cost nothing.
    pub fn is_free(&self, model: &str) -> bool {
        self.of(model).is_some_and(|facts| {
            facts.price.is_some() && facts.rates_of_all().flat_map(Rates::all).all(|price| price == 0.0)
        })
    }
}

impl ModelFacts {
    /// The prices for a call whose prompt has that many tokens.
    pub fn rates(&self, prompt_tokens: u64) -> Option<Rates> {
        match self.long {
            Some(long) if prompt_tokens > long.above => Some(long.price),
            _ => self.price,
        }
    }

    /// Every list of rates that the facts have.
    fn rates_of_all(&self) -> impl Iterator<Item = Rates> {
        let (long, long_batch) = (self.long.map(|long| long.price), self.long.and_then(|long| long.batch));
        [self.price, self.batch, long, long_batch].into_iter().flatten()
    }

    /// The prices of the batch API for a call whose prompt has that many tokens.
    pub fn batch_rates(&self, prompt_tokens: u64) -> Option<Rates> {
        match self.long {
            Some(long) if prompt_tokens > long.above => long.batch,
            _ => self.batch,
        }
    }
}

impl Rates {
    /// Returns the cost of the tokens.
    pub fn cost(&self, tokens: Tokens) -> Dollars {
        let plain = tokens.prompt.saturating_sub(tokens.cached.saturating_add(tokens.written));
        let parts = [
            (plain, self.input),
            (tokens.cached, self.cached_input.unwrap_or(self.input)),
            (tokens.written, self.cache_write.unwrap_or(self.input)),
            (tokens.response, self.output),
        ];
        Dollars(parts.iter().map(|(n, rate)| *n as f64 * rate).sum::<f64>() / 1e6)
    }

    fn all(self) -> impl Iterator<Item = f64> {
        [Some(self.input), Some(self.output), self.cached_input, self.cache_write].into_iter().flatten()
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [4, 2, 2] && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(prompt: u64, cached: u64, written: u64, response: u64) -> Usage {
        Usage {
            prompt_tokens: Some(prompt),
            completion_tokens: Some(response),
            cached_tokens: Some(cached),
            cache_write_tokens: Some(written),
            ..Usage::default()
        }
    }

    #[test]
    fn the_list_that_ships_is_whole() {
        let list = PriceList::built_in();
        assert!(list.is_free("builtin/extractive") && !list.is_free("openai/gpt-4o"));
        assert_eq!(list.of("openai/gpt-4.1").unwrap().window, Some(1_047_576));
        for (model, facts) in &list.0 {
            assert!(!facts.source.is_empty() && (facts.price.is_some() || facts.searches.is_some()), "{model}");
        }
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let list = PriceList::read(
            "['p/x']\nsource = 's'\ndate = '2026-01-02'\n\
             price = { input = 3, cached_input = 0.3, cache_write = 3.75, output = 15 }\n\
             long = { above = 1000000, price = { input = 6, output = 20 } }",
        )
        .unwrap();
        let cost = |usage| list.cost("p/x", &usage).unwrap().0;
        assert_eq!(cost(usage(1_000_000, 0, 0, 0)), 3.0);
        assert!((cost(usage(1_000_000, 600_000, 300_000, 100_000)) - (0.3 + 0.18 + 1.125 + 1.5)).abs() < 1e-12);
        assert_eq!(cost(usage(2_000_000, 2_000_000, 0, 0)), 12.0, "no price of its own: as any other token");
        let free = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0, output = 0 }\n\
             long = { above = 1000000, price = { input = 6, output = 20 } }";
        let list = PriceList::read(free).unwrap();
        let cost = |usage| list.cost("p/x", &usage).unwrap().0;
        assert_eq!(
            (cost(usage(1_000_000, 0, 0, 9)), cost(usage(2_000_000, 0, 0, 0))),
            (0.0, 12.0),
            "free up to a length"
        );
        let own = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nbatch = { input = 2, output = 2 }\n\
             long = { above = 1000000, price = { input = 8, output = 8 } }";
        let list = PriceList::built_in().overlaid(PriceList::read(own).unwrap());
        let in_batch = |model, n| list.cost(model, &Usage { batch: true, ..usage(n, 0, 0, 0) }).map(|cost| cost.0);
        assert_eq!([1_000_000, 1_000_001].map(|n| in_batch("p/x", n)), [Some(2.0), None], "not known");
        assert_eq!([100_000, 1_000_000].map(|n| in_batch("openai/gpt-5.5", n)), [Some(0.25), Some(5.0)]);
    }

    #[test]
    fn a_reranker_is_paid_by_the_search_or_by_the_token() {
        let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nsearches = 2.0\n\
                    ['p/y']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0.05, output = 0 }";
        let list = PriceList::read(list).unwrap();
        assert_eq!(list.cost_of_texts("p/x", None, Some(3)), Some(Dollars(0.006)));
        assert_eq!(list.cost_of_texts("p/x", Some(9), None), None);
        assert_eq!(list.cost_of_texts("p/y", Some(2_000_000), None), Some(Dollars(0.1)));
        assert_eq!(list.cost_of_texts("p/z", Some(9), Some(1)), None);
        let negative = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nsearches = -1";
        assert!(PriceList::read(negative).unwrap_err().to_string().contains("searches -1: expected dollars"));
    }

    #[test]
    fn a_batch_has_its_own_prices_or_none() {
        let list = PriceList::built_in();
        let batch = Usage { batch: true, ..usage(1_000_000, 0, 0, 1_000_000) };
        assert_eq!(list.cost("openai/gpt-4.1", &batch), Some(Dollars(5.0)));
        for (model, facts) in list.0.iter().filter(|(model, _)| model.starts_with("anthropic/")) {
            let (price, Some(batch)) = (facts.price.unwrap(), facts.batch) else { continue };
            let half = |price: Option<f64>| price.map(|price| price / 2.0);
            assert_eq!(
                (batch.cached_input, batch.cache_write),
                (half(price.cached_input), half(price.cache_write)),
                "{model}: a prompt is marked for the cache in a batch too"
            );
        }
        let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 3, output = 15 }";
        assert_eq!(PriceList::read(list).unwrap().cost("p/x", &batch), None);
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        let list = PriceList::built_in();
        assert_eq!(list.cost("openai/gpt-4.1-ultra", &usage(1, 0, 0, 1)), None);
        assert_eq!(list.cost("openai/gpt-4.1", &Usage::default()), None);
    }

    #[test]
    fn an_entry_replaces_the_whole_entry() {
        let own = "['openai/gpt-4o']\nsource = 'my contract'\ndate = '2026-01-02'\nprice = { input = 1, output = 1 }";
        let list = PriceList::built_in().overlaid(PriceList::read(own).unwrap());
        let facts = list.of("openai/gpt-4o").unwrap();
        assert_eq!((facts.window, facts.batch), (None, None));
        assert!(list.of("openai/gpt-4.1").is_some());
    }

    #[test]
    fn a_list_that_cannot_be_used_says_why() {
        let message = |text: &str| PriceList::read(text).unwrap_err().to_string();
        assert!(message("x = 1").contains("expected tables"));
        assert!(message("['p/x']\nsource = 's'\ndate = 'today'").contains("`p/x`: date `today`: expected YYYY-MM-DD"));
        let negative = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = -1, output = 1 }";
        assert!(message(negative).contains("price -1: expected dollars"));
        assert!(message("['p/x']\nsource = 's'\ndate = '2026-01-02'\nwindow = 0").contains("window 0: expected 1"));
        assert!(message("['x']\nsource = 's'\ndate = '2026-01-02'").contains("provider/model"));
        assert!(message("['p/x']\nsource = 's'\ndate = '2026-01-02'\nwindwo = 3").contains("windwo"));
    }
}

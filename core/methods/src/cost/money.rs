//! Cost of calls in dollars.

use super::calls::{Calls, Cost, Range, Shared};
use closeread_llm::price::{Dollars, ModelFacts, Tokens};
use serde::{Deserialize, Serialize};

/// The prices that hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tariff {
    /// Every token at its list price.
    List,
    /// The beginning that calls on the same books share is written to the provider's cache once and read from it
    /// afterwards.
    Cached,
    /// Prices of the batch API, without a cache.
    Batch,
}

impl Calls {
    /// Returns what these calls cost, at least and at most; `None` where the price is not known. `typical` as in
    /// [`Calls::response`].
    fn dollars(&self, facts: &ModelFacts, tariff: Tariff, typical: u64) -> Option<(Dollars, Dollars)> {
        let response = self.response(typical);
        let (written, cached) = match (tariff, self.shared) {
            (Tariff::Cached, Shared::First(tokens)) => (tokens, 0),
            (Tariff::Cached, Shared::Again(tokens)) => (0, tokens),
            _ => (0, 0),
        };
        let at = |prompt: u64, longest: u64, response: u64| {
            let rates = match tariff {
                Tariff::List | Tariff::Cached => facts.rates(longest)?,
                Tariff::Batch => facts.batch_rates(longest)?,
            };
            Some(rates.cost(Tokens { prompt, cached, written, response }))
        };
        let average = self.prompt.low / self.n.low.max(1);
        Some((at(self.prompt.low, average, response.low)?, at(self.prompt.high, self.longest, response.high)?))
    }
}

impl Cost {
    /// Returns the cost in dollars, at least and at most; `None` where the price is not known.
    ///
    /// At least: responses of `typical` tokens and everything else at its low end; at most: each response as long as it may
    /// be. Tokens are those of the run's tokenizer.
    pub fn dollars(&self, facts: &ModelFacts, tariff: Tariff, typical: u64) -> Option<(Dollars, Dollars)> {
        let mut total = (Dollars::default(), Dollars::default());
        for calls in self.calls.iter().filter(|calls| calls.n != Range::default()) {
            let (low, high) = calls.dollars(facts, tariff, typical)?;
            total = (total.0 + low, total.1 + high);
        }
        Some(total)
    }
}

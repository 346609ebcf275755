//! Tokens and money of calls, added up.

use closeread_llm::Usage;
use closeread_llm::price::PriceList;
use closeread_methods::record::{CallTrace, Record};
use closeread_report::blocked_call;
use serde_json::{Value, json};

/// The tokens that calls took. Calls that were remembered took none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Tokens {
    /// Tokens of prompts, cached ones included.
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
    pub(crate) reasoning: u64,
    /// US dollars of the calls whose price is known; `None` if none is.
    pub(crate) dollars: Option<f64>,
}

impl Tokens {
    /// The tokens of a trial; of a call whose response was blocked those of its prompt, as the report counts them.
    pub(crate) fn of_trial(model: &str, record: &Record, prices: &PriceList) -> Self {
        let mut sum = Self::of(model, &record.calls, prices);
        let blocked = record.blocked_tokens().and_then(|tokens| blocked_call(&record.calls, tokens));
        blocked.iter().for_each(|usage| sum.add(Self::of_usage(model, usage, prices)));
        sum
    }

    pub(crate) fn of(model: &str, calls: &[CallTrace], prices: &PriceList) -> Self {
        let mut sum = Self::default();
        for call in calls.iter().filter(|call| !call.cached) {
            sum.add(Self::of_usage(model, &call.usage, prices));
        }
        sum
    }

    fn of_usage(model: &str, usage: &Usage, prices: &PriceList) -> Self {
        let n = |tokens: Option<u64>| tokens.unwrap_or(0);
        Self {
            input: n(usage.prompt_tokens),
            output: n(usage.completion_tokens),
            cache_read: n(usage.cached_tokens),
            cache_write: n(usage.cache_write_tokens),
            reasoning: n(usage.reasoning_tokens),
            dollars: prices.cost(model, usage).map(|dollars| dollars.0),
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.reasoning += other.reasoning;
        if let Some(dollars) = other.dollars {
            *self.dollars.get_or_insert(0.0) += dollars;
        }
    }

    /// Returns the tokens as inspect counts them: `input_tokens` are those charged at the full rate.
    pub(crate) fn inspect(&self) -> Value {
        let full = self.input.saturating_sub(self.cache_read + self.cache_write);
        json!({
            "input_tokens": full,
            "output_tokens": self.output,
            "total_tokens": self.input + self.output,
            "input_tokens_cache_read": self.cache_read,
            "input_tokens_cache_write": self.cache_write,
            "reasoning_tokens": self.reasoning,
            "total_cost": self.dollars,
        })
    }
}

//! Spending of a run while it runs, and the limit it may not pass.

use closeread_books::tokens::Tokenizer;
use closeread_llm::price::{Dollars, PriceList, Tokens};
use closeread_llm::{Call, FinishReason, HostError, Response};
use closeread_methods::record::ServedCall;
use closeread_providers::Outgoing;
use std::cell::RefCell;
use tokio::sync::Notify;

/// The calls of a run: how many are in flight, what they took, what they cost.
///
/// With a limit a call begins only if it, and all that are in flight, can still cost no more than is left: prompt by
/// the run's tokenizer, response at its limit or as long as the model can write, nothing from a cache. A call for which
/// there is no more money waits for ever; who drives the calls hears of it by [`Spending::is_out`] and drops it.
pub struct Spending {
    prices: PriceList,
    limit: Option<Dollars>,
    tokenizer: Tokenizer,
    state: RefCell<Taken>,
    changed: Notify,
}

/// The calls, tokens and dollars taken so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Taken {
    /// Number of calls in flight.
    pub in_flight: usize,
    /// Tokens of prompts, as the providers counted them.
    pub prompt_tokens: u64,
    /// Number of tokens of responses.
    pub response_tokens: u64,
    /// Money spent, earlier runs into the same folder included.
    pub dollars: Dollars,
    /// Calls whose cost is not known.
    pub unpriced: usize,
    /// Whether the limit kept a call from beginning.
    pub out: bool,
    /// Dollars that calls in flight may cost.
    pub reserved: Dollars,
    /// Part of `dollars` that embeddings from servers have cost since the start.
    pub embeddings: Dollars,
}

impl Spending {
    /// Begins with nothing in flight; `before` was spent earlier.
    pub fn new(prices: PriceList, limit: Option<Dollars>, before: Dollars, tokenizer: Tokenizer) -> Self {
        let state = RefCell::new(Taken { dollars: before, ..Taken::default() });
        Self { prices, limit, tokenizer, state, changed: Notify::new() }
    }

    /// The prices that calls are counted by.
    pub fn prices(&self) -> &PriceList {
        &self.prices
    }

    /// Returns what was taken so far.
    pub fn taken(&self) -> Taken {
        *self.state.borrow()
    }

    /// Counts what embeddings from servers have cost since the start. They are made before the calls that need them, which
    /// then find less money left.
    pub fn embedded(&self, dollars: Dollars) {
        let mut state = self.state.borrow_mut();
        let before = std::mem::replace(&mut state.embeddings, dollars);
        state.dollars = state.dollars + dollars - before;
    }

    /// Counts what was asked of a reranker's server.
    pub fn reranked(&self, calls: &[ServedCall]) {
        let mut state = self.state.borrow_mut();
        for ServedCall { model, tokens, searches, .. } in calls {
            match self.prices.cost_of_texts(model, *tokens, *searches) {
                Some(dollars) => state.dollars += dollars,
                None => state.unpriced += 1,
            }
        }
    }

    /// Waits until a call may begin; `in_batch` ones go through the provider's batch API.
    pub async fn begin(&self, model: &str, call: &Outgoing, in_batch: bool) -> Begun<'_> {
        let max_response = self.most_response(model, call.marked());
        let counted = self.limit.map(|_| call.count(&self.tokenizer));
        let worst = counted.map_or(Dollars::default(), |prompt| self.worst(model, prompt, max_response, in_batch));
        loop {
            let changed = self.changed.notified();
            {
                let mut state = self.state.borrow_mut();
                if self.limit.is_none_or(|limit| state.dollars + state.reserved + worst <= limit) && !state.out {
                    state.in_flight += 1;
                    state.reserved += worst;
                    return Begun { spending: self, worst, counted, max_response };
                }
                if state.in_flight == 0 && !state.out {
                    state.out = true;
                    self.changed.notify_waiters();
                }
            }
            changed.await;
        }
    }

    /// Returns when there is no money for a call that wants to begin, and none is in flight any more.
    pub async fn is_out(&self) {
        loop {
            let changed = self.changed.notified();
            let Taken { out, in_flight, .. } = self.taken();
            if out && in_flight == 0 {
                return;
            }
            changed.await;
        }
    }

    /// Returns the most tokens that the response to a call may have: its limit, else all that the model can write.
    fn most_response(&self, model: &str, call: &Call) -> u64 {
        let longest = || self.prices.longest_response(model).unwrap_or(call.assumed_response_tokens().into());
        call.max_output_tokens.map_or_else(longest, u64::from)
    }

    /// The most that a call can cost, as far as it is known.
    fn worst(&self, model: &str, prompt: u64, response: u64, in_batch: bool) -> Dollars {
        let tokens = Tokens { prompt, cached: 0, written: 0, response };
        let rates = self.prices.of(model).and_then(|facts| if in_batch { facts.batch } else { facts.rates(prompt) });
        rates.map_or(Dollars::default(), |rates| rates.cost(tokens))
    }
}

/// A call in flight.
pub struct Begun<'a> {
    spending: &'a Spending,
    worst: Dollars,
    /// Tokens of its prompt, where money is limited.
    counted: Option<u64>,
    /// Most tokens that the response may have.
    max_response: u64,
}

impl Begun<'_> {
    /// Counts what came back. Where money is limited, tokens that the provider did not name, or cannot have counted,
    /// are ours in the response that is given back: a limit that only holds for honest servers is none.
    pub fn ended(self, model: &str, result: Result<Response, HostError>) -> Result<Response, HostError> {
        // Who blocks a response has read the prompt, and bills it.
        if let (Err(HostError::Blocked { .. }), Some(prompt)) = (&result, self.counted) {
            self.spending.state.borrow_mut().dollars += self.spending.worst(model, prompt, 0, false);
        }
        let mut response = result?;
        if response.cached {
            return Ok(response);
        }
        if let Some(prompt) = self.counted {
            let text = self.spending.tokenizer.count(&response.text) as u64;
            let counted = if response.finish == FinishReason::Length { self.max_response } else { text };
            response.usage = response.usage.or_counted(prompt, counted, self.max_response);
        }
        let mut state = self.spending.state.borrow_mut();
        state.prompt_tokens = state.prompt_tokens.saturating_add(response.usage.prompt_tokens.unwrap_or(0));
        state.response_tokens = state.response_tokens.saturating_add(response.usage.completion_tokens.unwrap_or(0));
        match self.spending.prices.cost(model, &response.usage) {
            Some(dollars) => state.dollars += dollars,
            None => state.unpriced += 1,
        }
        drop(state);
        Ok(response)
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        {
            let mut state = self.spending.state.borrow_mut();
            state.in_flight -= 1;
            state.reserved = state.reserved - self.worst;
        }
        self.spending.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_llm::{Message, Usage};
    use std::time::Duration;

    /// A call costs at most a dollar: its response has a million tokens.
    fn spending(limit: f64) -> Spending {
        let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0, output = 1 }";
        Spending::new(PriceList::read(list).unwrap(), Some(Dollars(limit)), Dollars(0.25), Tokenizer::cl100k())
    }

    fn call() -> Outgoing {
        let (messages, prompt) = (vec![Message::user("?")], String::new());
        Call { messages, temperature: 0.0, max_output_tokens: Some(1_000_000), prompt }.into()
    }

    #[tokio::test]
    async fn finding_07_a_blocked_call_costs_its_prompt() {
        let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1, output = 1 }";
        let list = PriceList::read(list).unwrap();
        let spending = Spending::new(list, Some(Dollars(9.0)), Dollars(0.25), Tokenizer::cl100k());
        let begun = spending.begin("p/x", &call(), false).await;
        let prompt = begun.counted.unwrap();
        let blocked = Err(HostError::Blocked { reason: "no".to_owned() });
        assert!(begun.ended("p/x", blocked).is_err() && prompt > 0);
        let spent = || spending.taken().dollars.0 - 0.25;
        assert!((spent() - prompt as f64 / 1e6).abs() < 1e-12, "{}", spent());
        let begun = spending.begin("p/x", &call(), false).await;
        assert!(begun.ended("p/x", Err(HostError::Failed("no".to_owned()))).is_err());
        assert!((spent() - prompt as f64 / 1e6).abs() < 1e-12, "what failed is not billed: {}", spent());
    }

    fn response(tokens: u64) -> Result<Response, HostError> {
        let usage = Usage { prompt_tokens: Some(1), completion_tokens: Some(tokens), ..Usage::default() };
        Ok(Response { usage, ..Response::default() })
    }

    async fn waits<T>(future: impl Future<Output = T>) -> bool {
        tokio::time::timeout(Duration::from_millis(10), future).await.is_err()
    }

    #[tokio::test]
    async fn a_call_begins_only_if_all_that_is_in_flight_can_be_paid() {
        let spending = spending(2.5);
        let (first, second) =
            (spending.begin("p/x", &call(), false).await, spending.begin("p/x", &call(), false).await);
        assert!(waits(spending.begin("p/x", &call(), false)).await, "0.25 spent, 2 reserved");
        assert!(waits(spending.is_out()).await, "calls in flight may turn out cheaper");
        first.ended("p/x", response(100_000)).unwrap();
        let third = spending.begin("p/x", &call(), false).await;
        second.ended("p/x", response(1_000_000)).unwrap();
        third.ended("p/x", response(1_000_000)).unwrap();
        assert!(waits(spending.begin("p/x", &call(), false)).await);
        spending.is_out().await;
        let taken = spending.taken();
        assert!((taken.dollars.0 - 2.35).abs() < 1e-9 && taken.in_flight == 0, "{taken:?}");
    }

    #[tokio::test]
    async fn a_response_without_a_limit_may_be_as_long_as_the_model_can_write() {
        let list = |known: &str| {
            let list =
                format!("['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = {{ input = 0, output = 1 }}\n{known}");
            Spending::new(PriceList::read(&list).unwrap(), Some(Dollars(0.5)), Dollars::default(), Tokenizer::cl100k())
        };
        let open = || Outgoing::from(Call { max_output_tokens: None, ..call().whole().into_owned() });
        for (known, fits) in [("max_output = 400_000\nwindow = 900_000", true), ("window = 900_000", false)] {
            let spending = list(known);
            assert_eq!(!waits(spending.begin("p/x", &open(), false)).await, fits, "{known}");
        }
    }

    #[tokio::test]
    async fn a_call_in_a_batch_needs_what_it_costs_there() {
        let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0, output = 1 }\n\
                    batch = { input = 0, output = 0.5 }";
        let limit = Some(Dollars(1.0));
        let spending = Spending::new(PriceList::read(list).unwrap(), limit, Dollars::default(), Tokenizer::cl100k());
        let _both = (spending.begin("p/x", &call(), true).await, spending.begin("p/x", &call(), true).await);
        assert!(waits(spending.begin("p/x", &call(), true)).await, "two times half a dollar");
    }

    #[tokio::test]
    async fn a_failed_call_gives_its_money_back_and_an_unpriced_one_is_counted() {
        let spending = spending(1.25);
        let failed = spending.begin("p/x", &call(), false).await;
        assert!(failed.ended("p/x", Err(HostError::Failed("x".to_owned()))).is_err());
        let unknown = spending.begin("p/y", &call(), false).await;
        unknown.ended("p/y", response(9)).unwrap();
        let again = spending.begin("p/x", &call(), false).await;
        drop(again);
        let taken = spending.taken();
        assert_eq!((taken.dollars, taken.unpriced, taken.response_tokens), (Dollars(0.25), 1, 9));
    }

    #[tokio::test]
    async fn finding_07_what_no_usage_or_an_absurd_one_tells_is_counted_and_charged() {
        let told = |prompt, response| Usage { prompt_tokens: prompt, completion_tokens: response, ..Usage::default() };
        for usage in [told(None, None), told(Some(0), Some(0)), told(Some(u64::MAX), Some(u64::MAX))] {
            let spending = spending(1.5);
            let begun = spending.begin("p/x", &call(), false).await;
            let text = "word ".repeat(1000);
            let response = begun.ended("p/x", Ok(Response { usage, text, ..Response::default() })).unwrap();
            let counted = response.usage.completion_tokens.unwrap();
            assert!(response.usage.own_count && (1000..=1001).contains(&counted), "{:?}", response.usage);
            let taken = spending.taken();
            assert!((taken.dollars.0 - 0.25 - counted as f64 / 1e6).abs() < 1e-9 && taken.unpriced == 0, "{taken:?}");
        }
        let spending = spending(1.5);
        let begun = spending.begin("p/x", &call(), false).await;
        let cut = Response { finish: FinishReason::Length, ..Response::default() };
        let response = begun.ended("p/x", Ok(cut)).unwrap();
        assert_eq!(response.usage.completion_tokens, Some(1_000_000), "what was cut took all it might");
    }
}

//! Spending of a run while it runs, and the limit it may not pass.

mod charges;
mod served;
mod spent;
mod taken;
#[cfg(test)]
mod tests;

pub use charges::{CHARGES, Charged, keep_charged};
pub use served::Serving;
pub use spent::Spent;
pub use taken::Taken;

use anyhow::Result;
use charges::{CallName, Charges};
use closeread_books::tokens::Tokenizer;
use closeread_llm::price::{Dollars, PriceList, Tokens};
use closeread_llm::{Call, FinishReason, HostError, Response, Usage};
use closeread_providers::{Bill, Outgoing, Tries};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tracing::debug;

/// The calls of a run: how many are in flight, what they took, what they cost.
///
/// With a limit a call begins only if it, and all that are in flight, can still cost no more than is left: prompt by
/// the run's tokenizer, response at its limit or as long as the model can write, nothing from a cache. A call for which
/// there is no more money waits for ever; who drives the calls hears of it by [`Spending::is_out`] and drops it. Requests to
/// embedding models and rerankers keep to the same limit ([`Serving`]); embedders send theirs from a thread of their own.
#[derive(Debug)]
pub struct Spending {
    prices: PriceList,
    limit: Option<Dollars>,
    tokenizer: Tokenizer,
    charges: Option<Mutex<Charges>>,
    state: Mutex<Taken>,
    changed: Notify,
}

impl Spending {
    /// Begins with nothing in flight; `before` was spent earlier.
    pub fn new(prices: PriceList, limit: Option<Dollars>, before: Dollars, tokenizer: Tokenizer) -> Self {
        let state = Mutex::new(Taken { dollars: before, ..Taken::default() });
        Self { prices, limit, tokenizer, charges: None, state, changed: Notify::new() }
    }

    /// The spending of the run in a folder, of which the caller has the lock. What calls cost that have a price is kept there,
    /// so that a kill forgets none; it counts once money is limited.
    pub fn of_run(
        run: &Path,
        prices: PriceList,
        limit: Option<Dollars>,
        before: Spent,
        tokenizer: Tokenizer,
    ) -> Result<Self> {
        let charges = Charges::open(run, before.calls, limit.is_some())?;
        let spent = if limit.is_some() { before.total() } else { before.ended() + before.served };
        let all = Self { charges: Some(Mutex::new(charges)), ..Self::new(prices, limit, spent, tokenizer) };
        all.state().open = all.limited(before.open);
        Ok(all)
    }

    /// The prices that calls are counted by.
    pub fn prices(&self) -> &PriceList {
        &self.prices
    }

    /// Returns what was taken so far.
    pub fn taken(&self) -> Taken {
        *self.state()
    }

    fn state(&self) -> MutexGuard<'_, Taken> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn charges(&self) -> Option<MutexGuard<'_, Charges>> {
        Some(self.charges.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until a call may begin; one with the key of its request goes through the provider's batch API. For one that is
    /// there already the money is set aside.
    pub async fn begin(&self, model: &str, call: &Outgoing, in_batch: Option<&str>) -> Begun<'_> {
        let max_response = call.most_response(self.most_response(model, call.marked()));
        let unread = max_response / call.n_responses() * (call.n_responses() - 1);
        let counted = self.limit.map(|_| call.count(&self.tokenizer));
        let in_fields = counted.map_or(0, |_| call.count_in_fields(&self.tokenizer));
        let name = in_batch.map(|request| CallName::Request(request.to_owned()));
        let begun = |most, is_sent| Begun {
            spending: self,
            name: RefCell::new(name.clone()),
            is_sent: Cell::new(is_sent),
            billed: Cell::default(),
            model: model.to_owned(),
            worst: self.limited(most),
            most,
            counted,
            in_fields,
            max_response,
            unread,
        };
        if let Some(most) = in_batch.zip(self.charges()).and_then(|(request, charges)| charges.take(request)) {
            let mut state = self.state();
            state.take_back(self.limited(most));
            state.set_aside(self.limited(most));
            return begun(most, true);
        }
        let prompt = counted.unwrap_or_else(|| call.most_tokens());
        let worst = self.worst(model, prompt, max_response, in_batch.is_some());
        if !self.set_aside(worst).await {
            return std::future::pending().await;
        }
        begun(worst, false)
    }

    /// Counts a request as in flight and sets the most aside that it can cost, once there is money for it; false if there is none.
    async fn set_aside(&self, most: Dollars) -> bool {
        loop {
            let changed = self.changed.notified();
            {
                let mut state = self.state();
                if !state.out && self.limit.is_none_or(|limit| state.dollars + state.reserved + most <= limit) {
                    state.set_aside(self.limited(most));
                    return true;
                }
                if state.in_flight == 0 && !state.out {
                    state.out = true;
                    self.changed.notify_waiters();
                }
                if state.out {
                    return false;
                }
                if !std::mem::replace(&mut state.is_short, true) {
                    self.changed.notify_waiters();
                }
            }
            changed.await;
        }
    }

    /// The dollars, where money is limited.
    fn limited(&self, dollars: Dollars) -> Dollars {
        if self.limit.is_some() { dollars } else { Dollars::default() }
    }

    /// Notes that a request has ended, for which so much was set aside.
    fn leave(&self, aside: Dollars) {
        {
            let mut state = self.state();
            state.in_flight -= 1;
            state.reserved = state.reserved - aside;
            state.is_short = false;
        }
        self.changed.notify_waiters();
    }

    /// Returns when a request waits for money that is set aside for others.
    pub(crate) async fn is_short(&self) {
        loop {
            let changed = self.changed.notified();
            if self.taken().is_short {
                return;
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

    /// The most that a call can cost, as far as it is known: the provider may write the prompt into its cache, for more.
    fn worst(&self, model: &str, prompt: u64, response: u64, in_batch: bool) -> Dollars {
        let plain = Tokens { prompt, cached: 0, written: 0, response };
        let written = Tokens { written: prompt, ..plain };
        let facts = self.prices.of(model);
        let rates = facts.and_then(|facts| if in_batch { facts.batch_rates(prompt) } else { facts.rates(prompt) });
        rates.map_or(Dollars::default(), |rates| {
            let (plain, written) = (rates.cost(plain), rates.cost(written));
            if written > plain { written } else { plain }
        })
    }
}

/// A call in flight. A try of which nobody knows the end is charged in full.
pub struct Begun<'a> {
    spending: &'a Spending,
    /// Name of the try in the folder's charges.
    name: RefCell<Option<CallName>>,
    /// Whether a try may be at the provider.
    is_sent: Cell<bool>,
    /// Tokens that the last try was billed for, if it gave no response.
    billed: Cell<Option<Usage>>,
    /// Name by which it is priced.
    model: String,
    /// Dollars that are set aside for it, where money is limited.
    worst: Dollars,
    /// Most dollars that a try can cost.
    most: Dollars,
    /// Tokens of its prompt, where money is limited.
    counted: Option<u64>,
    /// The part of them that is in fields of the request.
    in_fields: u64,
    /// Most tokens that the response may have.
    max_response: u64,
    /// How many of them may be in responses that nobody reads.
    unread: u64,
}

impl Begun<'_> {
    /// Counts what came back. Where money is limited, tokens that the provider did not name, or cannot have counted,
    /// are ours in the response that is given back: a limit that only holds for honest servers is none.
    pub fn ended(self, result: Result<Response, HostError>) -> Result<Response, HostError> {
        let mut response = result.map_err(|error| self.blocked(error))?;
        if response.cached {
            self.note_end(Dollars::default());
            return Ok(response);
        }
        if let Some(prompt) = self.counted {
            let is_cut = response.finish == FinishReason::Length;
            let text = (self.spending.tokenizer.count(&response.text) as u64).max(is_cut.into());
            let told = response.usage.completion_tokens;
            response.usage = self.or_counted(response.usage, prompt, text);
            // A server that counts no tokens may have cut the response at its limit, however little of it is shown.
            // One of several responses is here; the others count as long as they may be.
            if response.usage.completion_tokens != told {
                let whole = text.saturating_add(self.unread);
                response.usage.completion_tokens = Some(if is_cut { self.max_response } else { whole });
            }
        }
        self.charge(&response.usage);
        Ok(response)
    }

    /// Fills in our counts. A server may leave out what is in fields, and its count of the prompt is believed all the same.
    fn or_counted(&self, usage: Usage, prompt: u64, response: u64) -> Usage {
        let least = prompt.saturating_sub(self.in_fields).div_ceil(2);
        let told = usage.prompt_tokens.filter(|told| (least.max(1)..prompt).contains(told));
        usage.or_counted(told.unwrap_or(prompt), response, self.max_response)
    }

    /// Adds to an error what was billed: for a blocked response the prompt was read, and one that filled the window was written.
    fn blocked(&self, error: HostError) -> HostError {
        let is_blocked = matches!(error, HostError::Blocked { .. });
        if !is_blocked && !matches!(error, HostError::Overflow { .. }) {
            return error;
        }
        let of_prompt = |prompt| {
            let batch = matches!(&*self.name.borrow(), Some(CallName::Request(_)));
            let told = Usage { completion_tokens: Some(0), batch, own_count: true, ..Usage::default() };
            let usage = Usage { prompt_tokens: Some(prompt), ..told };
            self.charge(&usage);
            usage
        };
        match self.billed.get().or_else(|| self.counted.filter(|_| is_blocked).map(of_prompt)) {
            Some(usage) => HostError::Billed { error: Box::new(error), usage: Box::new(usage) },
            None => error,
        }
    }

    /// Counts the tokens of the try that is at the provider.
    fn charge(&self, usage: &Usage) {
        let cost = self.spending.prices.cost(&self.model, usage);
        self.note_end(cost.unwrap_or_default());
        let mut state = self.spending.state();
        state.prompt_tokens = state.prompt_tokens.saturating_add(usage.prompt_tokens.unwrap_or(0));
        state.response_tokens = state.response_tokens.saturating_add(usage.completion_tokens.unwrap_or(0));
        match cost {
            Some(dollars) => state.dollars += dollars,
            None => state.unpriced += 1,
        }
    }

    /// Notes that the call goes into a batch, unless it is in one from before.
    pub fn hand_in(&self, is_known: bool) -> Result<(), HostError> {
        if self.is_sent.get() && is_known { Ok(()) } else { self.begin() }
    }

    /// Notes what the try that is at the provider has cost. If that cannot be written, it counts in full after a restart.
    fn note_end(&self, cost: Dollars) {
        self.is_sent.set(false);
        let Some(charges) = self.spending.charges() else { return };
        let name = self.name.borrow().clone();
        if name.is_none() && cost == Dollars::default() {
            return;
        }
        if let Err(error) = charges.end(&name.unwrap_or_else(|| charges.name()), cost) {
            debug!("{error:#}");
        }
    }

    /// Charges the try that is at the provider, and will not be heard of any more.
    fn lose(&self) {
        if self.is_sent.replace(false) {
            self.spending.state().lose(self.worst);
        }
    }
}

impl Tries for Begun<'_> {
    fn begin(&self) -> Result<(), HostError> {
        let (is_lost, is_billed) = (self.is_sent.get(), self.billed.take().is_some());
        self.lose();
        let Taken { dollars, reserved, .. } = self.spending.taken();
        if (is_lost || is_billed) && self.spending.limit.is_some_and(|limit| dollars + reserved > limit) {
            let what = match is_lost {
                true => "the response was lost, which may cost what a response costs",
                false => "the response cannot be used, and is billed",
            };
            return Err(HostError::Failed(format!("{what}; --max-cost leaves no money to ask again")));
        }
        if let Some(charges) = self.spending.charges().filter(|_| self.most > Dollars::default()) {
            let told = |error| HostError::Failed(format!("{error:#}"));
            let name = match self.name.take() {
                Some(request @ CallName::Request(_)) => {
                    if is_lost {
                        charges.end(&request, self.most).map_err(told)?;
                    }
                    request
                }
                _ => charges.name(),
            };
            self.name.replace(Some(name.clone()));
            charges.begin(&name, self.most).map_err(told)?;
        }
        self.is_sent.set(true);
        Ok(())
    }

    fn failed(&self, bill: Bill) {
        match bill {
            Bill::Nothing => self.note_end(Dollars::default()),
            Bill::Unknown => {}
            Bill::Told(usage) => {
                let told = usage.completion_tokens.unwrap_or(self.max_response).min(self.max_response);
                let usage = self.counted.map_or(usage, |prompt| self.or_counted(usage, prompt, told));
                self.charge(&usage);
                self.billed.set(Some(usage));
            }
        }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.lose();
        self.spending.leave(self.worst);
    }
}

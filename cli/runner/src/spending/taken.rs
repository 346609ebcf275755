//! What the calls of a run took.

use closeread_llm::price::Dollars;

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
    /// The part of it that is the most which calls can have cost whose end is not known.
    pub open: Dollars,
    /// Calls whose cost is not known.
    pub unpriced: usize,
    /// Whether the limit kept a call from beginning.
    pub out: bool,
    /// Whether a request waits for money that others in flight may not need.
    pub is_short: bool,
    /// Dollars that calls in flight may cost.
    pub reserved: Dollars,
}

impl Taken {
    /// Counts a request as in flight, which may cost so much.
    pub(super) fn set_aside(&mut self, most: Dollars) {
        self.in_flight += 1;
        self.reserved += most;
    }

    /// Counts a request that was sent, and of whose end nothing is known.
    pub(super) fn lose(&mut self, most: Dollars) {
        self.dollars += most;
        self.open += most;
    }

    /// Counts no more what was counted as lost.
    pub(super) fn take_back(&mut self, most: Dollars) {
        self.dollars = self.dollars - most;
        let open = self.open - most;
        self.open = if open > Dollars::default() { open } else { Dollars::default() };
    }
}

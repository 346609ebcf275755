//! What a run cost before this command began.

use closeread_llm::price::Dollars;

/// Cost of a run so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    /// Cost of the calls of readers and judges.
    pub calls: Dollars,
    /// The part of it of which responses are in the folder: what was lost is not among them.
    pub kept: Dollars,
    /// The part of it that is the most which calls can cost whose end is not known; they may be in flight.
    pub open: Dollars,
    /// Cost of embeddings and reranking on servers.
    pub served: Dollars,
}

impl Spent {
    /// Returns the part of the calls' cost that is known, of records that were replaced too.
    pub fn ended(&self) -> Dollars {
        let ended = self.calls - self.open;
        if ended > self.kept { ended } else { self.kept }
    }

    /// Returns the cost in all.
    pub fn total(&self) -> Dollars {
        self.calls + self.served
    }
}

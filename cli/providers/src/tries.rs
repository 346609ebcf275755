//! Tries of a call, for those who pay them.

use closeread_llm::provider::{Fault, ServerLoad};
use closeread_llm::{HostError, Usage};

/// What a try that gave no response can have cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bill {
    /// Nothing: it did not arrive, or the server answered with an error.
    Nothing,
    /// These tokens, which the server named beside what cannot be used.
    Told(Usage),
    /// Nobody knows: who bills it may have read the prompt and written the response.
    Unknown,
}

/// An account that the tries of one call are charged to. A try that was begun and of which nothing more is said has cost as
/// much as it can.
pub trait Tries {
    /// Notes that a try is about to be sent.
    ///
    /// # Errors
    /// If there is no money for it: it is not sent, and the call ends.
    fn begin(&self) -> Result<(), HostError>;

    /// Notes that the last try gave no response.
    fn failed(&self, bill: Bill);
}

/// Tries that nobody counts.
pub struct Uncounted;

impl Tries for Uncounted {
    fn begin(&self) -> Result<(), HostError> {
        Ok(())
    }

    fn failed(&self, _: Bill) {}
}

/// The bill of a try that ended in the fault: after a response of this status, where one came, with these tokens, where it
/// named any.
pub(crate) fn bill(fault: &Fault, status: Option<u16>, told: Option<Usage>) -> Bill {
    let is_success = status.is_some_and(|status| (200..300).contains(&status));
    match (fault, status) {
        // A gateway gave up waiting for the model, which may have written to the end.
        (_, Some(408 | 504 | 524)) => Bill::Unknown,
        (Fault::Transient { load: ServerLoad::Connection, .. }, None) => Bill::Unknown,
        _ if !is_success => Bill::Nothing,
        (Fault::Transient { load: ServerLoad::Connection | ServerLoad::NoAnswer, .. }, _) => {
            told.map_or(Bill::Unknown, Bill::Told)
        }
        // The response was there, and cannot be used.
        (Fault::Final(HostError::Failed(_) | HostError::Embedding(_) | HostError::Reranking(_)), _) => {
            told.map_or(Bill::Unknown, Bill::Told)
        }
        _ => told.map_or(Bill::Nothing, Bill::Told),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_07_only_a_try_that_a_server_may_have_billed_costs() {
        let lost = || Fault::transient(ServerLoad::Connection, "no response in time");
        let empty = || Fault::transient(ServerLoad::NoAnswer, "it holds no `choices`");
        let unusable = || Fault::Final(HostError::Failed("the response is no JSON".to_owned()));
        let failed = || Fault::transient(ServerLoad::Server, "the upstream failed");
        let blocked = || Fault::Final(HostError::Blocked { reason: "no".to_owned() });
        let usage = Usage { prompt_tokens: Some(7), completion_tokens: Some(5), ..Usage::default() };
        for (fault, status, told, expected) in [
            (lost(), None, None, Bill::Unknown),
            (lost(), Some(200), None, Bill::Unknown),
            (lost(), Some(200), Some(usage), Bill::Told(usage)),
            (lost(), Some(500), None, Bill::Nothing),
            (empty(), Some(200), None, Bill::Unknown),
            (empty(), Some(200), Some(usage), Bill::Told(usage)),
            (unusable(), Some(200), None, Bill::Unknown),
            (unusable(), Some(400), None, Bill::Nothing),
            (
                Fault::Final(HostError::Embedding("1 vectors came for 2 texts".to_owned())),
                Some(200),
                None,
                Bill::Unknown,
            ),
            (unusable(), None, None, Bill::Nothing),
            (Fault::transient(ServerLoad::Unreached, "refused"), None, None, Bill::Nothing),
            (failed(), Some(200), None, Bill::Nothing),
            (failed(), Some(200), Some(usage), Bill::Told(usage)),
            (blocked(), Some(200), Some(usage), Bill::Told(usage)),
            (blocked(), Some(200), None, Bill::Nothing),
            (failed(), Some(503), Some(usage), Bill::Nothing),
            (failed(), Some(408), None, Bill::Unknown),
            (failed(), Some(504), None, Bill::Unknown),
            (failed(), Some(524), None, Bill::Unknown),
            (Fault::Closed(HostError::Failed("no credit".to_owned())), Some(200), None, Bill::Nothing),
        ] {
            assert_eq!(bill(&fault, status, told), expected, "{fault:?} {status:?}");
        }
    }
}

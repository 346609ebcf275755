//! Tries of a call, for those who pay them.

use closeread_llm::HostError;
use closeread_llm::provider::{Fault, ServerLoad};

/// An account that the tries of one call are charged to. A try that was begun and is not called free has cost something,
/// however it ended: who bills it may have read the prompt and written the response.
pub trait Tries {
    /// Notes that a try is about to be sent.
    ///
    /// # Errors
    /// If there is no money for it: it is not sent, and the call ends.
    fn begin(&self) -> Result<(), HostError>;

    /// Notes that the last try cost nothing: it did not arrive, or the server answered with an error.
    fn free(&self);
}

/// Tries that nobody counts.
pub struct Uncounted;

impl Tries for Uncounted {
    fn begin(&self) -> Result<(), HostError> {
        Ok(())
    }

    fn free(&self) {}
}

/// Returns whether a try that ended in the fault can have been billed; the status, where one came, is of success or not.
pub(crate) fn may_cost(fault: &Fault, is_success: Option<bool>) -> bool {
    match (fault, is_success) {
        (Fault::Transient { strain: ServerLoad::Connection, .. }, None | Some(true)) => true,
        // The response was there, and cannot be used.
        (Fault::Final(HostError::Failed(_)), Some(true)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_07_only_a_try_that_a_server_may_have_billed_costs() {
        let lost = || Fault::transient(ServerLoad::Connection, "no response in time");
        let unusable = || Fault::Final(HostError::Failed("the response is no JSON".to_owned()));
        for (fault, is_success, costs) in [
            (lost(), None, true),
            (lost(), Some(true), true),
            (lost(), Some(false), false),
            (unusable(), Some(true), true),
            (unusable(), Some(false), false),
            (unusable(), None, false),
            (Fault::transient(ServerLoad::Unreached, "refused"), None, false),
            (Fault::transient(ServerLoad::Server, "the upstream failed"), Some(true), false),
            (Fault::Closed(HostError::Failed("no credit".to_owned())), Some(true), false),
        ] {
            assert_eq!(may_cost(&fault, is_success), costs, "{fault:?} {is_success:?}");
        }
    }
}

//! Calls on their way, as [`Attempts`] has it: each waits for its place, is sent, and is sent again where that may help.

use crate::ending::{ending, is_ending, out_of_time};
use crate::throttle::{Place, Throttle};
use closeread_llm::HostError;
use closeread_llm::provider::{AccountState, Attempts, Dialect, Fault, Limits, Notice, Step};
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// The sender of calls: what it has learnt, and what holds it back.
pub(crate) struct Sender<'a> {
    pub(crate) account: &'a RefCell<AccountState>,
    pub(crate) throttle: &'a Throttle,
    pub(crate) limits: Limits,
}

impl Sender<'_> {
    /// Returns what `once` gives, tried as often as may help. `tokens` is what the throttle counts; `heard` is told of
    /// every try that failed. Errors may repeat the key.
    pub(crate) async fn send<T>(
        &self,
        tokens: u64,
        once: impl AsyncFn(Dialect, &Place<'_>) -> Result<T, Fault>,
        heard: impl Fn(&Notice),
    ) -> Result<T, HostError> {
        let mut attempts = Attempts::new(self.limits);
        let mut failed_at: Option<Instant> = None;
        loop {
            let step = attempts.next(&self.account.borrow());
            match step {
                Step::Ended(error) => return Err(error),
                _ if is_ending() => return Err(ended()),
                Step::Wait(wait) => tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = ending() => return Err(ended()),
                },
                Step::Send(_) => {
                    let place = tokio::select! {
                        biased;
                        () = ending() => return Err(ended()),
                        place = self.throttle.enter(tokens) => place,
                    };
                    let waited = failed_at.map_or(Duration::ZERO, |at| at.elapsed());
                    // Other calls may have learnt something while this one waited.
                    let step = attempts.next(&self.account.borrow());
                    let Step::Send(dialect) = step else { continue };
                    let result = tokio::select! {
                        biased;
                        result = once(dialect, &place) => result,
                        () = out_of_time() => return Err(ended()),
                    };
                    drop(place);
                    let fault = match result {
                        Ok(response) => {
                            self.throttle.succeeded();
                            return Ok(response);
                        }
                        Err(fault) => fault,
                    };
                    failed_at = Some(Instant::now());
                    let notice = attempts.failed(fault, &mut self.account.borrow_mut(), waited, fastrand::f64());
                    if let Some((strain, asked)) = notice.strain() {
                        self.throttle.strained(strain, asked);
                    }
                    heard(&notice);
                }
            }
        }
    }
}

/// Returns the error of a call when the program is to end. It is no outcome: a trial that gets it keeps no record.
fn ended() -> HostError {
    HostError::Failed("closeread was told to stop".to_owned())
}

//! Calls on their way, as [`Attempts`] has it: each waits for its place, is sent, and is sent again where that may help.

use crate::ending::{ending, is_ending, out_of_time};
use crate::http::{broken, retry_after};
use crate::throttle::{Place, Rates, Throttle};
use closeread_llm::HostError;
use closeread_llm::provider::{AccountState, Attempts, Dialect, Fault, Limits, Notice, ServerLoad, Step};
use reqwest::{RequestBuilder, Response};
use std::cell::RefCell;
use std::time::{Duration, Instant};
use tracing::info;

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
                    if let Some((load, asked)) = notice.load() {
                        self.throttle.failed(load, asked);
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

/// The response to a request to a server of no provider, such as a search engine; sent again, as a call is, where the
/// server is busy, fails or breaks off.
///
/// # Errors
/// If it is refused, or fails time after time. The address is not in the error: it may hold a key.
pub async fn sent(request: impl Fn() -> RequestBuilder) -> Result<Response, HostError> {
    let (account, throttle) = (RefCell::new(AccountState::default()), Throttle::new(1, Rates::default()));
    // A server that is not there is told at once.
    let limits = Limits { unreached_tries: 1, ..Limits::default() };
    let heard = |notice: &Notice| info!("{notice}");
    let sender = Sender { account: &account, throttle: &throttle, limits };
    sender.send(0, async |_, _| received(request()).await, heard).await
}

async fn received(request: RequestBuilder) -> Result<Response, Fault> {
    let response = request.send().await.map_err(broken)?;
    let message = format!("the server answered {}", response.status());
    let load = match response.status().as_u16() {
        429 => ServerLoad::RateLimit,
        408 | 500.. => ServerLoad::Server,
        400.. => return Err(Fault::Final(HostError::Failed(message))),
        _ => return Ok(response),
    };
    Err(Fault::Transient { load, message, retry_after: retry_after(response.headers()) })
}

//! Requests that are no chat: sent with the key, tried again by the rules of all calls.

use super::client::{arrived, broken, http, retry_after};
use super::throttle::Throttle;
use anyhow::Result;
use closeread_core::host::HostError;
use closeread_core::provider::{Fault, MAX_TRIES, MAX_WAIT, Response, Secret, wait};
use reqwest::header::HeaderMap;
use std::time::Duration;

/// One request, its address complete.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// A POST with this body and its type; without one a GET.
    pub(crate) body: Option<(String, Vec<u8>)>,
}

/// What came back, whole.
pub(crate) struct Received {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Received {
    /// What core reads.
    pub(crate) fn response(&self) -> Response<'_> {
        Response { status: self.status, retry_after: retry_after(&self.headers), body: &self.body }
    }

    /// A number that a header holds.
    pub(crate) fn number(&self, header: &str) -> Option<u64> {
        self.headers.get(header)?.to_str().ok()?.trim().parse().ok()
    }
}

/// A connection to one server.
pub(crate) struct Wire {
    client: reqwest::Client,
    /// Who is asked, for messages.
    name: String,
    key: Option<Secret>,
}

impl Wire {
    /// A connection to who is called `name`, whose requests take at most `timeout` each; the key is only known to be kept
    /// out of errors: requests carry it in their headers.
    pub(crate) fn new(name: String, key: Option<Secret>, timeout: Duration) -> Result<Self> {
        Ok(Self { client: http(timeout)?, name, key })
    }

    /// One try.
    pub(crate) async fn once(&self, message: &Message) -> Result<Received, Fault> {
        let mut request = match &message.body {
            Some((kind, bytes)) => self.client.post(&message.url).header("content-type", kind).body(bytes.clone()),
            None => self.client.get(&message.url),
        };
        for (name, value) in &message.headers {
            request = request.header(*name, value);
        }
        let response = request.send().await.map_err(broken).and_then(arrived)?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.bytes().await.map_err(broken)?;
        Ok(Received { status, headers, body: String::from_utf8_lossy(&body).into_owned() })
    }

    /// What `read` makes of the reply; faults that may pass are tried again, final ones never. `tokens` is what the
    /// throttle counts.
    pub(crate) async fn send<T>(
        &self,
        throttle: &Throttle,
        tokens: u64,
        message: &Message,
        read: impl Fn(&Received) -> Result<T, Fault>,
    ) -> Result<T, HostError> {
        let (mut tries, mut waited) = (0, Duration::ZERO);
        loop {
            let result = {
                let _place = throttle.enter(tokens).await;
                self.once(message).await.and_then(|received| read(&received))
            };
            match result {
                Ok(value) => {
                    throttle.succeeded();
                    return Ok(value);
                }
                Err(Fault::Transient { strain, message, retry_after }) => {
                    tries += 1;
                    let asked = retry_after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                    throttle.strained(strain, asked.filter(|asked| *asked <= MAX_WAIT));
                    let given_up = match asked {
                        _ if tries == MAX_TRIES => Some(format!("after {tries} tries")),
                        Some(long) if long > MAX_WAIT => {
                            Some(format!("the server asks to wait {} s, which no run does", long.as_secs()))
                        }
                        _ => None,
                    };
                    if let Some(why) = given_up {
                        return Err(self.redacted(HostError::Failed(format!("{message}, {why}"))));
                    }
                    if tries == 2 {
                        let error = self.redacted(HostError::Failed(message));
                        eprintln!("{}: {error}; trying again", self.name);
                    }
                    waited = wait(tries, asked, waited, fastrand::f64());
                    tokio::time::sleep(waited).await;
                }
                Err(fault) => return Err(self.redacted(final_error(fault))),
            }
        }
    }

    /// The error without the key, which some servers repeat.
    pub(crate) fn redacted(&self, error: HostError) -> HostError {
        match &self.key {
            Some(key) => key.redact_error(error),
            None => error,
        }
    }
}

/// What is left of a fault that is not tried again.
pub(crate) fn final_error(fault: Fault) -> HostError {
    match fault {
        Fault::Final(error) | Fault::Closed(error) => error,
        Fault::Refused { message, .. } | Fault::Transient { message, .. } => HostError::Failed(message),
    }
}

//! Requests that are no chat: sent with the key, tried again by the rules of all calls.

use crate::account::Address;
use crate::client::{http, text_of};
use crate::http::{arrived, broken, retry_after};
use crate::news::News;
use crate::secrets::Secrets;
use crate::sending::Sender;
use crate::throttle::{Place, Throttle};
use anyhow::Result;
use closeread_llm::provider::{
    AccountState, Dialect, Fault, HttpResponse, Limits, MAX_RESPONSE_BYTES, Notice, told_tokens,
};
use closeread_llm::{HostError, Response};
use reqwest::header::HeaderMap;
use std::cell::RefCell;
use std::time::Duration;
use tracing::{debug, info};

/// One request, its address complete. Address and headers may hold a key, so it has no `Debug`.
#[derive(Clone)]
pub(crate) struct Message {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// A POST with this body and its type; without one a GET.
    pub(crate) body: Option<(String, Vec<u8>)>,
}

/// The response of a server, whole.
pub(crate) struct Received {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Received {
    /// Returns the response as core reads it.
    pub(crate) fn response(&self) -> HttpResponse<'_> {
        HttpResponse { status: self.status, retry_after: retry_after(&self.headers), body: &self.body }
    }

    /// The status, and the tokens that the server counted.
    pub(crate) fn told(&self) -> (u16, Option<u64>) {
        (self.status, told_tokens(&self.body).or_else(|| self.tokens_of_tei()))
    }

    /// The tokens that Text-Embeddings-Inference counted, which it says in a header.
    pub(crate) fn tokens_of_tei(&self) -> Option<u64> {
        self.number("x-compute-tokens")
    }

    /// A number that a header holds.
    fn number(&self, header: &str) -> Option<u64> {
        self.headers.get(header)?.to_str().ok()?.trim().parse().ok()
    }
}

/// A connection to one server.
pub(crate) struct Wire {
    client: reqwest::Client,
    /// Name of the model that is asked, for messages.
    name: String,
    /// The option that names the server's address.
    option: &'static str,
    secrets: Secrets,
    state: RefCell<AccountState>,
    limits: Limits,
    /// Most bytes that a response may have.
    max_bytes: usize,
    news: News,
}

impl Wire {
    /// A connection to who is called `name`, at the address `to` that `option` names, whose requests take at most `timeout`
    /// each; the secrets are only known to be kept out of errors: requests carry them.
    pub(crate) fn new(
        name: String,
        (to, option): (&Address, &'static str),
        secrets: Secrets,
        timeout: Duration,
    ) -> Result<Self> {
        let (client, state, news) = (http(timeout, to)?, RefCell::default(), News::default());
        let (limits, max_bytes) = (Limits::default(), MAX_RESPONSE_BYTES);
        Ok(Self { client, name, option, secrets, state, limits, max_bytes, news })
    }

    /// Returns the connection with `max_bytes` as the most bytes that a response may have.
    pub(crate) fn reading(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// Returns the connection with these limits for a request.
    pub(crate) fn within(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Makes one try.
    pub(crate) async fn once(&self, message: &Message) -> Result<Received, Fault> {
        let mut request = match &message.body {
            Some((kind, bytes)) => self.client.post(&message.url).header("content-type", kind).body(bytes.clone()),
            None => self.client.get(&message.url),
        };
        for (name, value) in &message.headers {
            request = request.header(*name, value);
        }
        let response = request.send().await.map_err(broken).and_then(|response| arrived(response, self.option))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = text_of(response, self.max_bytes).await?;
        Ok(Received { status, headers, body })
    }

    /// Returns what `read` makes of the response; faults that may pass are tried again, final ones never. `tokens` is
    /// what the throttle counts.
    pub(crate) async fn send<T>(
        &self,
        throttle: &Throttle,
        tokens: u64,
        message: &Message,
        read: impl Fn(&Received) -> Result<T, Fault>,
    ) -> Result<T, HostError> {
        self.send_as(throttle, tokens, async |_, _| self.once(message).await.and_then(|received| read(&received))).await
    }

    /// Returns what `once` gives, by the rules of all calls.
    pub(crate) async fn send_as<T>(
        &self,
        throttle: &Throttle,
        tokens: u64,
        once: impl AsyncFn(Dialect, &Place<'_>) -> Result<T, Fault>,
    ) -> Result<T, HostError> {
        let sender = Sender { account: &self.state, throttle, limits: self.limits };
        let heard = |notice: &Notice| {
            let said = self.secrets.redact(&notice.to_string());
            match notice {
                Notice::Again { .. } if self.news.is_told(notice) => info!("{}: {said}", self.name),
                _ => debug!("{}: {said}", self.name),
            }
        };
        sender.send(tokens, once, heard).await.map_err(|error| self.redacted(error))
    }

    /// A text of the server without the secrets.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.secrets.redact(text)
    }

    /// A name that the server gives, which is kept and sent as it is: none that holds a secret.
    pub(crate) fn without_secrets(&self, name: String) -> Result<String, Fault> {
        let message = "the server gives a name that holds the key".to_owned();
        if self.secrets.are_in(&name) { Err(Fault::Final(HostError::Failed(message))) } else { Ok(name) }
    }

    /// The response without the secrets.
    pub(crate) fn redact_response(&self, response: Response) -> Response {
        self.secrets.redact_response(response)
    }

    /// The error without the secrets, which some servers repeat.
    pub(crate) fn redacted(&self, error: HostError) -> HostError {
        self.secrets.redact_error(error)
    }
}

/// Returns the error of a fault that is not tried again.
pub(crate) fn final_error(fault: Fault) -> HostError {
    match fault {
        Fault::Final(error) | Fault::Closed(error) => error,
        Fault::Refused { message, .. } | Fault::Transient { message, .. } => HostError::Failed(message),
    }
}

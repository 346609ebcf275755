//! Calls to a server: sent, tried again where that may help, asked otherwise where a model refuses a field.

use super::account::Account;
use super::outgoing::{Outgoing, Pieces};
use super::throttle::{Rates, Seat, Throttle};
use super::without_credentials;
use crate::extra_body::ExtraBodies;
use crate::reply_cache::Source;
use anyhow::{Context, Result};
use closeread_core::host::{HostError, Reply};
use closeread_core::provider::{
    Dialect, Fault, MAX_TRIES, MAX_WAIT, Parameters, Protocol, Response, STREAM_FROM_TOKENS, Strain, StreamReader,
    retry_after_seconds, wait,
};
use closeread_core::text::tokens::Tokenizer;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Longest a connection may take to stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// How a model is asked, besides each call's own settings.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Sampling seed.
    pub(crate) seed: Option<u64>,
    /// Fields merged into requests.
    pub(crate) extra_body: ExtraBodies,
    /// Longest a single try may take.
    pub(crate) timeout: Duration,
    /// Most calls under way at once.
    pub(crate) concurrency: usize,
    /// Most requests and tokens a minute.
    pub(crate) rates: Rates,
    /// What counts the tokens of a request that is to be sent, where they are limited.
    pub(crate) tokenizer: Option<Tokenizer>,
    /// Every try that fails is said on standard error.
    pub(crate) verbose: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: None,
            extra_body: ExtraBodies::default(),
            timeout: Duration::from_secs(600),
            concurrency: 64,
            rates: Rates::default(),
            tokenizer: None,
            verbose: false,
        }
    }
}

/// A chat model on a server.
pub(crate) struct ChatModel {
    client: reqwest::Client,
    account: Account,
    options: Options,
    dialect: Cell<Dialect>,
    throttle: Rc<Throttle>,
    /// Why the account gets no replies any more.
    closed: RefCell<Option<String>>,
}

impl ChatModel {
    /// A client for the account.
    pub(crate) fn new(account: Account, options: Options) -> Result<Self> {
        let client = http(options.timeout)?;
        let dialect = Cell::new(account.provider.dialect());
        let throttle = Rc::new(Throttle::new(options.concurrency, options.rates));
        Ok(Self { client, account, options, dialect, throttle, closed: RefCell::default() })
    }

    /// From now on counts its calls with those of another client, if both ask the same model of the same server.
    pub(crate) fn share_limits_with(&mut self, other: &Self) {
        let at = |model: &Self| (model.account.model.clone(), model.account.base_url.clone());
        if at(self) == at(other) {
            self.throttle = Rc::clone(&other.throttle);
        }
    }

    /// What determines the reply to a call of a method, besides the call: the prompt that it was made from decides, with
    /// the method, which fields are merged into the request.
    pub(crate) fn source(&self, method: Option<&str>, prompt: &str) -> Source {
        Source {
            provider: self.account.provider.name.to_owned(),
            model: self.account.model.clone(),
            base_url: without_credentials(&self.account.base_url),
            seed: self.options.seed,
            extra_body: self.options.extra_body.of(method, prompt),
        }
    }

    /// The account that it is asked by.
    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    /// Waits until a trial may begin, see [`Throttle::seat`].
    pub(crate) async fn seat(&self) -> Seat<'_> {
        self.throttle.seat().await
    }

    /// How the model wants to be asked, as far as it is known by now.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect.get()
    }

    /// One completion; faults that may pass are tried again, final ones never.
    pub(crate) async fn chat(&self, call: &Outgoing, source: &Source) -> Result<Reply, HostError> {
        let tokens = self.tokens(call);
        if let Some(tpm) = self.options.rates.tpm.filter(|tpm| tokens > *tpm) {
            return Err(HostError::Failed(format!(
                "prompt and reply may have {tokens} tokens, and --tpm allows {tpm} a minute: it can never be sent"
            )));
        }
        let mut tries = 0;
        let mut failed_at: Option<Instant> = None;
        loop {
            let (result, waited) = {
                let place = self.throttle.enter(tokens).await;
                let waited = failed_at.map_or(Duration::ZERO, |at| at.elapsed());
                if let Some(why) = self.closed.borrow().as_ref() {
                    return Err(HostError::Failed(format!("not sent; to a call before it {why}")));
                }
                let result = self.once(call, source).await;
                if let Ok(Reply { usage, .. }) = &result
                    && let (Some(prompt), Some(reply)) = (usage.prompt_tokens, usage.completion_tokens)
                {
                    place.took(prompt + reply);
                }
                (result, waited)
            };
            match result {
                Ok(reply) => {
                    self.throttle.succeeded();
                    return Ok(match &self.account.key {
                        Some(key) => Reply { text: key.redact_reply(reply.text), ..reply },
                        None => reply,
                    });
                }
                Err(Fault::Final(error)) => {
                    let error = self.redacted(error);
                    self.say(|| format!("{error}; not tried again"));
                    return Err(error);
                }
                Err(Fault::Closed(error)) => {
                    let error = self.redacted(error);
                    self.say(|| format!("{error}; nothing more is asked"));
                    self.closed.borrow_mut().get_or_insert_with(|| match &error {
                        HostError::Failed(message) => message.clone(),
                        other => other.to_string(),
                    });
                    return Err(error);
                }
                Err(Fault::Refused { adjustment, message }) => {
                    let message = self.redacted(HostError::Failed(message));
                    let Some(dialect) = self.dialect.get().adjusted(adjustment) else { return Err(message) };
                    self.say(|| format!("{message}; asked again without it"));
                    self.dialect.set(dialect);
                }
                Err(Fault::Transient { strain, message, retry_after }) => {
                    tries += 1;
                    let asked = retry_after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                    if let Some(wait) = asked.filter(|wait| *wait > MAX_WAIT) {
                        let wait = wait.as_secs();
                        let message = format!("{message}; the server asks to wait {wait} s, which no run does");
                        return Err(self.redacted(HostError::Failed(message)));
                    }
                    self.throttle.strained(strain, asked);
                    if tries == MAX_TRIES {
                        let error = self.redacted(HostError::Failed(format!("{message}, after {tries} tries")));
                        self.say(|| error.to_string());
                        return Err(error);
                    }
                    failed_at = Some(Instant::now());
                    let wait = wait(tries, asked, waited, fastrand::f64());
                    let message = self.redacted(HostError::Failed(message));
                    self.say(|| format!("{message}; try {tries} of {MAX_TRIES}, again in {:.1} s", wait.as_secs_f64()));
                    tokio::time::sleep(wait).await;
                }
            }
        }
    }

    fn say(&self, what: impl Fn() -> String) {
        if self.options.verbose {
            eprintln!("{}/{}: {}", self.account.provider.name, self.account.model, what());
        }
    }

    /// Tokens that a call can take, prompt and limit of the reply; only counted where they are limited.
    fn tokens(&self, call: &Outgoing) -> u64 {
        let (Some(_), Some(tokenizer)) = (self.options.rates.tpm, &self.options.tokenizer) else { return 0 };
        call.count(tokenizer) + u64::from(call.marked().max_output_tokens)
    }

    async fn once(&self, call: &Outgoing, source: &Source) -> Result<Reply, Fault> {
        let protocol = self.account.provider.protocol;
        let stream = call.marked().max_output_tokens >= STREAM_FROM_TOKENS;
        let request = protocol.request(
            call.marked(),
            &Parameters {
                model: source.model.clone(),
                seed: source.seed,
                stream,
                extra_body: source.extra_body.clone(),
                dialect: self.dialect.get(),
            },
        );
        let mut post = self.client.post(protocol.url(&self.account.base_url, &request));
        post = post.header(CONTENT_TYPE, "application/json");
        for (name, value) in &request.headers {
            post = post.header(*name, *value);
        }
        post = post.body(reqwest::Body::wrap(Pieces::from(call.filled_in(request.body.to_string()))));
        if let Some(key) = &self.account.key {
            let (name, value) = protocol.key_header(key.reveal());
            post = post.header(name, value);
        }
        let response = post.send().await.map_err(broken).and_then(arrived)?;
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        if stream && status == 200 && is_event_stream(response.headers()) {
            return read_stream(protocol, response).await;
        }
        let body = response.bytes().await.map_err(broken)?;
        protocol.read(Response { status, retry_after, body: &String::from_utf8_lossy(&body) })
    }

    /// The error without the key, which some servers repeat.
    fn redacted(&self, error: HostError) -> HostError {
        match &self.account.key {
            Some(key) => key.redact_error(error),
            None => error,
        }
    }
}

async fn read_stream(protocol: Protocol, mut response: reqwest::Response) -> Result<Reply, Fault> {
    let mut reader = StreamReader::new(protocol);
    while let Some(bytes) = response.chunk().await.map_err(broken)? {
        reader.push(&bytes)?;
    }
    reader.finish()
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// What the headers ask to wait. A date counts from the server's own, so that a clock that is wrong here, or jumps, changes
/// nothing.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<f64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let seconds = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let there = text("date").and_then(|date| httpdate::parse_http_date(date.trim()).ok());
    retry_after_seconds(text("retry-after"), text("retry-after-ms"), seconds(there.unwrap_or_else(SystemTime::now)))
}

/// What sends requests that carry keys and books: to the server that the user named, and to none that it points to.
pub(super) fn http(timeout: Duration) -> Result<reqwest::Client> {
    let client = reqwest::Client::builder().timeout(timeout).connect_timeout(CONNECT_TIMEOUT);
    client.redirect(reqwest::redirect::Policy::none()).build().context("cannot set up HTTP")
}

/// The response, unless it points to another server.
pub(super) fn arrived(response: reqwest::Response) -> Result<reqwest::Response, Fault> {
    if response.status().is_redirection() { Err(redirected(&response)) } else { Ok(response) }
}

fn redirected(response: &reqwest::Response) -> Fault {
    let status = response.status().as_u16();
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let place = location.and_then(|location| response.url().join(location).ok());
    let place = place.map_or("another address".to_owned(), |place| without_credentials(place.as_str()));
    let message =
        format!("the server answered {status} and sends us to {place}: give the address it means by --base-url");
    Fault::Final(HostError::Failed(message))
}

/// A connection that failed or timed out, in words, with its cause and without the address, which may hold a secret.
pub(super) fn broken(error: reqwest::Error) -> Fault {
    let timed_out = error.is_timeout();
    let error = error.without_url();
    let mut text = if timed_out { "no reply in time".to_owned() } else { error.to_string() };
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    Fault::transient(Strain::Connection, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_counts_from_the_servers_clock() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT".parse().unwrap());
        assert_eq!(retry_after(&headers), Some(0.0), "years ago by our own clock");
        headers.insert("date", "Wed, 21 Oct 2015 07:28:00 GMT".parse().unwrap());
        assert_eq!(retry_after(&headers), Some(30.0));
    }
}

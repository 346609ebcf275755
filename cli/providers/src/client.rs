//! Calls to a server: sent, tried again where that may help, asked otherwise where a model refuses a field.

use crate::account::{Account, Address};
use crate::extra_body::ExtraBodies;
use crate::http::{arrived, broken, retry_after};
use crate::news::News;
use crate::outgoing::{Outgoing, Pieces, Source};
use crate::query::query_hash;
use crate::secrets::Secrets;
use crate::sending::Sender;
use crate::throttle::{Permit, Place, Rates, Throttle};
use crate::tries::{Bill, Tries, bill};
use anyhow::{Context, Result};
use closeread_books::tokens::Tokenizer;
use closeread_eval::reading::Shape;
use closeread_llm::constrain::Constraint;
use closeread_llm::provider::{
    AccountState, Dialect, Fault, HttpResponse, Limits, MAX_ERROR_BYTES, MAX_RESPONSE_BYTES, Notice, Parameters,
    Protocol, ServerLoad, StreamReader, merge, streams,
};
use closeread_llm::{Call, HostError, Response, Usage};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use serde_json::{Map, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use tracing::{Level, debug, enabled, info};

/// Longest a connection may take to stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest wait for the end of a connection whose stream has ended.
const END_OF_STREAM: Duration = Duration::from_secs(1);

/// The options of a model, besides each call's own settings.
#[derive(Debug, Clone)]
pub struct Options {
    /// Sampling seed.
    pub seed: Option<u64>,
    /// Extra fields that are merged into requests.
    pub extra_body: ExtraBodies,
    /// Fields that ask the model to reason, or not to; those of `extra_body` are merged over them.
    pub reasoning: Map<String, Value>,
    /// Constraint that holds responses to the form that their prompts ask for; `None`: nothing does.
    pub constrain: Option<Constraint>,
    /// Most tokens that the model can write, where that is known: sent where a call has no limit and must have one.
    pub max_output: Option<u32>,
    /// Longest a single try may take.
    pub timeout: Duration,
    /// Most calls to make at once.
    pub concurrency: usize,
    /// Most requests and tokens a minute.
    pub rates: Rates,
    /// Tokenizer that counts a request before it is sent, where tokens are limited.
    pub tokenizer: Option<Tokenizer>,
    /// Limits on how far the client goes for one call.
    pub limits: Limits,
    /// Option that names the server's address, for messages.
    pub address: &'static str,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: None,
            extra_body: ExtraBodies::default(),
            reasoning: Map::new(),
            constrain: None,
            max_output: None,
            timeout: Duration::from_secs(600),
            concurrency: 64,
            rates: Rates::default(),
            tokenizer: None,
            limits: Limits::default(),
            address: "--base-url",
        }
    }
}

/// A chat model on a server.
pub struct ChatModel {
    client: reqwest::Client,
    account: Account,
    secrets: Secrets,
    options: Options,
    state: RefCell<AccountState>,
    throttle: Rc<Throttle>,
    news: News,
    /// Whether it was said that the model takes no temperature, and that it takes no seed.
    said_left_out: Cell<(bool, bool)>,
}

impl ChatModel {
    /// A client for the account.
    pub fn new(account: Account, options: Options) -> Result<Self> {
        let client = http(options.timeout, &account.base_url)?;
        let state = AccountState { dialect: account.provider.dialect(), closed: None };
        let throttle = Rc::new(Throttle::new(options.concurrency, options.rates));
        let secrets = Secrets::of(account.key.as_ref(), &account.base_url);
        let (state, news, said_left_out) = (RefCell::new(state), News::default(), Cell::default());
        Ok(Self { client, account, secrets, options, state, throttle, news, said_left_out })
    }

    /// Makes the model count its calls with those of another client from now on, if both ask the same model of the same
    /// server.
    pub fn share_limits_with(&mut self, other: &Self) {
        let at = |model: &Self| (model.account.model.clone(), model.account.base_url.clone());
        if at(self) == at(other) {
            self.throttle = Rc::clone(&other.throttle);
        }
    }

    /// Returns the constraint that holds responses to their form, if any does.
    pub fn constraint(&self) -> Option<Constraint> {
        self.options.constrain
    }

    /// Returns what determines the response to a call of a method, besides the call: the prompt that it was made from
    /// decides, with the method, which fields are merged into the request. With a shape the response is held to it,
    /// where that was asked for.
    pub fn source(&self, method: Option<&str>, prompt: &str, shape: Option<&Shape>) -> Source {
        let mut extra_body = self.options.reasoning.clone();
        if let Some((constraint, shape)) = self.options.constrain.zip(shape) {
            merge(&mut extra_body, &constraint.fields(self.account.provider.protocol, shape));
        }
        merge(&mut extra_body, &self.options.extra_body.of(method, prompt));
        Source {
            provider: self.account.provider.name.to_owned(),
            model: self.account.model.clone(),
            base_url: self.account.base_url.shown(),
            query: query_hash(self.account.base_url.reveal()),
            seed: self.options.seed,
            extra_body,
        }
    }

    /// The call with the limit that it is sent with: its own, or where it has none what the protocol demands.
    pub fn limited(&self, call: Call) -> Call {
        let required = || self.account.provider.protocol.required_limit(self.options.max_output);
        Call { max_output_tokens: call.max_output_tokens.or_else(required), ..call }
    }

    /// The account that it is asked by.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Waits until a trial may begin, see [`Throttle::permit`].
    pub async fn permit(&self) -> Permit<'_> {
        self.throttle.permit().await
    }

    /// Returns whether the model takes no temperature, and whether it takes no seed.
    fn left_out(&self) -> (bool, bool) {
        let Dialect { own_temperature, no_seed, .. } = self.dialect();
        (own_temperature, no_seed)
    }

    /// Returns the dialect in which the model wants to be asked, as far as it is known by now.
    pub fn dialect(&self) -> Dialect {
        self.state.borrow().dialect
    }

    /// Asks for one completion; faults that may pass are tried again, final ones never. `tries` hears of each try.
    pub async fn chat(&self, call: &Outgoing, source: &Source, tries: &impl Tries) -> Result<Response, HostError> {
        let tokens = self.tokens(call);
        if let Some(tpm) = self.options.rates.tpm.filter(|tpm| tokens > *tpm) {
            return Err(HostError::Failed(format!(
                "prompt and response may have {tokens} tokens, and --tpm allows {tpm} a minute: it can never be sent"
            )));
        }
        let sender = Sender { account: &self.state, throttle: &self.throttle, limits: self.options.limits };
        let once = async |dialect, place: &Place<'_>| {
            tries.begin().map_err(Fault::Final)?;
            let response = self.once(call, source, dialect).await.map_err(|(fault, bill)| {
                tries.failed(bill);
                fault
            })?;
            if let (Some(prompt), Some(completion)) = (response.usage.prompt_tokens, response.usage.completion_tokens) {
                place.took(prompt.saturating_add(completion));
            }
            Ok(response)
        };
        let notify = |notice: &Notice| {
            let said = self.secrets.redact(&notice.to_string());
            let (provider, model) = (self.account.provider.name, &self.account.model);
            match notice {
                Notice::Again { .. } if self.news.is_told(notice) => {
                    let hint = if enabled!(Level::DEBUG) { "" } else { "; --verbose says every try" };
                    info!("{provider}/{model}: {said}{hint}");
                }
                // The run's records name a temperature or a seed that the model did not use.
                Notice::Otherwise { .. } if self.said_left_out.replace(self.left_out()) != self.left_out() => {
                    info!("{provider}/{model}: {said}, from now on");
                }
                _ => debug!("{provider}/{model}: {said}"),
            }
        };
        match sender.send(tokens, once, notify).await {
            Ok(response) => Ok(self.secrets.redact_response(response)),
            Err(error) => Err(self.secrets.redact_error(error)),
        }
    }

    /// Tokens that a call can take, prompt and limit of the response; only counted where they are limited.
    fn tokens(&self, call: &Outgoing) -> u64 {
        let (Some(_), Some(tokenizer)) = (self.options.rates.tpm, &self.options.tokenizer) else { return 0 };
        call.count(tokenizer) + u64::from(call.marked().assumed_response_tokens())
    }

    /// Makes one try.
    async fn once(&self, call: &Outgoing, source: &Source, dialect: Dialect) -> Result<Response, (Fault, Bill)> {
        let protocol = self.account.provider.protocol;
        let stream = streams(call.marked()) && !dialect.no_stream;
        let request = protocol.request(
            call.marked(),
            &Parameters {
                model: source.model.clone(),
                seed: source.seed,
                stream,
                extra_body: source.extra_body.clone(),
                dialect,
            },
        );
        let mut post = self.client.post(protocol.url(self.account.base_url.reveal(), &request));
        // Packed streams would come late; some gateways pack all the same.
        post = post.header(CONTENT_TYPE, "application/json").header(ACCEPT_ENCODING, "identity");
        for (name, value) in &request.headers {
            post = post.header(*name, *value);
        }
        post = post.body(reqwest::Body::wrap(Pieces::from(call.filled_in(request.body.to_string()))));
        if let Some(key) = &self.account.key {
            let (name, value) = protocol.key_header(self.account.base_url.reveal(), key.reveal());
            post = post.header(name, value);
        }
        match post.send().await.map_err(broken).and_then(|response| arrived(response, self.options.address)) {
            Ok(response) => read(protocol, response).await,
            Err(fault) => {
                let bill = bill(&fault, None, None);
                Err((fault, bill))
            }
        }
    }
}

async fn read(protocol: Protocol, response: reqwest::Response) -> Result<Response, (Fault, Bill)> {
    let (status, packed) = (response.status().as_u16(), packed(response.headers()));
    read_unpacked(protocol, response).await.map_err(|(fault, bill)| match (packed, fault) {
        // The next one would come packed, too.
        (Some(packed), Fault::Transient { load: ServerLoad::Connection, .. }) if status == 200 => {
            let message = format!(
                "the server's response is packed (content-encoding: {packed}), which was not asked for: have it, or the gateway before it, send responses as they are"
            );
            (Fault::Final(HostError::Failed(message)), Bill::Unknown)
        }
        (_, fault) => (fault, bill),
    })
}

/// Returns how a response is packed that is not unpacked here.
fn packed(headers: &HeaderMap) -> Option<String> {
    let packed = headers.get(CONTENT_ENCODING)?.to_str().ok()?.trim();
    let is_packed = !packed.is_empty() && !packed.eq_ignore_ascii_case("identity");
    is_packed.then(|| packed.chars().take(20).collect())
}

async fn read_unpacked(protocol: Protocol, response: reqwest::Response) -> Result<Response, (Fault, Bill)> {
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers());
    let billed = |fault: Fault, told: Option<Usage>| {
        let bill = bill(&fault, Some(status), told);
        (fault, bill)
    };
    // Some gateways stream whatever they are asked.
    if status == 200 && is_event_stream(response.headers()) {
        return read_stream(protocol, response).await;
    }
    let body = text_of(response, MAX_RESPONSE_BYTES).await.map_err(|fault| billed(fault, None))?;
    let read = protocol.read(HttpResponse { status, retry_after, body: &body });
    read.map_err(|fault| billed(fault, protocol.usage(&body)))
}

/// Returns the body of a response of at most `most` bytes; an error is cut where it is longer than errors are.
pub(super) async fn text_of(mut response: reqwest::Response, most: usize) -> Result<String, Fault> {
    let is_error = !response.status().is_success();
    let most = if is_error { MAX_ERROR_BYTES } else { most };
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(broken)? {
        let taken = piece.len().min(most - bytes.len());
        bytes.extend_from_slice(&piece[..taken]);
        if taken < piece.len() && is_error {
            break;
        }
        if taken < piece.len() {
            let message =
                format!("the server's response is larger than {} MiB, and was not read to its end", most >> 20);
            return Err(Fault::Final(HostError::Failed(message)));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

async fn read_stream(protocol: Protocol, mut response: reqwest::Response) -> Result<Response, (Fault, Bill)> {
    let mut reader = StreamReader::new(protocol);
    let fault = loop {
        match response.chunk().await.map_err(broken) {
            Ok(Some(bytes)) => {
                if let Err(fault) = reader.push(&bytes) {
                    break fault;
                }
                if !reader.is_done() {
                    continue;
                }
                // A connection that ends with its response can be used again; some never end.
                let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
                let _ = tokio::time::timeout(END_OF_STREAM, rest).await;
            }
            Ok(None) => {}
            // The connection lost its end, and the response none of its words.
            Err(_) if reader.has_ended() => {}
            Err(fault) => break fault,
        }
        let told = reader.usage();
        return reader.finish().map_err(|fault| {
            let bill = match fault {
                // It broke off, and what it named is of its beginning.
                Fault::Transient { load: ServerLoad::Connection, .. } => Bill::Unknown,
                _ => bill(&fault, Some(200), told),
            };
            (fault, bill)
        });
    };
    // What was written up to here is billed, and nobody says how much it was.
    let has_begun = !reader.text().is_empty() || reader.usage().is_some();
    let bill = if has_begun { Bill::Unknown } else { bill(&fault, Some(200), None) };
    Err((fault, bill))
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// Makes the client that sends requests that carry keys and books: to the server that the user named, and to none that
/// it points to.
pub(super) fn http(timeout: Duration, to: &Address) -> Result<reqwest::Client> {
    let client = crate::http::client_to(to.reveal()).gzip(true).timeout(timeout).connect_timeout(CONNECT_TIMEOUT);
    client.redirect(reqwest::redirect::Policy::none()).build().context("cannot set up HTTP")
}

#[cfg(test)]
mod tests;

//! The relay: a request of the page goes to a server of models, its answer comes back as it is made. Keys pass through and
//! are kept nowhere.

use super::answer::{Answer, answer, failure, streamed};
use anyhow::{Context, Result};
use closeread_core::hash::sha256;
use futures_util::TryStreamExt;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use std::io;
use std::net::SocketAddr;

/// The header that says who asks: the token that the page reads in `closeread.json`.
const TOKEN: &str = "x-closeread-token";
/// The header that says who is asked.
const TARGET: &str = "x-closeread-url";
/// The longest request that is passed on: four million tokens of text or more.
const MAX_BODY: usize = 64 << 20;

pub(super) struct Relay {
    token: String,
    client: reqwest::Client,
}

impl Relay {
    pub(super) fn new() -> Result<Self> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).context("the system gives no random numbers for the token of --relay")?;
        // A redirect could carry a key to another server.
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
        Ok(Self { token: sha256(&random), client: client.context("cannot ask servers")? })
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    pub(super) async fn answer(&self, request: &Parts, body: Incoming, own: SocketAddr) -> Answer {
        let value = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
        if !is_same(value(TOKEN).unwrap_or_default(), &self.token) {
            return failure(StatusCode::FORBIDDEN, "the token of closeread.json is missing or not this server's");
        }
        let origins = [format!("http://127.0.0.1:{}", own.port()), format!("http://localhost:{}", own.port())];
        if value("origin").is_some_and(|origin| !origins.iter().any(|ours| ours == origin)) {
            return failure(StatusCode::FORBIDDEN, "only the page of this server is passed on");
        }
        let target = match target(value(TARGET).unwrap_or_default(), own) {
            Ok(target) => target,
            Err(message) => return failure(StatusCode::BAD_REQUEST, message),
        };
        if !matches!(request.method, Method::POST | Method::GET) {
            return failure(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are passed on");
        }
        let headers = passed_on(&request.headers);
        let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
            return failure(StatusCode::PAYLOAD_TOO_LARGE, "a request of more than 64 MiB is not passed on");
        };
        let asked =
            self.client.request(request.method.clone(), target).headers(headers).body(body.to_bytes()).send().await;
        match asked {
            // The address may hold a key, and is not repeated.
            Err(error) => failure(StatusCode::BAD_GATEWAY, &in_words(&error.without_url())),
            Ok(reply) => {
                let mut builder = answer(reply.status()).header(header::CACHE_CONTROL, "no-store");
                for name in [header::CONTENT_TYPE, header::RETRY_AFTER] {
                    if let Some(value) = reply.headers().get(&name) {
                        builder = builder.header(name, value);
                    }
                }
                let broken = |error: reqwest::Error| io::Error::other(error.without_url());
                streamed(builder, reply.bytes_stream().map_err(broken))
            }
        }
    }
}

/// The error and what caused it.
fn in_words(error: &reqwest::Error) -> String {
    let mut words = format!("the server cannot be asked: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        words += &format!(": {error}");
        cause = error.source();
    }
    words
}

/// The address of a server, which is not this one.
fn target(url: &str, own: SocketAddr) -> Result<reqwest::Url, &'static str> {
    let wrong = "x-closeread-url must be the whole address of a server, http:// or https://, without user and password";
    let url = reqwest::Url::parse(url).map_err(|_| wrong)?;
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() || url.password().is_some() {
        return Err(wrong);
    }
    let host = url.host_str().ok_or(wrong)?;
    let is_here = matches!(host, "localhost" | "127.0.0.1" | "[::1]" | "0.0.0.0");
    if is_here && url.port_or_known_default() == Some(own.port()) {
        return Err("the relay does not pass on to itself");
    }
    Ok(url)
}

/// What a server of models needs to be told.
fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let is_passed = |name: &HeaderName| {
        let names = ["authorization", "x-api-key", "x-goog-api-key", "content-type", "accept"];
        names.contains(&name.as_str()) || name.as_str().starts_with("anthropic-")
    };
    headers.iter().filter(|(name, _)| is_passed(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Compares in a time that tells nothing of where the two differ.
fn is_same(given: &str, token: &str) -> bool {
    let (given, token) = (sha256(given.as_bytes()), sha256(token.as_bytes()));
    given.bytes().zip(token.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

//! The relay: a request of the page goes to a server of models, its answer comes back as it is made. Keys pass through and
//! are kept nowhere.

use crate::answer::failure;
use anyhow::{Context, Result};
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::Response;
use closeread_text::hash::sha256;
use futures_util::TryStreamExt;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::lookup_host;

/// The header that says who asks: the token that the page reads in `closeread.json`.
const TOKEN: &str = "x-closeread-token";
/// The header that says who is asked.
const TARGET: &str = "x-closeread-url";
/// The longest request that is passed on: four million tokens of text or more.
const MAX_BODY: usize = 64 << 20;
/// The time in which all of it must have come.
const BODY_TIME: Duration = Duration::from_secs(60);

pub(crate) struct Relay {
    token: String,
    client: reqwest::Client,
}

impl Relay {
    pub(crate) fn new() -> Result<Self> {
        let mut random = [0; 32];
        getrandom::fill(&mut random).context("the system gives no random numbers for the token of --relay")?;
        // A redirect could carry a key to another server.
        let client = closeread_providers::http::client().redirect(reqwest::redirect::Policy::none());
        let client = client.dns_resolver(Arc::new(NotLinkLocal)).build();
        Ok(Self { token: sha256(&random), client: client.context("cannot ask servers")? })
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Passes a request on, if the page of this server asks, which listens on `own`.
    pub(crate) async fn answer(&self, request: Request, own: SocketAddr) -> Response {
        let (request, body) = request.into_parts();
        let value = |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok());
        if !is_same(value(TOKEN).unwrap_or_default(), &self.token) {
            return failure(StatusCode::FORBIDDEN, "the token of closeread.json is missing or not this server's");
        }
        let origins = [format!("http://127.0.0.1:{}", own.port()), format!("http://localhost:{}", own.port())];
        if value("origin").is_some_and(|origin| !origins.iter().any(|ours| ours == origin)) {
            return failure(StatusCode::FORBIDDEN, "only the page of this server is passed on");
        }
        let target = match target(value(TARGET).unwrap_or_default(), own).await {
            Ok(target) => target,
            Err(message) => return failure(StatusCode::BAD_REQUEST, message),
        };
        if !matches!(request.method, Method::POST | Method::GET) {
            return failure(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are passed on");
        }
        let body = match tokio::time::timeout(BODY_TIME, to_bytes(body, MAX_BODY)).await {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => {
                return failure(StatusCode::PAYLOAD_TOO_LARGE, "a request of more than 64 MiB is not passed on");
            }
            Err(_) => return failure(StatusCode::REQUEST_TIMEOUT, "the request did not come whole within a minute"),
        };
        let headers = passed_on(&request.headers);
        match self.client.request(request.method, target).headers(headers).body(body).send().await {
            // The address may hold a key, and is not repeated.
            Err(error) => failure(StatusCode::BAD_GATEWAY, &in_words(&error.without_url())),
            Ok(response) => {
                let mut answer =
                    Response::builder().status(response.status()).header(header::CACHE_CONTROL, "no-store");
                for name in [header::CONTENT_TYPE, header::RETRY_AFTER] {
                    if let Some(value) = response.headers().get(&name) {
                        answer = answer.header(name, value);
                    }
                }
                let broken = |error: reqwest::Error| io::Error::other(error.without_url());
                let body = Body::from_stream(response.bytes_stream().map_err(broken));
                answer
                    .body(body)
                    .unwrap_or_else(|_| failure(StatusCode::BAD_GATEWAY, "the server's answer has no sense"))
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

/// The address of a server that may be asked: not this one, and none that only this machine's own network knows.
async fn target(url: &str, own: SocketAddr) -> Result<reqwest::Url, &'static str> {
    let wrong = "x-closeread-url must be the whole address of a server, http:// or https://, without user and password";
    let url = reqwest::Url::parse(url).map_err(|_| wrong)?;
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() || url.password().is_some() {
        return Err(wrong);
    }
    let (host, port) = (url.host_str().ok_or(wrong)?, url.port_or_known_default().ok_or(wrong)?);
    let own_name = host.trim_end_matches('.');
    let is_own_name = own_name == "localhost" || own_name.ends_with(".localhost");
    let found: Vec<IpAddr> = match host.trim_matches(['[', ']']).parse() {
        Ok(address) => vec![address],
        // Who has no address is asked, which says why that fails.
        Err(_) => lookup_host((host, port)).await.map(|found| found.map(|at| at.ip()).collect()).unwrap_or_default(),
    };
    let is_here = |address: &IpAddr| address.is_loopback() || address.is_unspecified();
    if port == own.port() && (is_own_name || found.iter().any(|address| is_here(&address.to_canonical()))) {
        return Err("the relay does not pass on to itself");
    }
    if found.iter().any(is_link_local) {
        return Err("the relay does not pass on to link-local addresses, where clouds keep a machine's own secrets");
    }
    Ok(url)
}

fn is_link_local(address: &IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// Looks names up, for the connection itself: a name can lead elsewhere than when it was checked.
struct NotLinkLocal;

impl Resolve for NotLinkLocal {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|at| !is_link_local(&at.ip())).collect();
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
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

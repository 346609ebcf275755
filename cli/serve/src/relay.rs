//! The relay: a request of the page goes to a server of models, its answer comes back as it is made. Keys pass through and
//! are kept nowhere.

use crate::answer::{failure, json};
use crate::models::{self, Place};
use anyhow::{Context, Result};
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::Response;
use closeread_providers::http;
use closeread_text::hash::sha256;
use futures_util::TryStreamExt;
use http_body_util::LengthLimitError;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use serde_json::{Value, json as object};
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::lookup_host;
use tracing::warn;

/// Header with the token of the page, which the page reads in `closeread.json`.
const TOKEN: &str = "x-closeread-token";
/// The header that says who is asked.
const TARGET: &str = "x-closeread-url";
/// The longest request that is passed on: four million tokens of text or more.
const MAX_BODY: usize = 64 << 20;
/// Message that says why another server is not asked.
const ONLY_MODELS: &str = "without --relay only /v1/ of servers of models on this machine is passed on, at the ports of \
     Ollama, LM Studio and llama-server and those that --model-port names";
/// The time in which all of it must have come.
const BODY_TIME: Duration = Duration::from_secs(60);

/// The servers that requests of the page are passed on to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relaying {
    /// No server.
    Nobody,
    /// The servers of models on this machine, and of them `/v1/` alone.
    ThisMachine,
    /// Any server that the page names.
    Anybody,
}

pub(crate) struct Relay {
    token: String,
    client: reqwest::Client,
    /// Asks servers on this machine, past the proxy of the environment.
    here: reqwest::Client,
    /// Places where servers of models are looked for.
    places: Vec<Place>,
    anybody: bool,
}

impl Relay {
    /// Makes a relay; `ports` were named besides those of programs that are known; the page's server listens on `own`.
    pub(crate) fn new(relaying: Relaying, ports: &[u16], own: SocketAddr) -> Result<Option<Self>> {
        if relaying == Relaying::Nobody {
            return Ok(None);
        }
        let mut random = [0; 32];
        getrandom::fill(&mut random).context("the system gives no random numbers for the relay's token")?;
        // A redirect could carry a key to another server.
        let make = |client: reqwest::ClientBuilder| {
            client.redirect(reqwest::redirect::Policy::none()).dns_resolver(Arc::new(NoSecrets)).build()
        };
        let made = make(http::client()).and_then(|client| Ok((client, make(http::client().no_proxy())?)));
        let (client, here) = match made {
            Ok(clients) => clients,
            // As in an image without certificates: what needs no server works there.
            Err(error) => {
                warn!("the page cannot ask servers of models through this one: {:#}", anyhow::Error::new(error));
                return Ok(None);
            }
        };
        Ok(Some(Self {
            token: sha256(&random),
            client,
            here,
            places: models::places(ports, own.port()),
            anybody: relaying == Relaying::Anybody,
        }))
    }

    /// Returns what the page needs to know of the relay.
    pub(crate) fn described(&self) -> Value {
        object!({"token": self.token, "any": self.anybody})
    }

    /// Returns which servers of models there are on this machine, if the page of this server asks.
    pub(crate) async fn models(&self, headers: &HeaderMap, own: SocketAddr) -> Response {
        if let Err(refused) = self.admit(headers, own) {
            return failure(StatusCode::FORBIDDEN, refused);
        }
        json(StatusCode::OK, &models::found(&self.here, &self.places).await)
    }

    /// Refuses requests that are not of the page of this server, which listens on `own`.
    fn admit(&self, headers: &HeaderMap, own: SocketAddr) -> Result<(), &'static str> {
        let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if !is_same(value(TOKEN).unwrap_or_default(), &self.token) {
            return Err("the token of closeread.json is missing or not this server's");
        }
        let origins = [format!("http://127.0.0.1:{}", own.port()), format!("http://localhost:{}", own.port())];
        if value("origin").is_some_and(|origin| !origins.iter().any(|ours| ours == origin)) {
            return Err("only the page of this server is passed on");
        }
        Ok(())
    }

    /// Returns whether a server may be asked though `--relay` was not given: one of models on this machine.
    fn is_of_models(&self, url: &reqwest::Url) -> bool {
        let here = url.scheme() == "http" && matches!(url.host_str(), Some("127.0.0.1" | "localhost"));
        // A server could read an escaped `/` or `.` as another path.
        let path = url.path().starts_with("/v1/") && !url.path().contains(['%', '\\']);
        here && path && self.places.iter().any(|place| Some(place.port) == url.port_or_known_default())
    }

    /// Passes a request on, if the page of this server asks, which listens on `own`.
    pub(crate) async fn answer(&self, request: Request, own: SocketAddr) -> Response {
        let (request, body) = request.into_parts();
        if let Err(refused) = self.admit(&request.headers, own) {
            return failure(StatusCode::FORBIDDEN, refused);
        }
        let named = request.headers.get(TARGET).and_then(|value| value.to_str().ok());
        let target = match target(named.unwrap_or_default(), own).await {
            Ok(target) => target,
            Err(message) => return failure(StatusCode::BAD_REQUEST, message),
        };
        if !self.anybody && !self.is_of_models(&target) {
            return failure(StatusCode::BAD_REQUEST, ONLY_MODELS);
        }
        if !matches!(request.method, Method::POST | Method::GET) {
            return failure(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are passed on");
        }
        let body = match tokio::time::timeout(BODY_TIME, to_bytes(body, MAX_BODY)).await {
            Ok(Ok(body)) => body,
            Ok(Err(error)) if error.source().is_some_and(|cause| cause.is::<LengthLimitError>()) => {
                return failure(StatusCode::PAYLOAD_TOO_LARGE, "a request of more than 64 MiB is not passed on");
            }
            Ok(Err(_)) => {
                return failure(StatusCode::BAD_REQUEST, "the request broke off, or its pieces have no sense");
            }
            Err(_) => return failure(StatusCode::REQUEST_TIMEOUT, "the request did not come whole within a minute"),
        };
        let headers = passed_on(&request.headers);
        let client = if http::is_on_this_machine(&target) { &self.here } else { &self.client };
        match client.request(request.method, target).headers(headers).body(body).send().await {
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

/// Returns the error and what caused it, in words.
fn in_words(error: &reqwest::Error) -> String {
    let mut words = format!("the server cannot be asked: {error}");
    let mut cause = error.source();
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
        // A name without an address passes: the request to it fails, and says why.
        Err(_) => lookup_host((host, port)).await.map(|found| found.map(|at| at.ip()).collect()).unwrap_or_default(),
    };
    let is_here = |address: &IpAddr| address.is_loopback() || address.is_unspecified();
    if port == own.port() && (is_own_name || found.iter().any(|address| is_here(&address.to_canonical()))) {
        return Err("the relay does not pass on to itself");
    }
    if found.iter().any(holds_secrets) {
        return Err(
            "the relay does not pass on to link-local addresses and others where clouds keep a machine's own secrets",
        );
    }
    Ok(url)
}

/// Where clouds tell a machine its credentials: link-local addresses, and those of Alibaba, Azure, Oracle, Amazon and Google that are not.
fn holds_secrets(address: &IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            address.is_link_local()
                || matches!(address.octets(), [100, 100, 100, 200] | [168, 63, 129, 16] | [192, 0, 0, 192])
        }
        IpAddr::V6(address) => match address.segments() {
            // NAT64 leads to the address of IPv4 at its end.
            [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
                holds_secrets(&IpAddr::V4((u32::from(high) << 16 | u32::from(low)).into()))
            }
            [0xfd00, 0xec2, ..] | [0xfd20, 0xce, ..] => true,
            _ => address.is_unicast_link_local(),
        },
    }
}

/// Looks names up, for the connection itself: a name can lead elsewhere than when it was checked.
struct NoSecrets;

impl Resolve for NoSecrets {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|at| !holds_secrets(&at.ip())).collect();
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Returns the headers that a server of models needs.
fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let is_passed = |name: &HeaderName| {
        let names = ["authorization", "api-key", "x-api-key", "x-goog-api-key", "content-type", "accept"];
        names.contains(&name.as_str()) || name.as_str().starts_with("anthropic-")
    };
    headers.iter().filter(|(name, _)| is_passed(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Compares in a time that tells nothing of where the two differ.
fn is_same(given: &str, token: &str) -> bool {
    let (given, token) = (sha256(given.as_bytes()), sha256(token.as_bytes()));
    given.bytes().zip(token.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

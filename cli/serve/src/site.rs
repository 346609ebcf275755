//! Routes besides the page, and who may use them.

use crate::answer::{failure, json};
use crate::path;
use crate::relay::Relay;
use crate::runs::ServedRun;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use tower::ServiceExt;

/// Message where nothing is passed on.
const NOTHING: &str = "nothing is passed on: start `closeread serve` without --no-relay, or with --relay";

/// The state that every request may look at.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    pub(crate) page: Router,
    pub(crate) runs: Vec<ServedRun>,
    pub(crate) relay: Option<Relay>,
}

/// Passes on requests to this server for paths that stay where they are.
pub(crate) async fn checked(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    if !site.is_addressed(request.headers()) {
        let port = site.address.port();
        let message = format!(
            "this server answers at http://127.0.0.1:{port} and http://localhost:{port} alone, so that no page of another site \
             reads what it serves: open that address; forward port {port} to the same number, as in ssh -L \
             {port}:127.0.0.1:{port} HOST"
        );
        return failure(StatusCode::MISDIRECTED_REQUEST, &message);
    }
    if request.uri().path().len() > path::MAX_PATH {
        let message =
            format!("the path is longer than {} bytes: nothing that is served has such a one", path::MAX_PATH);
        return failure(StatusCode::URI_TOO_LONG, &message);
    }
    if path::parts(request.uri().path()).is_none() {
        return failure(StatusCode::NOT_FOUND, "no such file");
    }
    next.run(request).await
}

/// Returns what the page can find here.
pub(crate) async fn described(State(site): State<Arc<Site>>) -> Response {
    let names: Vec<&str> = site.runs.iter().map(|run| run.name.as_str()).collect();
    let relay = site.relay.as_ref().map(Relay::described);
    json(StatusCode::OK, &json!({"relay": relay, "runs": names}))
}

/// Passes a request on, if the server was started for that.
pub(crate) async fn relayed(State(site): State<Arc<Site>>, request: Request) -> Response {
    match &site.relay {
        Some(relay) => relay.answer(request, site.address).await,
        None => failure(StatusCode::NOT_FOUND, NOTHING),
    }
}

/// The servers of models on this machine, with what they offer.
pub(crate) async fn local_models(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    match &site.relay {
        Some(relay) => relay.models(&headers, site.address).await,
        None => failure(StatusCode::NOT_FOUND, NOTHING),
    }
}

/// `/runs/NAME/PATH`, and the page's own modules in its folder `runs`.
pub(crate) async fn run_file(State(site): State<Arc<Site>>, request: Request) -> Response {
    let parts = path::parts(request.uri().path()).unwrap_or_default();
    if matches!(&parts[..], [_, module] if module.ends_with(".js")) {
        let Ok(response) = site.page.clone().oneshot(request).await;
        return response;
    }
    match parts.get(1).and_then(|name| site.runs.iter().find(|run| run.name == *name)) {
        Some(run) => run.answer(request, &parts[2..]).await,
        None => failure(StatusCode::NOT_FOUND, "no such run"),
    }
}

impl Site {
    /// True unless another site's name leads here, which is how a page of that site would read what is served.
    fn is_addressed(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let (name, port) = host.split_once(':').unwrap_or((host, "80"));
        ["127.0.0.1", "localhost"].contains(&name) && port.parse() == Ok(self.address.port())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn finding_16_a_browser_names_no_port_where_it_is_80() {
        let is_addressed = |port: u16, host: &'static str| {
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            let site = Site { address, page: Router::new(), runs: Vec::new(), relay: None };
            site.is_addressed(&HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(host))]))
        };
        for host in ["127.0.0.1", "localhost", "localhost:80"] {
            assert!(is_addressed(80, host) && !is_addressed(7327, host), "{host}");
        }
        for host in
            ["evil.example", "evil.example:80", "127.0.0.1:1", "", ":80", "127.0.0.1:80:80", "127.0.0.1.evil.example"]
        {
            assert!(!is_addressed(80, host), "{host}");
        }
        assert!(is_addressed(7327, "localhost:7327"));
    }
}

//! Answers that are not files, and what every answer carries.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json as object};
use tower_http::set_header::SetResponseHeaderLayer;

/// Content security policy of the pages: they may load what is served here, WebAssembly, and the servers of models that
/// a reader names.
const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; \
     style-src 'self'; connect-src 'self' https: http://127.0.0.1:* http://localhost:*; img-src 'self' data: blob:; \
     object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The routes with the headers that every answer has; files are asked for again unless they are as they were.
pub(crate) fn with_headers(routes: Router) -> Router {
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        // Threads for a language model in the page; pages of other servers lend nothing without asking for it.
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-embedder-policy"), "credentialless"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    headers.into_iter().fold(routes, |routes, (name, value)| {
        routes.layer(SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value)))
    })
}

/// Answers with JSON that nobody keeps.
pub(crate) fn json(status: StatusCode, value: &Value) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (status, headers, Body::from(value.to_string())).into_response()
}

/// Answers with what went wrong, in words.
pub(crate) fn failure(status: StatusCode, message: &str) -> Response {
    json(status, &object!({"error": message}))
}

//! Answers that are not files, and what every answer carries.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
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

/// A part of a file only as long as it is the file that `If-Range` names by its tag; otherwise the whole file (RFC 9110, 13.1.5).
/// A date tells no two writes within a second apart, and gets the whole file, too.
pub(crate) async fn as_it_was(request: Request, next: Next) -> Response {
    let Some(known) = request.headers().get(header::IF_RANGE).cloned() else { return next.run(request).await };
    let mut whole = Request::new(Body::empty());
    *whole.method_mut() = request.method().clone();
    *whole.uri_mut() = request.uri().clone();
    *whole.headers_mut() = request.headers().clone();
    whole.headers_mut().remove(header::RANGE);
    let response = next.clone().run(request).await;
    let is_known = response.headers().get(header::ETAG) == Some(&known) && !known.as_bytes().starts_with(b"W/");
    if is_known { response } else { next.run(whole).await }
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

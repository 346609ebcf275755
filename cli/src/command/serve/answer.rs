//! Answers, and what every one of them carries.

use futures_util::Stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::response::Builder;
use hyper::{Response, StatusCode};
use serde_json::{Value, json as object};
use std::io;

/// What is sent back.
pub(super) type Answer = Response<UnsyncBoxBody<Bytes, io::Error>>;

/// What pages may load: what is served here, WebAssembly, and the servers of models that a reader names.
pub(super) const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; \
     style-src 'self'; connect-src 'self' https: http://127.0.0.1:* http://localhost:*; img-src 'self' data: blob:; \
     object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// An answer with the headers that all have; files are asked for again unless they are as they were.
pub(super) fn answer(status: StatusCode) -> Builder {
    Response::builder()
        .status(status)
        .header(header::CONTENT_SECURITY_POLICY, POLICY)
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(header::REFERRER_POLICY, "no-referrer")
        .header(HeaderName::from_static("cross-origin-resource-policy"), "same-origin")
}

/// A whole body.
pub(super) fn whole(builder: Builder, bytes: impl Into<Bytes>) -> Answer {
    let body = Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync();
    built(builder.body(body))
}

/// A body that is sent as it comes.
pub(super) fn streamed(builder: Builder, bytes: impl Stream<Item = io::Result<Bytes>> + Send + 'static) -> Answer {
    use futures_util::StreamExt;
    built(builder.body(BodyExt::boxed_unsync(StreamBody::new(bytes.map(|bytes| bytes.map(Frame::data))))))
}

/// JSON that nobody keeps.
pub(super) fn json(status: StatusCode, value: &Value) -> Answer {
    let builder = answer(status)
        .header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .header(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    whole(builder, value.to_string())
}

/// What went wrong, in words.
pub(super) fn failure(status: StatusCode, message: &str) -> Answer {
    json(status, &object!({"error": message}))
}

fn built(answer: Result<Answer, hyper::http::Error>) -> Answer {
    answer.unwrap_or_else(|_| {
        let mut answer = Response::new(Full::default().map_err(|never| match never {}).boxed_unsync());
        *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        answer
    })
}

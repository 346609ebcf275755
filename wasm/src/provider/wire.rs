//! One request by fetch, straight or over a relay.

use closeread_llm::provider::{
    Fault, HttpResponse, MAX_ERROR_BYTES, MAX_RESPONSE_BYTES, Protocol, Request, Secret, ServerLoad, StreamReader,
};
use closeread_llm::{HostError, Response, provider};
use gloo_net::http;
use js_sys::{Date, Function, Promise, Reflect, Uint8Array};
use serde::Deserialize;
use std::time::Duration;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, ReadableStreamDefaultReader};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(action: &Function, milliseconds: f64) -> JsValue;
}

/// Longest until a wait hears that it is no longer wanted.
const STOP_SEEN_WITHIN: Duration = Duration::from_millis(100);

/// The relay that forwards requests: `POST /relay` of `closeread serve`.
#[derive(Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct Relay {
    /// Address of the relay.
    url: String,
    /// Token that the relay gave the page.
    token: String,
}

/// A server, and the way to it.
pub(super) struct Wire {
    pub(super) protocol: Protocol,
    pub(super) base_url: String,
    pub(super) key: Option<Secret>,
    pub(super) relay: Option<Relay>,
}

impl Wire {
    /// Makes one try.
    pub(super) async fn sent(
        &self,
        request: &Request,
        stream: bool,
        signal: Option<&AbortSignal>,
        show: Option<&dyn Fn(&str)>,
    ) -> Result<Response, Fault> {
        let posted = match self.request(request, signal) {
            Ok(posted) => posted.send().await,
            Err(error) => Err(error),
        };
        self.read(posted.map_err(|error| self.unreached(&error))?, stream, show).await
    }

    fn request(&self, request: &Request, signal: Option<&AbortSignal>) -> Result<http::Request, gloo_net::Error> {
        let url = self.protocol.url(&self.base_url, request);
        let mut post = match &self.relay {
            None => http::Request::post(&url),
            Some(relay) => http::Request::post(&relay.url)
                .header("x-closeread-token", &relay.token)
                .header("x-closeread-url", &url),
        };
        post = post.header("content-type", "application/json").abort_signal(signal);
        for (name, value) in &request.headers {
            post = post.header(name, value);
        }
        if self.protocol == Protocol::Anthropic && self.relay.is_none() {
            post = post.header("anthropic-dangerous-direct-browser-access", "true");
        }
        if let Some(key) = &self.key {
            let (name, value) = self.protocol.key_header(&self.base_url, key.reveal());
            post = post.header(name, &value);
        }
        post.body(request.body.to_string())
    }

    async fn read(
        &self,
        response: http::Response,
        stream: bool,
        show: Option<&dyn Fn(&str)>,
    ) -> Result<Response, Fault> {
        let headers = response.headers();
        let status = response.status();
        let kind = headers.get("content-type").unwrap_or_default();
        if stream && status == 200 && kind.starts_with("text/event-stream") {
            return self.read_stream(response, show).await;
        }
        let (after, after_ms) = (headers.get("retry-after"), headers.get("retry-after-ms"));
        let retry_after = provider::retry_after(after.as_deref(), after_ms.as_deref(), Date::now() / 1000.0);
        let most = if response.ok() { MAX_RESPONSE_BYTES } else { MAX_ERROR_BYTES };
        let mut body = Vec::new();
        let whole = each_piece(&response, |piece| {
            let taken = piece.len().min(most - body.len());
            body.extend_from_slice(&piece[..taken]);
            Ok(taken == piece.len())
        });
        if !whole.await? && response.ok() {
            let message =
                format!("the server's response is larger than {} MiB, and was not read to its end", most >> 20);
            return Err(Fault::Final(HostError::Failed(message)));
        }
        self.protocol.read(HttpResponse { status, retry_after, body: &String::from_utf8_lossy(&body) })
    }

    async fn read_stream(&self, response: http::Response, show: Option<&dyn Fn(&str)>) -> Result<Response, Fault> {
        let mut reader = StreamReader::new(self.protocol);
        let mut shown = 0;
        each_piece(&response, |piece| {
            reader.push(piece)?;
            if let Some(show) = show.filter(|_| reader.text().len() > shown) {
                shown = reader.text().len();
                match &self.key {
                    Some(key) => show(&key.redact_so_far(reader.text())),
                    None => show(reader.text()),
                }
            }
            Ok(!reader.is_done())
        })
        .await?;
        reader.finish()
    }

    /// A page is not told why: whether there is no server, or one that lets no page of another origin in.
    fn unreached(&self, error: &gloo_net::Error) -> Fault {
        let way = match &self.relay {
            None => "it may not run, or not let pages of other origins in (CORS): `closeread serve` forwards to such",
            Some(_) => "the relay is not reachable: is `closeread serve` still running?",
        };
        let message = format!("no connection to the server ({}); {way}", self.redact(&error.to_string()));
        Fault::transient(ServerLoad::Unreached, message)
    }

    /// `text` without the key, which some servers repeat.
    pub(super) fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }

    /// A response without the key.
    pub(super) fn redact_response(&self, response: Response) -> Response {
        match &self.key {
            Some(key) => key.redact_response(response),
            None => response,
        }
    }
}

/// Hands the body on as it comes, while more is wanted; whether all of it was. A response without a body is empty.
async fn each_piece(
    response: &http::Response,
    mut take: impl FnMut(&[u8]) -> Result<bool, Fault>,
) -> Result<bool, Fault> {
    let lost = |_: JsValue| broken("the connection broke in the middle of the response");
    let Some(stream) = response.body() else { return Ok(true) };
    let pieces: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    loop {
        let piece = JsFuture::from(pieces.read()).await.map_err(lost)?;
        if Reflect::get(&piece, &"done".into()).map_err(lost)?.is_truthy() {
            return Ok(true);
        }
        let bytes = Reflect::get(&piece, &"value".into()).map_err(lost)?;
        let wanted = take(&Uint8Array::new(&bytes).to_vec());
        if !matches!(wanted, Ok(true)) {
            // What is not read is not sent, either.
            drop(pieces.cancel());
            return wanted;
        }
    }
}

fn broken(message: &str) -> Fault {
    Fault::transient(ServerLoad::Connection, message)
}

/// Waits, or not for long once it is no longer wanted.
pub(super) async fn sleep(time: Duration, signal: Option<&AbortSignal>) {
    let end = Date::now() + time.as_secs_f64() * 1000.0;
    loop {
        let left = end - Date::now();
        if left <= 0.0 || signal.is_some_and(AbortSignal::aborted) {
            return;
        }
        let step = left.min(STOP_SEEN_WITHIN.as_secs_f64() * 1000.0);
        let slept = Promise::new(&mut |resolve, _| drop(set_timeout(&resolve, step)));
        // A timer does not reject.
        let _ = JsFuture::from(slept).await;
    }
}

//! Chat models on servers, asked from a page: the command line's requests, sent by fetch.

mod wire;

use crate::books::to_js;
use crate::error::{as_js, usage};
use closeread_llm::provider::{
    AccountState, Attempts, Dialect, Fault, Limits, Notice, Parameters, Protocol, Secret, Step, TokenLimit, streams,
};
use closeread_llm::{Call, HostError, Message, Response, Speaker};
use js_sys::{Function, JSON, Math, Reflect};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::time::Duration;
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;
use wire::{Relay, Wire, sleep};

#[cfg(feature = "typescript")]
pub(crate) fn declare(types: &mut crate::typescript::declarations::Declarations) {
    types.add::<Options>().add::<GivenCall>().add::<Retrying<'static>>();
}

#[wasm_bindgen]
extern "C" {
    /// `ChatModelOptions` in TypeScript.
    #[wasm_bindgen(typescript_type = "ChatModelOptions")]
    pub type JsChatModelOptions;
    /// `ChatCall` in TypeScript.
    #[wasm_bindgen(typescript_type = "ChatCall")]
    pub type JsChatCall;
    /// `ChatResponse` in TypeScript.
    #[wasm_bindgen(typescript_type = "ChatResponse")]
    pub type JsMethodResponse;
    /// Hears of tries that failed.
    #[wasm_bindgen(typescript_type = "(retrying: Retrying) => void")]
    pub type JsRetrying;
    /// Hears the response as far as it has come.
    #[wasm_bindgen(typescript_type = "(text: string) => void")]
    pub type JsSoFar;
}

/// Tries where the server never responded: a page cannot tell a broken connection from a server that lets no page in.
const UNREACHED_TRIES: u32 = 3;

/// The options of a chat model on a server. The key stays in WebAssembly's memory; nothing prints it.
#[derive(Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ChatModelOptions", optional_fields))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Options {
    /// What the server speaks; local servers and most others speak `openai`.
    #[cfg_attr(feature = "typescript", ts(type = "\"openai\" | \"anthropic\" | \"gemini\""))]
    protocol: String,
    /// Name of the model with the provider.
    model: String,
    /// Address of the server, up to and including /v1 for `openai`; default: the provider's own.
    base_url: Option<String>,
    /// The key, where the server wants one.
    key: Option<String>,
    /// Fields merged into each request, such as `{ "reasoning_effort": "low" }`.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(type = "Record<string, unknown>", optional))]
    extra_body: Map<String, Value>,
    /// Seed of the sampling.
    seed: Option<u64>,
    /// What forwards requests to servers that do not let pages in: `closeread serve`.
    relay: Option<Relay>,
}

/// What a chat model needs of a call.
#[derive(Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ChatCall", optional_fields))]
#[serde(rename_all = "camelCase")]
pub(crate) struct GivenCall {
    /// The dialogue so far, oldest first.
    messages: Vec<GivenMessage>,
    /// Most tokens of the response; absent or null: as many as the provider lets it have.
    #[cfg_attr(feature = "typescript", ts(type = "null | number", optional))]
    max_output_tokens: Option<u32>,
    /// Sampling temperature; default 0.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<f32>", optional))]
    temperature: f64,
}

/// A message of a call.
#[derive(Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ChatMessage", optional_fields))]
#[serde(rename_all = "camelCase")]
pub(crate) struct GivenMessage {
    /// Speaker of the message.
    role: Speaker,
    /// Words of the message.
    content: String,
    /// UTF-16 code units at the beginning that other calls share.
    shared_length: Option<usize>,
}

/// A try that failed and is made again.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct Retrying<'a> {
    /// What went wrong.
    message: &'a str,
    /// Number of tries so far.
    tries: u32,
    /// Number of tries that there are.
    of: u32,
    /// Seconds until the next.
    wait: f64,
}

/// A chat model on a server.
#[wasm_bindgen]
pub struct ChatModel {
    wire: Wire,
    model: String,
    seed: Option<u64>,
    extra_body: Map<String, Value>,
    state: RefCell<AccountState>,
}

#[wasm_bindgen]
impl ChatModel {
    /// Sends nothing yet.
    ///
    /// # Errors
    /// An unknown protocol, no model, a key that cannot stand in a header.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &JsChatModelOptions) -> Result<Self, JsValue> {
        let json = JSON::stringify(options)?.as_string().unwrap_or_default();
        // The parser's own message may repeat a value, and with it the key.
        let options: Options = serde_json::from_str(&json).map_err(|_| {
            usage(
                "the options of a model: expected protocol and model, and perhaps baseUrl, key, extraBody, seed, relay",
            )
        })?;
        let protocol = match options.protocol.as_str() {
            "openai" => Protocol::OpenAi,
            "anthropic" => Protocol::Anthropic,
            "gemini" => Protocol::Gemini,
            other => return Err(usage(&format!("unknown protocol `{other}`: expected openai, anthropic or gemini"))),
        };
        let model = options.model.trim().to_owned();
        if model.is_empty() {
            return Err(usage("no model is named: expected its name with the provider"));
        }
        let given = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let key = given(options.key);
        if key.as_ref().is_some_and(|key| !key.bytes().all(|byte| byte.is_ascii_graphic())) {
            return Err(usage("the key holds a space or a character that no key has: copy it again"));
        }
        let base_url = given(options.base_url);
        let token_limit = match (protocol, &base_url) {
            (Protocol::OpenAi, None) => TokenLimit::MaxCompletionTokens,
            _ => TokenLimit::MaxTokens,
        };
        let base_url = base_url.unwrap_or_else(|| protocol.default_base_url().to_owned());
        Ok(Self {
            wire: Wire { protocol, base_url, key: key.map(Secret::new), relay: options.relay },
            model,
            seed: options.seed,
            extra_body: options.extra_body,
            state: RefCell::new(AccountState { dialect: Dialect { token_limit, ..Dialect::default() }, closed: None }),
        })
    }

    /// Asks for one completion. Faults that may pass are tried again, by the rules of the command line; `retrying`
    /// hears of each. With `so_far` the response is streamed, where the server can: it hears all of the text that has
    /// come.
    ///
    /// # Errors
    /// An `OverflowError` (with `needed` and `window`), a `BlockedError`, a `CallError`, or an `AbortError` once
    /// `signal` is aborted. No message holds the key.
    pub async fn chat(
        &self,
        call: JsChatCall,
        signal: Option<AbortSignal>,
        retrying: Option<JsRetrying>,
        so_far: Option<JsSoFar>,
    ) -> Result<JsMethodResponse, JsValue> {
        let call = call_of(&call)?;
        let tell = |retrying_now: &Retrying<'_>| {
            let tell = retrying.as_ref().and_then(|tell| tell.dyn_ref::<Function>());
            if let (Some(tell), Ok(value)) = (tell, to_js(retrying_now)) {
                let _ = tell.call1(&JsValue::NULL, &value);
            }
        };
        let show = so_far.as_ref().and_then(|show| show.dyn_ref::<Function>()).map(|show| {
            |text: &str| {
                let _ = show.call1(&JsValue::NULL, &text.into());
            }
        });
        let show = show.as_ref().map(|show| show as &dyn Fn(&str));
        let response = self.completed(&call, signal.as_ref(), &tell, show).await?;
        to_js(&response).map(JsCast::unchecked_into)
    }
}

impl ChatModel {
    async fn completed(
        &self,
        call: &Call,
        signal: Option<&AbortSignal>,
        tell: &dyn Fn(&Retrying<'_>),
        show: Option<&dyn Fn(&str)>,
    ) -> Result<Response, JsValue> {
        let mut attempts = Attempts::new(Limits { unreached_tries: UNREACHED_TRIES, ..Limits::default() });
        let mut waited = Duration::ZERO;
        loop {
            if signal.is_some_and(AbortSignal::aborted) {
                return Err(aborted());
            }
            let step = attempts.next(&self.state.borrow());
            let dialect = match step {
                Step::Ended(error) => return Err(self.error(error)),
                Step::Wait(wait) => {
                    sleep(wait, signal).await;
                    waited = wait;
                    continue;
                }
                Step::Send(dialect) => dialect,
            };
            let result = self.once(call, dialect, signal, show).await;
            if signal.is_some_and(AbortSignal::aborted) {
                return Err(aborted());
            }
            let fault = match result {
                Ok(response) => return Ok(self.wire.redact_response(response)),
                Err(fault) => fault,
            };
            let notice = attempts.failed(fault, &mut self.state.borrow_mut(), waited, Math::random());
            if let Notice::Again { message, tries, of, wait, .. } = notice {
                let message = self.wire.redact(&message);
                tell(&Retrying { message: &message, tries, of, wait: wait.as_secs_f64() });
            }
        }
    }

    async fn once(
        &self,
        call: &Call,
        dialect: Dialect,
        signal: Option<&AbortSignal>,
        show: Option<&dyn Fn(&str)>,
    ) -> Result<Response, Fault> {
        let stream = (show.is_some() || streams(call)) && !dialect.no_stream;
        let parameters = Parameters {
            model: self.model.clone(),
            seed: self.seed,
            stream,
            extra_body: self.extra_body.clone(),
            dialect,
        };
        self.wire.sent(&self.wire.protocol.request(call, &parameters), stream, signal, show).await
    }

    fn error(&self, error: HostError) -> JsValue {
        thrown(&match &self.wire.key {
            Some(key) => key.redact_error(error),
            None => error,
        })
    }
}

fn call_of(given: &JsValue) -> Result<Call, JsValue> {
    let GivenCall { messages, max_output_tokens, temperature } =
        serde_wasm_bindgen::from_value(given.clone()).map_err(|error| usage(&format!("the call: {error}")))?;
    let message = |GivenMessage { role, content, shared_length }| {
        let shared_bytes = shared_length.map(|units| bytes_of(&content, units));
        Message { role, content, shared_bytes }
    };
    let messages = messages.into_iter().map(message).collect();
    Ok(Call { messages, temperature, max_output_tokens, prompt: String::new() })
}

/// Bytes of the beginning that has so many UTF-16 code units.
fn bytes_of(text: &str, units: usize) -> usize {
    let mut seen = 0;
    let within = |c: &char| {
        seen += c.len_utf16();
        seen <= units
    };
    text.chars().take_while(within).map(char::len_utf8).sum()
}

fn aborted() -> JsValue {
    as_js("AbortError", &"no longer wanted")
}

/// A failure as JavaScript catches it.
fn thrown(error: &HostError) -> JsValue {
    let name = match error {
        HostError::Overflow { .. } => "OverflowError",
        HostError::Blocked { .. } => "BlockedError",
        HostError::Billed { error, .. } => return thrown(error),
        HostError::Failed(_) | HostError::Embedding(_) | HostError::Reranking(_) | HostError::Text(_) => "CallError",
    };
    let said = match error {
        HostError::Overflow { message: said, .. } | HostError::Blocked { reason: said } => said,
        HostError::Billed { error, .. } => return thrown(error),
        HostError::Failed(said) | HostError::Embedding(said) | HostError::Reranking(said) | HostError::Text(said) => {
            said
        }
    };
    let js = as_js(name, said);
    if let HostError::Overflow { needed, context_window: window, .. } = error {
        for (field, value) in [("needed", needed), ("window", window)] {
            let value = value.map_or(JsValue::NULL, |value| JsValue::from_f64(value as f64));
            let _ = Reflect::set(&js, &field.into(), &value);
        }
    }
    js
}

/// Returns the [`HostError`] that a rejection of the host stands for.
pub(crate) fn host_error(error: &JsValue) -> HostError {
    let field = |name: &str| Reflect::get(error, &name.into()).ok();
    let text = |name: &str| field(name).and_then(|value| value.as_string());
    let said = text("message").or_else(|| error.as_string()).unwrap_or_else(|| "the host gave no reason".to_owned());
    let number = |name: &str| field(name).and_then(|value| value.as_f64()).map(|number| number as u64);
    match text("name").as_deref() {
        Some("OverflowError") => {
            HostError::Overflow { message: said, needed: number("needed"), context_window: number("window") }
        }
        Some("BlockedError") => HostError::Blocked { reason: said },
        _ => HostError::Failed(said),
    }
}

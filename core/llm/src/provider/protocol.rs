//! The languages that servers of chat models speak, and what their requests and responses have in common.

use super::fault::{self, Fault};
use super::http::{HttpResponse, Request};
use super::parameters::Parameters;
use super::{anthropic, gemini, json, openai};
use crate::{Call, HostError, Response, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Most bytes to read of a response. A response of 128,000 tokens has one, vectors of 256 texts have 25 million.
pub const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// Most bytes to take of an answer, 4 MiB: a million tokens. It is parsed, scored and recorded, which takes longer than
/// reading it.
pub const MAX_ANSWER_BYTES: usize = 4 << 20;

/// Most bytes to read of an error: more than its words does not help.
pub const MAX_ERROR_BYTES: usize = 1 << 20;

/// Responses that may have this many tokens are streamed.
const STREAM_FROM_TOKENS: u32 = 4096;

/// Returns whether the response to a call is streamed: where it may be long or has no limit, for proxies give up on
/// connections that stay silent for minutes.
pub fn streams(call: &Call) -> bool {
    call.max_output_tokens.is_none_or(|limit| limit >= STREAM_FROM_TOKENS)
}

/// The languages that servers of chat models speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// OpenAI's chat completions: OpenAI itself, vLLM, SGLang, llama.cpp, Ollama, TGI, OpenRouter, DeepSeek ...
    OpenAi,
    /// Anthropic's protocol, Messages.
    Anthropic,
    /// Google's protocol, `generateContent`.
    Gemini,
}

impl Protocol {
    /// The address without `--base-url`; the part that every request of the protocol has in common.
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    /// The header that carries the key to the server at that address. Azure takes keys in `api-key`, and tokens (JWT) as others
    /// take keys.
    pub fn key_header(self, base_url: &str, key: &str) -> (&'static str, String) {
        match self {
            Self::OpenAi if is_azure(base_url) && !key.starts_with("eyJ") => ("api-key", key.to_owned()),
            Self::OpenAi => ("authorization", format!("Bearer {key}")),
            Self::Anthropic => ("x-api-key", key.to_owned()),
            Self::Gemini => ("x-goog-api-key", key.to_owned()),
        }
    }

    /// Returns the limit that a call without one is sent with, where the protocol must have one: the model's maximum if
    /// it is known.
    pub fn required_limit(self, model_maximum: Option<u32>) -> Option<u32> {
        match self {
            Self::Anthropic => Some(model_maximum.unwrap_or(anthropic::MAX_TOKENS)),
            Self::OpenAi | Self::Gemini => None,
        }
    }

    /// The full address of a request. A base URL that already holds the version (`/v1`, `/v1beta`) is not given it twice.
    pub fn url(self, base_url: &str, request: &Request) -> String {
        let base = base_url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        let version = match self {
            Self::OpenAi => "",
            Self::Anthropic => "/v1",
            Self::Gemini => "/v1beta",
        };
        let path = match request.path.strip_prefix(version) {
            Some(rest) if !version.is_empty() && base.ends_with(version) => rest,
            _ => &request.path,
        };
        with_path(base_url, path)
    }

    /// The request for a call.
    pub fn request(self, call: &Call, parameters: &Parameters) -> Request {
        let mut request = match self {
            Self::OpenAi => openai::request(call, parameters),
            Self::Anthropic => anthropic::request(call, parameters),
            Self::Gemini => gemini::request(call, parameters),
        };
        if let Value::Object(body) = &mut request.body {
            merge(body, &parameters.extra_body);
            if self == Self::Anthropic {
                anthropic::make_room_for_thinking(body);
            }
        }
        request
    }

    /// Reads a response that came whole.
    ///
    /// # Errors
    /// A [`Fault`]: an error status, an error inside a response that claims success, a refusal, a body cut short.
    pub fn read(self, response: HttpResponse<'_>) -> Result<Response, Fault> {
        if !(200..300).contains(&response.status) {
            return Err(fault::classify(response));
        }
        let value = json::parse(response.body)?;
        if fault::error_in(&value).is_some() {
            return Err(fault::inside(response, &value));
        }
        let response = match self {
            Self::OpenAi => openai::read(&value),
            Self::Anthropic => anthropic::read(&value),
            Self::Gemini => gemini::read(&value),
        }?;
        check_length(&response.text)?;
        Ok(response)
    }

    /// The tokens that a body names, also of a response that is no answer.
    pub fn usage(self, body: &str) -> Option<Usage> {
        let value = json::parse(body).ok()?;
        let usage = match self {
            Self::OpenAi => openai::usage(&value["usage"]),
            Self::Anthropic => anthropic::usage(&value["usage"]),
            Self::Gemini if gemini::text(&value["candidates"][0]).is_empty() => {
                gemini::usage_without_text(&value["usageMetadata"])
            }
            Self::Gemini => gemini::usage(&value["usageMetadata"]),
        };
        usage.named()
    }
}

/// Returns whether Azure serves the address.
fn is_azure(base_url: &str) -> bool {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let server = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = server.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default().to_ascii_lowercase();
    [".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com", ".azure-api.net"]
        .iter()
        .any(|end| host.ends_with(end))
}

/// The address of a path below a base URL. A query of the base, such as an `api-version` or a gateway's token, stays
/// behind the path; a fragment, which no server is sent, is left out.
pub fn with_path(base_url: &str, path: &str) -> String {
    let base_url = base_url.split('#').next().unwrap_or_default();
    let (base, query) = base_url.split_once('?').unwrap_or((base_url, ""));
    let base = base.trim_end_matches('/');
    match query {
        "" => format!("{base}{path}"),
        query => format!("{base}{path}{}{query}", if path.contains('?') { '&' } else { '?' }),
    }
}

/// Refuses an answer of more than [`MAX_ANSWER_BYTES`].
pub(super) fn check_length(answer: &str) -> Result<(), Fault> {
    if answer.len() <= MAX_ANSWER_BYTES {
        return Ok(());
    }
    let most = MAX_ANSWER_BYTES >> 20;
    let message =
        format!("the answer has more than {most} MiB: no model was asked for that much, so look at the server");
    Err(Fault::Final(HostError::Failed(message)))
}

/// Puts the fields of `extra` into `body`; where both hold an object, field by field.
pub fn merge(body: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (name, value) in extra {
        match (body.get_mut(name), value) {
            (Some(Value::Object(there)), Value::Object(more)) => merge(there, more),
            _ => {
                body.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Protocol, with_path};
    use crate::provider::Request;
    use serde_json::Value;

    #[test]
    fn a_key_of_azure_has_a_header_of_its_own() {
        let header = |url: &str, key: &str| Protocol::OpenAi.key_header(url, key);
        for url in [
            "https://mine.openai.azure.com/openai/v1",
            "https://Mine.Services.AI.Azure.com:443?api-version=1",
            "https://gate.azure-api.net/models/v1",
        ] {
            assert_eq!(header(url, "k1"), ("api-key", "k1".to_owned()), "{url}");
            assert_eq!(header(url, "eyJ0"), ("authorization", "Bearer eyJ0".to_owned()), "{url}");
        }
        for url in ["https://api.openai.com/v1", "http://openai.azure.com.example/v1", "http://x/mine.openai.azure.com"]
        {
            assert_eq!(header(url, "k1"), ("authorization", "Bearer k1".to_owned()), "{url}");
        }
        assert_eq!(Protocol::Gemini.key_header("", "k1").0, "x-goog-api-key");
    }

    #[test]
    fn a_query_in_the_address_stands_behind_the_path() {
        assert_eq!(with_path("http://h/v1/?v=2", "/embeddings"), "http://h/v1/embeddings?v=2");
        assert_eq!(with_path("http://h?v=2", "/m:x?alt=sse"), "http://h/m:x?alt=sse&v=2");
        assert_eq!(
            with_path("http://h/v1/#x?y", "/embeddings"),
            "http://h/v1/embeddings",
            "no server is sent a fragment"
        );
        let request = Request { path: "/v1/messages".to_owned(), headers: Vec::new(), body: Value::Null };
        let address = Protocol::Anthropic.url("http://h/v1?v=2", &request);
        assert_eq!(address, "http://h/v1/messages?v=2", "the version stands once");
    }
}

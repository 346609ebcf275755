//! Chat models behind the OpenAI chat-completions protocol.

use anyhow::{Context, Result, bail};
use closeread_core::host::{Call, HostError, Reply, Usage};
use closeread_core::reader::EXTRACTIVE;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::{Value, json};
use std::time::Duration;

/// Tries of one call before it counts as failed.
const MAX_TRIES: u32 = 5;
/// Longest a single try may take: a 200,000-token prompt on a slow server needs minutes.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Longest wait between two tries that a server may ask for.
const MAX_WAIT: Duration = Duration::from_secs(120);

/// A reader, as `--model` names it.
pub(crate) enum Reader {
    /// No language model: counts words.
    Extractive,
    /// A server.
    Chat(Box<ChatModel>),
}

/// A model on a server that speaks OpenAI's chat completions.
pub(crate) struct ChatModel {
    client: reqwest::Client,
    url: String,
    model: String,
    key: Option<String>,
    seed: Option<u64>,
}

impl Reader {
    /// The reader of a name such as `openai/gpt-4.1` or `openai-compatible/qwen`.
    pub(crate) fn named(name: &str, base_url: Option<&str>, seed: Option<u64>) -> Result<Self> {
        if name == EXTRACTIVE {
            return Ok(Self::Extractive);
        }
        let (provider, model) = name.split_once('/').unwrap_or((name, ""));
        let (variable, default_url) = match provider {
            "openai" => ("OPENAI_API_KEY", Some("https://api.openai.com/v1")),
            "openai-compatible" => ("OPENAI_COMPATIBLE_API_KEY", None),
            _ => bail!(
                "unknown model `{name}`: expected {EXTRACTIVE}, openai/MODEL, or openai-compatible/MODEL with --base-url"
            ),
        };
        if model.is_empty() {
            bail!("model `{name}` names no model: expected {provider}/MODEL");
        }
        let Some(url) = base_url.or(default_url) else {
            bail!("model `{name}` needs --base-url, the server's address up to and including /v1");
        };
        let key = std::env::var(variable).ok().filter(|key| !key.is_empty());
        if key.is_none() && base_url.is_none() {
            bail!("model `{name}` needs a key: set the environment variable {variable}");
        }
        let client = reqwest::Client::builder().timeout(TIMEOUT).build().context("cannot set up HTTP")?;
        let url = format!("{}/chat/completions", url.trim_end_matches('/'));
        Ok(Self::Chat(Box::new(ChatModel { client, url, model: model.to_owned(), key, seed })))
    }
}

impl ChatModel {
    /// One completion; transient faults are retried.
    pub(crate) async fn chat(&self, call: &Call) -> Result<Reply, HostError> {
        let mut body = json!({
            "model": self.model,
            "messages": call.messages,
            "temperature": call.temperature,
            "max_tokens": call.max_output_tokens,
        });
        if let Some(seed) = self.seed {
            body["seed"] = json!(seed);
        }
        let mut tries = 0;
        loop {
            tries += 1;
            let (message, wait) = match self.once(&body).await {
                Ok(reply) => return Ok(reply),
                Err(Fault::Final(error)) => return Err(error),
                Err(Fault::Transient { message, wait }) => (message, wait),
            };
            if tries == MAX_TRIES {
                return Err(HostError::Failed(format!("{message}, after {tries} tries")));
            }
            let backoff = Duration::from_millis(500 * 2u64.pow(tries));
            tokio::time::sleep(wait.unwrap_or(backoff).min(MAX_WAIT)).await;
        }
    }

    async fn once(&self, body: &Value) -> Result<Reply, Fault> {
        let mut request = self.client.post(&self.url).json(body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let response = request.send().await.map_err(|error| Fault::transient(&without_url(error)))?;
        let (status, wait) = (response.status(), retry_after(response.headers()));
        let text = response.text().await.map_err(|error| Fault::transient(&without_url(error)))?;
        if status.is_success() {
            return read_reply(&text);
        }
        Err(fault(status, &text, wait))
    }
}

/// Why one try gave no reply.
enum Fault {
    /// Trying again is no use.
    Final(HostError),
    /// It may go better later.
    Transient { message: String, wait: Option<Duration> },
}

impl Fault {
    fn transient(message: &str) -> Self {
        Self::Transient { message: message.to_owned(), wait: None }
    }
}

/// An error of reqwest as text, with its cause and without the address, which may hold a secret.
fn without_url(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(1e6)))
}

fn read_reply(text: &str) -> Result<Reply, Fault> {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return Err(Fault::transient("the server sent no whole JSON object"));
    };
    if value.get("error").is_some_and(|error| !error.is_null()) {
        return Err(fault(StatusCode::OK, text, None));
    }
    let choice = &value["choices"][0];
    if !choice.is_object() {
        return Err(Fault::transient("the server's reply holds no choices"));
    }
    if choice["finish_reason"] == "content_filter" {
        return Err(Fault::Final(HostError::Blocked { reason: "content_filter".to_owned() }));
    }
    let usage = Usage {
        prompt_tokens: value["usage"]["prompt_tokens"].as_u64(),
        completion_tokens: value["usage"]["completion_tokens"].as_u64(),
    };
    Ok(Reply { text: choice["message"]["content"].as_str().unwrap_or_default().to_owned(), usage })
}

fn fault(status: StatusCode, text: &str, wait: Option<Duration>) -> Fault {
    let message: String = error_message(text).chars().take(500).collect();
    let lower = message.to_lowercase() + &text.to_lowercase();
    let overflow = [
        "context_length_exceeded",
        "exceed_context_size_error",
        "maximum context length",
        "maximum prompt length",
        "model's context length",
        "prompt is too long",
        "inputs` tokens + `max_new_tokens`",
    ];
    if status.as_u16() < 500 && overflow.iter().any(|words| lower.contains(words)) {
        return Fault::Final(HostError::Overflow { message });
    }
    let final_quota = ["insufficient_quota", "credit_balance_exhausted", "spend_limit_exceeded"];
    let transient = match status.as_u16() {
        408 | 409 => true,
        429 => !final_quota.iter().any(|words| lower.contains(words)),
        code => code >= 500,
    };
    let message = format!("the server answered {status}: {message}");
    if transient { Fault::Transient { message, wait } } else { Fault::Final(HostError::Failed(message)) }
}

/// The message of an error body in any of its known shapes, else the body itself.
fn error_message(text: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return text.trim().to_owned() };
    let candidates = [&value["error"]["message"], &value["error"], &value["message"], &value["detail"]];
    let found = candidates.into_iter().find_map(|v| v.as_str().map(str::to_owned));
    found.unwrap_or_else(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overflow_is_told_from_other_errors() {
        let openai = r#"{"error":{"message":"This model's maximum context length is 8 tokens.","code":"context_length_exceeded"}}"#;
        assert!(matches!(fault(StatusCode::BAD_REQUEST, openai, None), Fault::Final(HostError::Overflow { .. })));
        let key = r#"{"error":"Incorrect API key"}"#;
        assert!(matches!(fault(StatusCode::UNAUTHORIZED, key, None), Fault::Final(HostError::Failed(_))));
        assert!(matches!(fault(StatusCode::BAD_GATEWAY, "<html>", None), Fault::Transient { .. }));
        let quota = r#"{"error":{"message":"x","code":"insufficient_quota"}}"#;
        assert!(matches!(fault(StatusCode::TOO_MANY_REQUESTS, quota, None), Fault::Final(_)));
    }

    #[test]
    fn a_reply_with_an_error_inside_is_no_answer() {
        assert!(read_reply(r#"{"error":{"message":"overloaded"}}"#).is_err());
        assert!(read_reply(r#"{"choices":[]}"#).is_err());
        let reply = read_reply(r#"{"choices":[{"message":{"content":null}}],"usage":{"prompt_tokens":3}}"#);
        let Ok(reply) = reply else { panic!("an empty content is a reply") };
        assert_eq!((reply.text.as_str(), reply.usage.prompt_tokens), ("", Some(3)));
    }

    #[test]
    fn names_that_cannot_be_used_say_what_is_expected() {
        let message = |name| Reader::named(name, None, None).err().expect("refused").to_string();
        assert!(message("gpt").contains("expected builtin/extractive, openai/MODEL"));
        assert!(message("openai-compatible/x").contains("needs --base-url"));
    }
}

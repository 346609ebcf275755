//! Requests and responses on the wire.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// The two spellings of "most tokens a response may have".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenLimit {
    /// `max_tokens`: every compatible server.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`: OpenAI, whose newer models refuse the other.
    MaxCompletionTokens,
}

/// An HTTP POST with a JSON body, without address and key.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Path behind the base URL, with its leading slash.
    pub path: String,
    /// Headers that are no secret.
    pub headers: Vec<(&'static str, &'static str)>,
    /// JSON body of the request.
    pub body: Value,
}

/// The response of a server, whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HttpResponse<'a> {
    /// HTTP status of the response.
    pub status: u16,
    /// Time that the headers ask to wait, see [`super::retry_after`].
    pub retry_after: Option<Duration>,
    /// Body of the response.
    pub body: &'a str,
}

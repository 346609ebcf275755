//! Faults: what an error of a server means: final, to be tried again, or to be asked otherwise.

use super::date::seconds_from_1970;
use super::http::{HttpResponse, TokenLimit};
use super::message::{error_message, shortened};
use super::wordings::{Means, means, overflow};
use crate::HostError;
use serde_json::Value;
use std::time::Duration;

/// Places in which servers say why a success holds no answer: Baidu, MiniMax and others.
const REASONS: [&str; 4] = ["/message", "/msg", "/error_msg", "/base_resp/status_msg"];

/// The reason why one try gave no response.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// Trying again is no use.
    Final(HostError),
    /// Trying again is no use, for this and every other request of the account: its key is not accepted, its credit or
    /// quota is used up.
    Closed(HostError),
    /// A later try may succeed.
    Transient {
        /// Load of the server, by which the number of concurrent calls is adjusted.
        load: ServerLoad,
        /// Message of the fault.
        message: String,
        /// Time that the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// The model refuses a field of the request: ask again without it, at once.
    Refused {
        /// Adjustment with which to ask again.
        adjustment: Adjustment,
        /// Message of the server.
        message: String,
    },
}

/// The load of a server that a transient fault shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerLoad {
    /// Too many requests or tokens a minute (429): send fewer at once.
    RateLimit,
    /// The server or a proxy failed (5xx, 408, 409, 499, 529): no more than now.
    Server,
    /// A web page came in the place of an answer: the address is another program's, or the server is being mended.
    Page,
    /// A success held no answer, and no reason that stays: the prompt is billed, and the next try often ends so, too.
    NoAnswer,
    /// The connection broke, or the response was cut short.
    Connection,
    /// No connection was made.
    Unreached,
}

/// The adjustment for a model that refused a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Adjustment {
    /// Name the limit on the response so.
    TokenLimit(TokenLimit),
    /// Send no temperature.
    OwnTemperature,
    /// Send no seed.
    NoSeed,
    /// Send no options of a stream.
    NoStreamOptions,
    /// Ask for the response whole.
    NoStream,
}

impl Fault {
    /// A fault that may pass, without a time to wait.
    pub fn transient(load: ServerLoad, message: impl Into<String>) -> Self {
        Self::Transient { load, message: message.into(), retry_after: None }
    }

    /// A success that holds neither an answer nor an error. It may be an answer in a form of its own, which is billed. Some servers
    /// say in fields of their own why there is none.
    pub(super) fn no_answer(field: &str, body: &Value) -> Self {
        let said = |place| body.pointer(place)?.as_str().filter(|said| !said.trim().is_empty());
        let why = REASONS.into_iter().find_map(said).map_or_else(String::new, |said| format!(": {}", shortened(said)));
        Self::transient(ServerLoad::NoAnswer, format!("the server's response holds no `{field}`{why}"))
    }

    /// A response whose writing failed, which says so at its end. It is billed, and another draw may come out right.
    pub(super) fn spoiled(reason: &str) -> Self {
        Self::transient(ServerLoad::NoAnswer, format!("the server ended the response with `{}`", shortened(reason)))
    }

    /// The provider refused the content.
    pub(super) fn blocked(reason: &str) -> Self {
        Self::Final(HostError::Blocked { reason: shortened(reason) })
    }
}

/// Returns the time that the headers of a response ask to wait: `retry-after-ms`, else `retry-after` in seconds or as
/// a date, which counts from `now`, in seconds since 1970. A date that has passed asks for no wait; a number
/// without bounds, for an endless one.
pub fn retry_after(retry_after: Option<&str>, retry_after_ms: Option<&str>, now: f64) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    if let Some(wait) = retry_after_ms.and_then(number).and_then(|milliseconds| duration(milliseconds / 1000.0)) {
        return Some(wait);
    }
    let text = retry_after?;
    match number(text) {
        Some(seconds) => duration(seconds),
        None => duration((seconds_from_1970(text)? - now).max(0.0)),
    }
}

/// Returns this number of seconds, or the longest time there is; `None` for what is no time.
fn duration(seconds: f64) -> Option<Duration> {
    if seconds.is_nan() || seconds < 0.0 {
        return None;
    }
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// Makes a fault of a response with an error status.
pub(super) fn classify(response: HttpResponse<'_>) -> Fault {
    let value = serde_json::from_str(response.body).unwrap_or(Value::Null);
    // Google's servers put the error into a list where a stream or OpenAI's protocol was asked for.
    let value = match value {
        Value::Array(mut errors) if errors.len() == 1 => errors.remove(0),
        value => value,
    };
    judge(response.status, &value, response.body, response.retry_after)
}

/// A success with an error inside; a numeric code stands for the status that was meant (OpenRouter).
pub(super) fn inside(response: HttpResponse<'_>, value: &Value) -> Fault {
    let code = status_in(&value["error"]);
    judge(code.unwrap_or_else(|| unsaid(value, response.body)), value, response.body, response.retry_after)
}

/// The error that a response holds; an empty one, which some gateways put beside every answer, is none.
pub(super) fn error_in(value: &Value) -> Option<&Value> {
    let is_nothing = |error: &Value| match error {
        Value::Null | Value::Bool(false) => true,
        Value::String(words) => words.trim().is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    value.get("error").filter(|error| !is_nothing(error))
}

/// The status that an error names as its code, LiteLLM in a string.
fn status_in(error: &Value) -> Option<u16> {
    let code = &error["code"];
    let code = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(code).ok().filter(|code| (400..600).contains(code))
}

/// Makes a fault of an error that stands in a stream or a choice.
pub(super) fn inside_value(error: &Value) -> Fault {
    let value = serde_json::json!({ "error": error });
    let body = value.to_string();
    let by_type = match error["type"].as_str().unwrap_or_default() {
        "invalid_request_error" | "authentication_error" | "permission_error" | "not_found_error" => Some(400),
        "rate_limit_error" => Some(429),
        "overloaded_error" => Some(529),
        _ => None,
    };
    let code = status_in(error);
    judge(code.or(by_type).unwrap_or_else(|| unsaid(&value, &body)), &value, &body, None)
}

/// The status of an error that comes with none: the server's failure, but for what asking again does not mend, such as an
/// overflow (TGI).
fn unsaid(value: &Value, body: &str) -> u16 {
    const REQUEST: u16 = 400;
    let words = error_message(value, body);
    if means(REQUEST, &words, value, &words.to_lowercase()).is_some() { REQUEST } else { 500 }
}

/// A response that ended because the server failed.
pub(super) fn classify_finish(message: &str) -> Fault {
    Fault::transient(ServerLoad::Server, message)
}

fn judge(status: u16, value: &Value, body: &str, retry_after: Option<Duration>) -> Fault {
    let words = error_message(value, body);
    let lower = format!("{} {}", words.to_lowercase(), body.to_lowercase());
    let message = match words.trim() {
        "" => format!("the server answered {status} and nothing else"),
        _ => format!("the server answered {status}: {}", shortened(&words)),
    };
    match means(status, &words, value, &lower) {
        Some(Means::Overflow) => return Fault::Final(overflow(&words, value)),
        Some(Means::UsedUp) => return Fault::Closed(HostError::Failed(message)),
        Some(Means::Never) => return Fault::Final(HostError::Failed(message)),
        None => {}
    }
    if status == 400 || status == 422 {
        if let Some(adjustment) = adjustment(value, &lower) {
            return Fault::Refused { adjustment, message };
        }
        if ["content_policy_violation", "content_filter", "responsibleaipolicyviolation"]
            .iter()
            .any(|w| lower.contains(w))
        {
            return Fault::blocked(&words);
        }
    }
    let again = |load| Fault::Transient {
        load,
        message: message.clone(),
        retry_after: retry_after.or_else(|| retry_delay(value)),
    };
    match status {
        _ if closes_account(status, value, &lower) => Fault::Closed(HostError::Failed(message)),
        429 => again(ServerLoad::RateLimit),
        // Gemini answers 499 where it gives a call up by itself.
        408 | 409 | 499 => again(ServerLoad::Server),
        500.. if is_own_fault(&lower) => Fault::Final(HostError::Failed(message)),
        500.. => again(ServerLoad::Server),
        _ => Fault::Final(HostError::Failed(message)),
    }
}

/// A key that is not accepted, or a quota of the day, besides what is known by its words. 403 alone is none of these: some
/// gateways answer it to single prompts that their moderation refuses.
fn closes_account(status: u16, value: &Value, lower: &str) -> bool {
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match status {
        401 | 402 => true,
        // Gemini; LiteLLM.
        400 => says(&["api_key_invalid", "authentication error"]),
        429 => {
            let details = value["error"]["details"].as_array().map_or(&[][..], Vec::as_slice);
            let violations = details.iter().filter_map(|detail| detail["violations"].as_array()).flatten();
            let mut quotas = violations.filter_map(|violation| violation["quotaId"].as_str());
            quotas.any(|id| id.contains("PerDay"))
        }
        _ => false,
    }
}

/// Server errors that some servers answer to a request that can never succeed (llama.cpp).
fn is_own_fault(lower: &str) -> bool {
    ["json.exception", "too large to process", "image input is not supported"].iter().any(|words| lower.contains(words))
}

/// The wait in the body of a Gemini error, `"37s"`.
fn retry_delay(value: &Value) -> Option<Duration> {
    let details = value["error"]["details"].as_array()?;
    let delay = details.iter().find_map(|detail| detail["retryDelay"].as_str())?;
    duration(delay.strip_suffix('s')?.parse().ok()?)
}

/// Words with which servers refuse a field: OpenAI, Anthropic and others; then Mistral, Azure, servers in Go,
/// Google's layer for OpenAI's protocol, Moonshot, Anthropic beside thinking, LiteLLM (its issues 6856 and 33738).
const REFUSALS: [&str; 13] = [
    "unsupported parameter",
    "unsupported value",
    "not supported",
    "deprecated",
    "extra inputs are not permitted",
    "unknown parameter",
    "unrecognized request argument",
    "unknown field",
    "unknown name",
    "invalid temperature: only",
    "`temperature` may only be set to 1",
    "only temperature=1 is supported",
    "does not support parameters: ",
];

fn adjustment(value: &Value, lower: &str) -> Option<Adjustment> {
    let code = value["error"]["code"].as_str().unwrap_or_default();
    let parameter = value["error"]["param"].as_str().unwrap_or_default();
    let refuses = |name: &str| {
        let unsupported = matches!(code, "unsupported_parameter" | "unsupported_value")
            || REFUSALS.iter().any(|words| lower.contains(words));
        unsupported && (parameter == name || (parameter.is_empty() && lower.contains(name)))
    };
    if refuses("max_completion_tokens") && parameter == "max_completion_tokens" {
        Some(Adjustment::TokenLimit(TokenLimit::MaxTokens))
    } else if refuses("max_tokens") {
        Some(Adjustment::TokenLimit(TokenLimit::MaxCompletionTokens))
    } else if refuses("max_completion_tokens") {
        Some(Adjustment::TokenLimit(TokenLimit::MaxTokens))
    } else if refuses("temperature") {
        Some(Adjustment::OwnTemperature)
    } else if refuses("seed") {
        Some(Adjustment::NoSeed)
    } else if refuses("stream_options") {
        Some(Adjustment::NoStreamOptions)
    } else if lower.contains("must be verified to stream") {
        Some(Adjustment::NoStream)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_gateway_refuses_fields_in_words_of_its_own() {
        let refused = |message: &str| {
            let value = json!({"error": {"message": message, "type": "None", "param": null, "code": "400"}});
            adjustment(&value, &message.to_lowercase())
        };
        let litellm = "litellm.UnsupportedParamsError: gpt-5 models (including gpt-5-codex) don't support temperature=0.0. Only \
                       temperature=1 is supported. To drop unsupported params set `litellm.drop_params = True`";
        assert_eq!(refused(litellm), Some(Adjustment::OwnTemperature));
        let thinking = "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.";
        assert_eq!(refused(thinking), Some(Adjustment::OwnTemperature));
        let seed = "litellm.UnsupportedParamsError: anthropic does not support parameters: ['seed'], for model=x.";
        assert_eq!(refused(seed), Some(Adjustment::NoSeed));
        let own = "litellm.UnsupportedParamsError: anthropic does not support parameters: ['logit_bias'], for model=x.";
        assert_eq!(refused(own), None, "a field of one's own is not left out");
    }
}

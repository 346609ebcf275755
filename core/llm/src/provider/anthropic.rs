//! Anthropic's protocol, Messages.

use super::fault::Fault;
use super::http::Request;
use super::openai::named;
use super::parameters::Parameters;
use crate::{Call, FinishReason, HostError, Message, Response, ServedBy, Speaker, Usage};
use serde_json::{Map, Value, json};

/// The version of the protocol that is spoken here.
pub(super) const VERSION: &str = "2023-06-01";

/// The limit of a call that has none where nothing is known of the model, for the field is required: what Claude Opus
/// 4.1 can write, the least of all models since Claude 4.
pub(super) const MAX_TOKENS: u32 = 32_000;

pub(super) fn request(call: &Call, parameters: &Parameters) -> Request {
    let turns: Vec<Value> = call
        .messages
        .iter()
        .filter(|message| message.role != Speaker::System)
        .map(|message| json!({ "role": message.role, "content": blocks(message) }))
        .collect();
    let mut body = json!({
        "model": parameters.model,
        "max_tokens": call.max_output_tokens.unwrap_or(MAX_TOKENS),
        "messages": turns,
    });
    let system: Vec<Value> =
        call.messages.iter().filter(|message| message.role == Speaker::System).flat_map(blocks).collect();
    if !system.is_empty() {
        body["system"] = json!(system);
    }
    if !parameters.dialect.own_temperature {
        body["temperature"] = json!(call.temperature);
    }
    if parameters.stream {
        body["stream"] = json!(true);
    }
    Request { path: "/v1/messages".to_owned(), headers: vec![("anthropic-version", VERSION)], body }
}

/// Makes room for thinking: with it the model takes no temperature but its own, and `max_tokens` counts its tokens too:
/// a limit that its budget would use up is one of the answer beside it.
pub(super) fn make_room_for_thinking(body: &mut Map<String, Value>) {
    let thinking = body.get("thinking").cloned().unwrap_or_default();
    if matches!(thinking["type"].as_str(), None | Some("disabled")) {
        return;
    }
    body.remove("temperature");
    let limit = body.get("max_tokens").and_then(Value::as_u64);
    if let (Some(limit), Some(budget)) = (limit, thinking["budget_tokens"].as_u64())
        && limit <= budget
    {
        body.insert("max_tokens".to_owned(), json!(limit + budget));
    }
}

/// The text of a message, cut where its shared beginning ends: the provider keeps what stands before the mark, so that
/// the next question about the same book reads it from its cache.
fn blocks(message: &Message) -> Vec<Value> {
    let text = |text: &str| json!({ "type": "text", "text": text });
    match message.shared_bytes.filter(|&n| 0 < n && n < message.content.len() && message.content.is_char_boundary(n)) {
        None => vec![text(&message.content)],
        Some(n) => {
            let (shared, own) = message.content.split_at(n);
            let mut shared = text(shared);
            shared["cache_control"] = json!({ "type": "ephemeral" });
            vec![shared, text(own)]
        }
    }
}

pub(super) fn read(value: &Value) -> Result<Response, Fault> {
    let Some(content) = value["content"].as_array() else {
        return Err(Fault::no_answer("content", value));
    };
    let text = content.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
    Ok(Response {
        text: text.collect(),
        usage: usage(&value["usage"]),
        finish: finish(value["stop_reason"].as_str().unwrap_or("end_turn"))?,
        served_by: served_by(value),
        cached: false,
    })
}

/// The model, as a message names it.
pub(super) fn served_by(message: &Value) -> ServedBy {
    ServedBy { model: named(&message["model"]), fingerprint: None }
}

pub(super) fn finish(reason: &str) -> Result<FinishReason, Fault> {
    match reason {
        "max_tokens" => Ok(FinishReason::Length),
        "refusal" => Err(Fault::blocked("refusal")),
        "model_context_window_exceeded" => Err(Fault::Final(HostError::Overflow {
            message: "stop_reason model_context_window_exceeded".to_owned(),
            needed: None,
            context_window: None,
        })),
        _ => Ok(FinishReason::Stop),
    }
}

/// Reads the usage. `input_tokens` leaves out what was read from or written to the cache; a prompt is all three.
pub(super) fn usage(usage: &Value) -> Usage {
    let read = usage["cache_read_input_tokens"].as_u64();
    let written = usage["cache_creation_input_tokens"].as_u64();
    let prompt = usage["input_tokens"].as_u64();
    Usage {
        prompt_tokens: prompt
            .map(|prompt| prompt.saturating_add(read.unwrap_or(0)).saturating_add(written.unwrap_or(0))),
        completion_tokens: usage["output_tokens"].as_u64(),
        cached_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: None,
        batch: false,
        own_count: false,
        told_prompt_tokens: None,
    }
}

/// The usage at the end of a stream. Its counts are those of the whole message, and servers that count late send 0 at
/// the beginning; what the end does not name is as the beginning named it.
pub(super) fn usage_at_end(begun: Usage, end: &Value) -> Usage {
    let ended = usage(end);
    let completion_tokens = ended.completion_tokens.or(begun.completion_tokens);
    // A prompt that is in the cache whole has no fresh tokens.
    let is_counted = |usage: Usage| usage.prompt_tokens.is_some_and(|tokens| tokens > 0);
    let fresh = end["input_tokens"].as_u64().unwrap_or(0);
    if fresh == 0 && (is_counted(begun) || !is_counted(ended)) {
        return Usage { completion_tokens, ..begun };
    }
    let cached_tokens = ended.cached_tokens.or(begun.cached_tokens);
    let cache_write_tokens = ended.cache_write_tokens.or(begun.cache_write_tokens);
    let prompt = [cached_tokens, cache_write_tokens].into_iter().flatten().fold(fresh, u64::saturating_add);
    Usage { prompt_tokens: Some(prompt), completion_tokens, cached_tokens, cache_write_tokens, ..begun }
}

//! Google's protocol, `generateContent`.

use super::fault::Fault;
use super::http::Request;
use super::openai::named;
use super::parameters::Parameters;
use crate::{Call, FinishReason, Message, Response, ServedBy, Speaker, Usage};
use serde_json::{Value, json};

pub(super) fn request(call: &Call, parameters: &Parameters) -> Request {
    let part = |message: &Message| json!({ "text": message.content });
    let turns: Vec<Value> = call
        .messages
        .iter()
        .filter(|message| message.role != Speaker::System)
        .map(|message| {
            let role = if message.role == Speaker::Assistant { "model" } else { "user" };
            json!({ "role": role, "parts": [part(message)] })
        })
        .collect();
    let mut settings = json!({});
    if let Some(limit) = call.max_output_tokens {
        settings["maxOutputTokens"] = json!(limit);
    }
    if !parameters.dialect.own_temperature {
        settings["temperature"] = json!(call.temperature);
    }
    if let Some(seed) = parameters.seed.filter(|_| !parameters.dialect.no_seed) {
        settings["seed"] = json!(seed);
    }
    let mut body = json!({ "contents": turns, "generationConfig": settings });
    let system: Vec<Value> = call.messages.iter().filter(|m| m.role == Speaker::System).map(part).collect();
    if !system.is_empty() {
        body["systemInstruction"] = json!({ "parts": system });
    }
    let verb = if parameters.stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    Request { path: format!("/v1beta/models/{}:{verb}", parameters.model), headers: Vec::new(), body }
}

pub(super) fn read(value: &Value) -> Result<Response, Fault> {
    blocked_prompt(value)?;
    let candidate = &value["candidates"][0];
    if !candidate.is_object() {
        return Err(Fault::no_answer("candidates", value));
    }
    Ok(Response {
        text: text(candidate),
        usage: usage(&value["usageMetadata"]),
        finish: finish(candidate["finishReason"].as_str().unwrap_or("STOP"))?,
        served_by: served_by(value),
        cached: false,
    })
}

/// A refused prompt is a success without candidates.
pub(super) fn blocked_prompt(value: &Value) -> Result<(), Fault> {
    match value["promptFeedback"]["blockReason"].as_str() {
        Some(reason) => Err(Fault::blocked(&format!("the prompt: {reason}"))),
        None => Ok(()),
    }
}

/// The parts of an answer that are no thoughts; `content` and `parts` may be missing.
pub(super) fn text(candidate: &Value) -> String {
    let parts = candidate["content"]["parts"].as_array().map_or(&[][..], Vec::as_slice);
    parts.iter().filter(|part| part["thought"] != true).filter_map(|part| part["text"].as_str()).collect()
}

/// The model's version, as a response or a piece of one names it.
pub(super) fn served_by(value: &Value) -> ServedBy {
    ServedBy { model: named(&value["modelVersion"]), fingerprint: None }
}

pub(super) fn finish(reason: &str) -> Result<FinishReason, Fault> {
    match reason {
        "STOP" | "FINISH_REASON_UNSPECIFIED" => Ok(FinishReason::Stop),
        "MAX_TOKENS" => Ok(FinishReason::Length),
        // The model began to call a tool, and wrote that wrong.
        "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" | "UNEXPECTED_TOOL_CALL" => Err(Fault::spoiled(reason)),
        // SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, LANGUAGE, OTHER: asking again gives the same.
        reason => Err(Fault::blocked(reason)),
    }
}

/// Reads the usage. `candidatesTokenCount` leaves out thoughts; a response is both, named or in the total alone. Cached tokens
/// are part of `promptTokenCount`.
pub(super) fn usage(usage: &Value) -> Usage {
    let told = |name: &str| usage[name].as_u64();
    let (prompt, thoughts, answer) =
        (told("promptTokenCount"), told("thoughtsTokenCount"), told("candidatesTokenCount"));
    let written = match (answer, thoughts) {
        (None, None) => None,
        (answer, thoughts) => Some(answer.unwrap_or(0).saturating_add(thoughts.unwrap_or(0))),
    };
    let before = prompt.map(|prompt| prompt.saturating_add(told("toolUsePromptTokenCount").unwrap_or(0)));
    let in_total =
        told("totalTokenCount").zip(before).and_then(|(all, before)| all.checked_sub(before)).filter(|&n| n > 0);
    let completion = written.max(in_total);
    Usage {
        prompt_tokens: prompt,
        completion_tokens: completion,
        cached_tokens: usage["cachedContentTokenCount"].as_u64(),
        cache_write_tokens: None,
        reasoning_tokens: thoughts,
        batch: false,
        own_count: false,
        told_prompt_tokens: None,
    }
}

/// The usage of a response without text. Google leaves out a count of 0: a total that is the prompt's says that nothing was
/// written.
pub(super) fn usage_without_text(metadata: &Value) -> Usage {
    let told = usage(metadata);
    let is_all = told.prompt_tokens.is_some() && metadata["totalTokenCount"].as_u64() == told.prompt_tokens;
    Usage { completion_tokens: told.completion_tokens.or(is_all.then_some(0)), ..told }
}

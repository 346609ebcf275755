//! OpenAI's chat completions, as OpenAI and everything compatible with it speaks them.

use super::fault::{Fault, classify_finish, error_in};
use super::http::{Request, TokenLimit};
use super::message::CUT;
use super::parameters::Parameters;
use crate::{Call, FinishReason, HostError, Response, ServedBy, Usage};
use serde_json::{Value, json};

pub(super) fn request(call: &Call, parameters: &Parameters) -> Request {
    let mut body = json!({ "model": parameters.model, "messages": call.messages });
    let name = match parameters.dialect.token_limit {
        TokenLimit::MaxTokens => "max_tokens",
        TokenLimit::MaxCompletionTokens => "max_completion_tokens",
    };
    if let Some(limit) = call.max_output_tokens {
        body[name] = json!(limit);
    }
    if !parameters.dialect.own_temperature {
        body["temperature"] = json!(call.temperature);
    }
    if let Some(seed) = parameters.seed.filter(|_| !parameters.dialect.no_seed) {
        body["seed"] = json!(seed);
    }
    if parameters.stream {
        body["stream"] = json!(true);
        if !parameters.dialect.no_stream_options {
            body["stream_options"] = json!({ "include_usage": true });
        }
    }
    Request { path: "/chat/completions".to_owned(), headers: Vec::new(), body }
}

pub(super) fn read(value: &Value) -> Result<Response, Fault> {
    let choice = &value["choices"][0];
    if !choice.is_object() {
        return Err(Fault::no_answer("choices", value));
    }
    if let Some(error) = error_in(choice) {
        return Err(super::fault::inside_value(error));
    }
    if let Some(refusal) = choice["message"]["refusal"].as_str().filter(|refusal| !refusal.is_empty()) {
        return Err(Fault::blocked(refusal));
    }
    let said = &choice["message"]["content"];
    if !choice["message"].is_object() || said.is_number() || said.is_boolean() || said.is_object() {
        let why = "the server's response holds no text: expected `choices[0].message.content`";
        return Err(Fault::Final(HostError::Failed(why.to_owned())));
    }
    Ok(Response {
        text: content(said),
        usage: usage(&value["usage"]),
        finish: finish(choice["finish_reason"].as_str().unwrap_or("stop"))?,
        served_by: served_by(value),
        cached: false,
    })
}

/// Text that is a string, or a list of parts.
pub(super) fn content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter(|part| !is_thought(part)).filter_map(|part| part["text"].as_str()).collect()
        }
        _ => String::new(),
    }
}

fn is_thought(part: &Value) -> bool {
    matches!(part["type"].as_str(), Some("reasoning" | "thinking"))
}

/// The model and the build of the server, as a response or a piece of one names them.
pub(super) fn served_by(value: &Value) -> ServedBy {
    ServedBy { model: named(&value["model"]), fingerprint: named(&value["system_fingerprint"]) }
}

/// A name that is there and not empty, of 200 characters at most.
pub(super) fn named(value: &Value) -> Option<String> {
    const MOST: usize = 200;
    let name = value.as_str().filter(|name| !name.is_empty())?;
    let is_long = name.chars().nth(MOST).is_some();
    let cut = || name.chars().take(MOST - CUT.len()).chain(CUT.chars()).collect();
    Some(if is_long { cut() } else { name.to_owned() })
}

pub(super) fn finish(finish_reason: &str) -> Result<FinishReason, Fault> {
    match finish_reason {
        // Mistral's `model_length`: the window is full.
        "length" | "max_tokens" | "model_length" => Ok(FinishReason::Length),
        "content_filter" => Err(Fault::blocked("content_filter")),
        // OpenRouter and some gateways report a failure in the middle of an answer this way.
        // vLLM and SGLang end what they give up in the middle by `abort`, DeepSeek by the last of these.
        "error" | "abort" | "insufficient_system_resource" => {
            Err(classify_finish(&format!("the server ended the response with finish_reason `{finish_reason}`")))
        }
        _ => Ok(FinishReason::Stop),
    }
}

/// Reads the usage. Tokens that were read from a cache or written to it are part of `prompt_tokens`, reasoning tokens part of
/// `completion_tokens`, as OpenAI counts them. xAI and Google's layer for this protocol count reasoning in `total_tokens` alone.
pub(super) fn usage(usage: &Value) -> Usage {
    let detail = |name: &str| usage["prompt_tokens_details"][name].as_u64();
    // DeepSeek's and Moonshot's names stand beside the sums.
    let beside = || usage["prompt_cache_hit_tokens"].as_u64().or_else(|| usage["cached_tokens"].as_u64());
    let prompt = usage["prompt_tokens"].as_u64();
    let behind_prompt =
        usage["total_tokens"].as_u64().zip(prompt).map_or(0, |(all, prompt)| all.saturating_sub(prompt));
    Usage {
        prompt_tokens: prompt,
        completion_tokens: usage["completion_tokens"].as_u64().map(|told| told.max(behind_prompt)),
        cached_tokens: detail("cached_tokens").or_else(beside),
        // The second is LiteLLM's.
        cache_write_tokens: detail("cache_write_tokens").or_else(|| detail("cache_creation_tokens")),
        reasoning_tokens: usage["completion_tokens_details"]["reasoning_tokens"].as_u64(),
        batch: false,
        own_count: false,
        told_prompt_tokens: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_a_cache_are_read_by_each_of_their_names() {
        for (named, counted) in [
            (json!({"prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}}), (Some(60), Some(30))),
            (json!({"prompt_tokens_details": {"cached_tokens": 0, "cache_creation_tokens": 90}}), (Some(0), Some(90))),
            (json!({"prompt_cache_hit_tokens": 60}), (Some(60), None)),
            (json!({"cached_tokens": 60}), (Some(60), None)),
        ] {
            let usage = usage(&named);
            assert_eq!((usage.cached_tokens, usage.cache_write_tokens), counted, "{named}");
        }
    }
}

//! Which errors say that a prompt does not fit the window, and the numbers in them.

use crate::host::HostError;
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Words that only an overflow uses, lower-cased: OpenAI, vLLM, SGLang, llama.cpp, Anthropic, Gemini, TGI, xAI.
const WORDS: [&str; 10] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "maximum context length",
    "maximum prompt length",
    "model's context length",
    "prompt is too long",
    "exceeds the maximum number of tokens allowed",
    "inputs` tokens + `max_new_tokens`",
    "exceeds the available context size",
    "model_context_window_exceeded",
];

/// The overflow that an error body reports, if it does; a server's own failure (5xx) is none, whatever it says.
pub(super) fn overflow(status: u16, words: &str, value: &Value, lower: &str) -> Option<HostError> {
    if status >= 500 || status == 429 || !WORDS.iter().any(|words| lower.contains(words)) {
        return None;
    }
    let error = &value["error"];
    let (needed, window) = match (error["n_prompt_tokens"].as_u64(), error["n_ctx"].as_u64()) {
        (None, None) => numbers(words),
        counted => counted,
    };
    Some(HostError::Overflow { message: words.chars().take(400).collect(), needed, window })
}

/// Tokens needed and tokens the window holds, as the providers word it.
fn numbers(words: &str) -> (Option<u64>, Option<u64>) {
    static WINDOW: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)(?:context length (?:is|of|\()\s*|context length \(|prompt length is |allowed \(|> |must be <= )(\d[\d,]*)")
            .expect("a valid pattern")
    });
    static NEEDED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?i)(?:resulted in (\d[\d,]*)|at least (\d[\d,]*) input|too long: (\d[\d,]*)|token count \((\d[\d,]*)\)|input \((\d[\d,]*) tokens\)|given: (\d[\d,]*)|requested (\d[\d,]*) tokens|contains (\d[\d,]*) tokens)",
        )
        .expect("a valid pattern")
    });
    let number = |text: &str| text.replace(',', "").parse().ok();
    let window = WINDOW.captures(words).and_then(|found| number(&found[1]));
    let needed = NEEDED.captures(words).and_then(|found| found.iter().skip(1).flatten().next().map(|m| m.as_str()));
    (needed.and_then(number), window)
}

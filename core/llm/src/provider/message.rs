//! The words of a server's error: where they stand in its body, and how many of them are repeated.

use serde_json::Value;

/// Most characters of a server's message that an error repeats.
const MAX_MESSAGE_CHARS: usize = 400;
/// What stands behind a message that was cut, where a key may have begun.
pub(super) const CUT: &str = " ...";

/// The message of an error body in any of its known shapes, else the body itself, without markup.
pub(super) fn error_message(value: &Value, body: &str) -> String {
    let detail = &value["detail"];
    let strings = [&value["error"]["message"], &value["error"], &value["message"], detail, &detail[0]["msg"]];
    if let Some(words) = strings.into_iter().find_map(Value::as_str).filter(|words| !words.trim().is_empty()) {
        return words.to_owned();
    }
    if !value.is_null() {
        return value.to_string();
    }
    if body.trim_start().starts_with('<') { page_words(body) } else { body.trim().to_owned() }
}

/// The words of a web page.
pub(super) fn page_words(page: &str) -> String {
    let mut words = String::new();
    let mut in_tag = false;
    for c in page.chars().take(4 * MAX_MESSAGE_CHARS) {
        match c {
            '<' => in_tag = true,
            '>' => {
                in_tag = false;
                words.push(' ');
            }
            c if !in_tag => words.push(c),
            _ => {}
        }
    }
    shortened(&words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The words, cut where they are many.
pub(super) fn shortened(words: &str) -> String {
    let mut short: String = words.chars().take(MAX_MESSAGE_CHARS).collect();
    if short.len() < words.len() {
        short.push_str(CUT);
    }
    short
}

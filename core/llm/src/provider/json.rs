//! JSON as servers write it. A byte order mark, NaN and halves of surrogate pairs are read; what is cut short may come
//! whole the next time, what is wrong from end to end will not.

use super::fault::{Fault, ServerLoad};
use super::message::{page_words, shortened};
use crate::HostError;
use closeread_eval::rows::too_many_values;
use serde_json::Value;

/// The value that a whole response, or one event of a stream, holds.
pub(super) fn parse(text: &str) -> Result<Value, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    if let Some(why) = too_many_values(text.as_bytes()) {
        return Err(Fault::Final(HostError::Failed(format!("the server's response is no answer: {why}"))));
    }
    let error = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let again = mended(text).map(|mended| serde_json::from_str(&mended));
    let error = match again {
        Some(Ok(value)) => return Ok(value),
        Some(Err(error)) => error,
        None => error,
    };
    if text.is_empty() {
        Err(Fault::transient(ServerLoad::Connection, "the server sent an empty response"))
    } else if text.starts_with('<') {
        Err(Fault::transient(ServerLoad::Page, format!("the server sent a web page: {}", page_words(text))))
    } else if error.is_eof() {
        Err(Fault::transient(ServerLoad::Connection, "the response was cut short"))
    } else if !text.starts_with(['{', '[']) {
        // It may hold an answer, which is billed: it was packed or put into a stream on the way.
        Err(Fault::transient(ServerLoad::Connection, format!("the server sent {}", what(text))))
    } else {
        Err(Fault::Final(HostError::Failed(format!("the server's response is no JSON that can be read: {error}"))))
    }
}

/// Describes what came in the place of JSON: its words, or that it has none.
fn what(text: &str) -> String {
    let is_binary = |c: char| c == char::REPLACEMENT_CHARACTER || (c.is_control() && !c.is_whitespace());
    match text.chars().take(100).any(is_binary) {
        true => format!("{} bytes that are no text", text.len()),
        false => format!("no JSON: {}", shortened(text)),
    }
}

/// The text with `null` for NaN and infinities, which Python writes, and the replacement character for halves of surrogate
/// pairs, which are left where a response was cut within a character; `None` if it holds neither.
fn mended(text: &str) -> Option<String> {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let mut mended = String::new();
    let (mut rest, mut in_string, mut changed) = (text, false, false);
    while let Some(c) = rest.chars().next() {
        let mut instead = None;
        let taken = if !in_string {
            let word = ["NaN", "Infinity", "-Infinity"].into_iter().find(|word| rest.starts_with(word));
            instead = word.map(|_| "null");
            word.map_or(c.len_utf8(), str::len)
        } else if c == '\\' {
            match unit(rest) {
                Some(0xd800..=0xdbff) if matches!(rest.get(6..).and_then(unit), Some(0xdc00..=0xdfff)) => 12,
                Some(0xd800..=0xdfff) => {
                    instead = Some("\\ufffd");
                    6
                }
                _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            }
        } else {
            c.len_utf8()
        };
        in_string ^= c == '"';
        changed |= instead.is_some();
        mended.push_str(instead.unwrap_or(&rest[..taken]));
        rest = &rest[taken..];
    }
    changed.then_some(mended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn finding_13_a_complete_response_with_nan_a_lone_surrogate_or_a_mark_is_read() {
        for (text, value) in [
            ("\u{feff}{\"a\": 1}", json!({"a": 1})),
            (
                r#"{"a": NaN, "b": [Infinity, -Infinity, -1], "c": "NaN \"NaN"}"#,
                json!({"a": null, "b": [null, null, -1], "c": "NaN \"NaN"}),
            ),
            (
                r#"{"a": "x\ud83d", "b": "\ude00y", "c": "\ud83d\ude00", "d": "\\ud83d"}"#,
                json!({"a": "x\u{fffd}", "b": "\u{fffd}y", "c": "😀", "d": "\\ud83d"}),
            ),
            (r#"{"a": "\ud83d\u0041"}"#, json!({"a": "\u{fffd}A"})),
        ] {
            assert_eq!(parse(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn finding_13_what_is_wrong_is_said_and_only_what_can_change_is_asked_again() {
        let again = |text: &str| matches!(parse(text), Err(Fault::Transient { .. }));
        for text in
            ["", "  ", "{\"a\": \"x", "{\"a\": NaN, \"b\": \"\\ud8", "[1, tr", "<html>", "upstream connect error"]
        {
            assert!(again(text), "{text}");
        }
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        for (text, words) in [
            (deep.as_str(), "recursion limit exceeded"),
            ("{'a': 1}", "key must be a string at line 1 column 2"),
            ("{\"a\": 1} {\"a\": 2}", "trailing characters"),
            ("{\"a\": 01}", "invalid number"),
        ] {
            match parse(text) {
                Err(Fault::Final(HostError::Failed(said))) => assert!(said.contains(words), "{said}"),
                other => panic!("{text:.40} gave {other:?}"),
            }
        }
    }

    #[test]
    fn finding_09_a_response_of_very_many_values_is_refused_before_it_is_read() {
        for value in ["0,", "[],", "{},", "{\"a\":1},"] {
            let text = format!("{{\"a\": [{}0]}}", value.repeat(4_000_001));
            match parse(&text) {
                Err(Fault::Final(HostError::Failed(said))) => assert!(said.contains("4 million values"), "{said}"),
                other => panic!("{value} gave {}", other.is_ok()),
            }
        }
        let long = json!({"content": "a, [b] {c} \\\" ".repeat(1_000_000)}).to_string();
        assert!(parse(&long).is_ok(), "what stands in a text is no value");
    }

    proptest! {
        #[test]
        fn json_is_what_it_is_and_a_cut_is_a_cut(words in prop::collection::vec("[a-z\\\\\"é😀]{0,6}", 0..6), at in 0.0f64..1.0) {
            let text = json!({"words": words, "n": -1.5}).to_string();
            prop_assert_eq!(parse(&text).unwrap(), serde_json::from_str::<Value>(&text).unwrap());
            prop_assert_eq!(mended(&text), None);
            let cut = &text[..text.floor_char_boundary((text.len() as f64 * at) as usize)];
            prop_assert!(matches!(parse(cut), Err(Fault::Transient { load: ServerLoad::Connection, .. })), "{}", cut);
        }
    }
}

//! JSON in responses: in fences, in prose, or bare (HAMLET's trees, labels and verdicts, CorpusQA's extractions).

use super::parsed::Parsed;
use super::thinking::after_thinking;
use serde_json::{Deserializer, Value};

/// Most times that a response's length may be read in all before the search gives up, so that hostile responses,
/// brackets in brackets that never close, take linear time too.
const MAX_READINGS: usize = 4;

/// Returns all JSON objects and arrays of a response, in order; one inside another is part of that one.
///
/// If the response holds fenced blocks and any of them begins with JSON, only the blocks are read, for prose around them
/// may quote brackets; else the whole response. Text that is no JSON is skipped. Bare numbers, strings and the words
/// true, false and null are prose. Reasoning up to `</think>` is not read.
pub fn json_values(response: &str) -> Vec<Value> {
    let response = after_thinking(response);
    let mut budget = response.len().saturating_mul(MAX_READINGS) + 4096;
    let in_fences: Vec<Value> = fences(response).flat_map(|block| values(block, &mut budget)).collect();
    if in_fences.is_empty() { values(response, &mut budget) } else { in_fences }
}

/// The JSON object or array that a response gives: the last of [`json_values`], for models repeat their input before they
/// answer.
pub fn json_value(response: &str) -> Parsed<Value> {
    json_values(response).pop().into()
}

/// Returns the JSON objects and arrays behind the last fenced block: a correction of what stands in the fence, or a quotation.
pub fn json_behind_fences(response: &str) -> Vec<Value> {
    let response = after_thinking(response);
    let is_closed = response.matches("```").count().is_multiple_of(2);
    let behind = response.rsplit_once("```").filter(|_| is_closed).map_or("", |(_, behind)| behind);
    values(behind, &mut (behind.len().saturating_mul(MAX_READINGS) + 4096))
}

/// The insides of blocks fenced by three backticks, the language's name left out; the last may be left open, as in a
/// response that was cut.
fn fences(response: &str) -> impl Iterator<Item = &str> {
    let inside = response.split("```").skip(1).step_by(2);
    inside.map(|block| {
        let name = block.bytes().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        &block[name..]
    })
}

fn values(text: &str, budget: &mut usize) -> Vec<Value> {
    let mut values = vec![];
    let mut at = 0;
    while let Some(start) = text[at..].find(['{', '[']).map(|found| at + found) {
        let mut stream = Deserializer::from_str(&text[start..]).into_iter::<Value>();
        let read = match stream.next() {
            Some(Ok(value)) => {
                values.push(value);
                at = start + stream.byte_offset();
                at - start
            }
            Some(Err(error)) => {
                let read = if error.is_eof() { text.len() - start } else { position(&text[start..], &error) };
                // Nested deeper than a parser goes: nothing that anyone meant begins in there.
                let too_deep = error.to_string().starts_with("recursion limit exceeded");
                at = start + if too_deep { read.max(1) } else { 1 };
                at = text.ceil_char_boundary(at);
                read
            }
            None => break,
        };
        *budget = budget.saturating_sub(read);
        if *budget == 0 {
            break;
        }
    }
    values
}

/// Returns how many bytes were read before the error, which tells line and column.
fn position(text: &str, error: &serde_json::Error) -> usize {
    let line_start = match error.line() {
        0 | 1 => 0,
        line => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1),
    };
    (line_start + error.column()).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fences_come_before_prose() {
        let response = "Input was [1].\n```json\n{\"a\": \"}`\"}\n```\nand {\"b\": 2}";
        assert_eq!(json_values(response), [json!({"a": "}`"})]);
        assert_eq!(json_behind_fences(response), [json!({"b": 2})]);
        assert_eq!(json_behind_fences("[1] ```json\n[2]"), [Value::Null; 0]);
        assert_eq!(json_values("```\nno json\n``` [1]"), [json!([1])]);
        assert_eq!(json_value("```json\n[1, 2]"), Parsed::Answer(json!([1, 2])));
    }

    #[test]
    fn json_is_found_in_prose() {
        assert_eq!(json_values("See [a] and {b}: {\"c\": [1, {}]} or [2]."), [json!({"c": [1, {}]}), json!([2])]);
        assert_eq!(json_values("<think>[1]</think>[2]"), [json!([2])]);
        assert_eq!(json_value("true 3 \"x\""), Parsed::Unparsed);
        assert_eq!(json_value("{\"a\": 1"), Parsed::Unparsed);
        assert_eq!(json_values("{\"a\": [1, 2], "), [json!([1, 2])]);
    }

    #[test]
    fn brackets_that_never_close_end_soon() {
        for unit in ["[", "{\"a\":", "```[", "{"] {
            assert_eq!(json_values(&unit.repeat(100_000)), [Value::Null; 0], "{unit}");
        }
        // The budget ends before the list does.
        let response = "[0,[1],".repeat(100_000);
        let found = json_values(&response).len();
        assert!((1..100_000).contains(&found), "{found}");
    }
}

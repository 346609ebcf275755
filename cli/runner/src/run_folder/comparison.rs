//! Differences between two configurations of runs, in words.

use serde_json::{Map, Value};

/// Name of the field that stands for all documents.
const DOCUMENTS_HASH: &str = "documents_hash";
/// Longest value that is shown whole, in characters.
const SHOWN: usize = 120;

/// Returns one line for each field that differs, those of objects one by one, documents by their ids.
pub fn differences(there: &Value, here: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut there, mut here) = (fields(there), fields(here));
    // A part names its own books, and one hash stands for all.
    if there.get(DOCUMENTS_HASH).is_some_and(|hash| here.get(DOCUMENTS_HASH) == Some(hash)) {
        there.remove("documents");
        here.remove("documents");
    }
    compare("", &there, &here, &mut lines);
    // A hash says nothing where documents or items say what it is that changed.
    let said = |name: &str| lines.iter().any(|line: &String| line.starts_with(name));
    if said("documents:") || said("items") {
        lines.retain(|line| !line.starts_with("data:") && !line.starts_with(DOCUMENTS_HASH));
    }
    lines
}

fn compare(place: &str, there: &Map<String, Value>, here: &Map<String, Value>, lines: &mut Vec<String>) {
    let mut names: Vec<&String> = there.keys().chain(here.keys()).collect();
    names.sort();
    names.dedup();
    for name in names.into_iter().filter(|name| there.get(*name) != here.get(*name)) {
        let full = format!("{place}{name}");
        match (there.get(name), here.get(name)) {
            (Some(Value::Object(there)), Some(Value::Object(here))) => {
                compare(&format!("{full}."), there, here, lines);
            }
            (Some(Value::Array(there)), Some(Value::Array(here))) => {
                compare(&format!("{full}: "), &by_id(there), &by_id(here), lines);
            }
            (there, here) => lines.push(format!("{full}: {} there, {} now", shown(there), shown(here))),
        }
    }
}

/// The elements of a list by their ids, or by all that they say.
fn by_id(list: &[Value]) -> Map<String, Value> {
    let name = |value: &Value| match (value.get("id"), value) {
        (Some(Value::String(id)), _) | (_, Value::String(id)) => id.clone(),
        (_, Value::Object(fields)) => {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            fields.values().filter(|value| !value.is_null()).map(text).collect::<Vec<_>>().join(" ")
        }
        (_, other) => other.to_string(),
    };
    list.iter().map(|value| (name(value), value.clone())).collect()
}

fn fields(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn shown(value: Option<&Value>) -> String {
    let text = match value {
        None => return "nothing".to_owned(),
        Some(Value::String(text)) if text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) => {
            format!("{} ...", &text[..8])
        }
        Some(value) => value.to_string(),
    };
    if text.chars().count() > SHOWN { text.chars().take(SHOWN - 3).chain("...".chars()).collect() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_field_that_differs_is_named_by_where_it_stands() {
        let there = json!({"seed": 1, "data": "a", "prompts": {"x": "1", "y": "2"},
            "cells": [{"method": "dos-rag", "model": "m", "budget": 500}], "documents": [{"id": "b", "bytes": 1}]});
        let here = json!({"seed": 2, "data": "b", "prompts": {"x": "1", "y": "3"},
            "cells": [{"method": "dos-rag", "model": "m", "budget": 500}, {"method": "closed-book", "model": "m", "budget": null}],
            "documents": [{"id": "b", "bytes": 2}]});
        let expected = [
            r#"cells: closed-book m: nothing there, {"method":"closed-book","model":"m","budget":null} now"#,
            "documents: b.bytes: 1 there, 2 now",
            r#"prompts.y: "2" there, "3" now"#,
            "seed: 1 there, 2 now",
        ];
        assert_eq!(differences(&there, &here), expected);
        assert!(differences(&here, &here).is_empty());
        assert_eq!(differences(&json!({"data": "a"}), &json!({"data": "b"})).len(), 1);
    }
}

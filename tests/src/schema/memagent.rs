//! MemAgent's reading of replies.

use super::{Schema, compare};
use crate::report::{FileReport, label, list};
use closeread_core::answer::boxed::memagent_boxed;
use closeread_core::answer::{after_thinking, memagent_answer};
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "memagent", version: "1", run };

#[derive(Deserialize)]
struct Case {
    input: String,
    expected: Expected,
}

/// The answer, `null` for none, or the exception that the reference raises.
#[derive(Deserialize)]
#[serde(untagged)]
enum Expected {
    Answer(Option<String>),
    Error {
        #[serde(rename = "error")]
        _exception: String,
    },
}

fn run(file: &Value, report: &mut FileReport) {
    for (position, case) in list(file, "cases").enumerate() {
        let id = label(case, "cases", position);
        let read: fn(&str) -> Option<String> = match case.get("group").and_then(Value::as_str) {
            Some("extract_boxed_answer") => |reply| memagent_boxed(reply).answer().map(str::to_owned),
            Some("extract_answer") => |reply| memagent_answer(reply).answer(),
            Some("strip_thinking") => |reply| Some(after_thinking(reply).to_owned()),
            Some(group) => {
                report.not_yet(&format!("memagent: group {group} has no code yet"), 1);
                continue;
            }
            None => {
                report.case(&id, || Err("case has no `group`".to_owned()));
                continue;
            }
        };
        report.case(&id, || check(case, read));
    }
}

fn check(case: &Value, read: fn(&str) -> Option<String>) -> Result<(), String> {
    let case: Case = compare::parse(case)?;
    // Where the reference raises an exception there is no answer to read.
    let expected = match case.expected {
        Expected::Answer(answer) => answer,
        Expected::Error { .. } => None,
    };
    compare::same("answer", &[read(&case.input)], &[expected])
}

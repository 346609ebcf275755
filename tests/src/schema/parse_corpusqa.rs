//! CorpusQA's extraction of answers, its judge's verdicts and the domains of its questions.

use super::compare;
use super::kind::Schema;
use crate::report::{FileReport, label, list};
use closeread_eval::answer::{Parsed, corpusqa};
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "parse_corpusqa", version: "1", run };

#[derive(Deserialize)]
struct Case<T> {
    input: String,
    expected: T,
}

#[derive(Deserialize)]
struct Verdict {
    correct: bool,
    /// The judge's response, verbatim.
    reason: String,
}

fn run(file: &Value, report: &mut FileReport) {
    for (position, case) in list(file, "cases").enumerate() {
        let id = label(case, "cases", position);
        match case.get("group").and_then(Value::as_str) {
            Some("extract_answer") => report.case(&id, || extract(case)),
            Some("judge_verdict") => report.case(&id, || verdict(case)),
            Some("judge_error") => report.case(&id, || judge_error(case)),
            Some("domain") => report.case(&id, || domain(case)),
            Some(group) => report.not_yet(&format!("parse_corpusqa: group {group} has no code yet"), 1),
            None => report.case(&id, || Err("case has no `group`".to_owned())),
        }
    }
}

fn extract(case: &Value) -> Result<(), String> {
    let case: Case<String> = compare::parse(case)?;
    compare::same("answer", &[corpusqa::answer(&case.input)], &[case.expected.as_str()])
}

fn verdict(case: &Value) -> Result<(), String> {
    let case: Case<Verdict> = compare::parse(case)?;
    let correct = corpusqa::verdict(&case.input) == Parsed::Answer(true);
    compare::same("correct", &[correct], &[case.expected.correct])?;
    compare::same("reason", &[&case.input], &[&case.expected.reason])
}

/// Cases of the reference without a response: a failed call is incorrect, a record without id is left
/// out.
fn judge_error(case: &Value) -> Result<(), String> {
    let case: Case<Value> = compare::parse(case)?;
    let got = match case.input.as_str() {
        "the judge call fails" => serde_json::json!({"correct": corpusqa::verdict("") == Parsed::Answer(true)}),
        "the record has no id" => serde_json::json!({"skipped": !corpusqa::counts(None)}),
        other => return Err(format!("no code for a judge of which {other:?}")),
    };
    compare::same("outcome", &[got], &[case.expected])
}

fn domain(case: &Value) -> Result<(), String> {
    let case: Case<Option<String>> = compare::parse(case)?;
    compare::same("domain", &[corpusqa::domain(&case.input)], &[case.expected.as_deref()])
}

//! NovelQA's judges (section 4.1): of answers, `C` or `N`, and of the evidence cited for them, `C50R66S33`.

use super::ask::{about_answer, ask};
use super::{Judge, JudgeResponse, Ruling, Submission};
use closeread_eval::answer::novelqa::{evidence_marks, judge_letter};
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use serde_json::{Map, Value, json};

/// Names of the judge's three marks of evidence, in 0..=1, among a case's scores.
pub const EVIDENCE_MARKS: [&str; 3] = ["correctness", "relevance", "sufficiency"];

/// `C` or `N`, knowing title, question, evidence and gold answer; wrong facts, and a rough number where a specific one is
/// asked, are `N`.
pub(super) async fn correctness<H: Host>(
    host: &H,
    settings: Settings<'_>,
    submission: &Submission<'_>,
) -> Result<JudgeResponse, MethodError> {
    let variables = Value::Object(with_evidence(submission));
    ask(host, settings, Judge::NovelQa, variables, "", |reply| {
        judge_letter(reply).map(|correct| Ruling::Correctness { correct })
    })
    .await
}

/// Correctness, relevance and sufficiency of what the reader cited, each from 1 to 100; the score is their mean.
///
/// The paper does not say whether the judge sees the gold evidence; here it does, as does the judge of answers.
pub(super) async fn evidence<H: Host>(
    host: &H,
    settings: Settings<'_>,
    submission: &Submission<'_>,
) -> Result<JudgeResponse, MethodError> {
    let mut variables = with_evidence(submission);
    variables.insert("cited".to_owned(), json!(submission.cited));
    ask(host, settings, Judge::NovelQaEvidence, Value::Object(variables), "", |reply| {
        evidence_marks(reply).map(Ruling::Evidence)
    })
    .await
}

fn with_evidence(submission: &Submission<'_>) -> Map<String, Value> {
    let mut variables = about_answer(submission);
    let quotes: Vec<&str> = submission.item.evidence.iter().map(|evidence| evidence.quote.as_str()).collect();
    variables.insert("evidence".to_owned(), json!(quotes));
    variables
}

//! NovelQA's judges (section 4.1): of answers, `C` or `N`, and of the evidence cited for them, `C50R66S33`.

use super::ask::{about_answer, ask};
use super::{Heard, Judge, Ruling, Submission};
use crate::answer::novelqa::{evidence_marks, judge_letter};
use crate::host::Host;
use crate::method::{MethodError, Setting};
use serde_json::{Map, Value, json};

/// `C` or `N`, knowing title, question, evidence and gold answer; wrong facts, and a rough number where a specific one is
/// asked, are `N`.
pub(super) async fn correctness<H: Host>(
    host: &H,
    setting: Setting<'_>,
    submission: &Submission<'_>,
) -> Result<Heard, MethodError> {
    let variables = Value::Object(with_evidence(submission));
    ask(host, setting, Judge::NovelQa, variables, "", |reply| {
        judge_letter(reply).map(|correct| Ruling::Correctness { correct })
    })
    .await
}

/// Correctness, relevance and sufficiency of what the reader cited, each from 1 to 100; the score is their mean.
///
/// The paper does not say whether the judge sees the gold evidence; here it does, as does the judge of answers.
pub(super) async fn evidence<H: Host>(
    host: &H,
    setting: Setting<'_>,
    submission: &Submission<'_>,
) -> Result<Heard, MethodError> {
    let mut variables = with_evidence(submission);
    variables.insert("cited".to_owned(), json!(submission.cited));
    ask(host, setting, Judge::NovelQaEvidence, Value::Object(variables), "", |reply| {
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

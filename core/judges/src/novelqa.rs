//! NovelQA's judges (sections 4.1 and 4.5): of answers, `C` or `N`, and of the evidence cited for them, `C50R66S33`.

use super::Ruling;
use super::ask::ask;
use super::submission::{JudgeResponse, Submission};
use closeread_eval::Item;
use closeread_eval::answer::novelqa::{evidence_marks, judge_letter};
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use closeread_prompts::judges::{JudgeNovelQa, JudgeNovelQaEvidence};

/// Names of the judge's three marks of evidence, in 0..=1, among a case's scores.
pub const EVIDENCE_MARKS: [&str; 3] = ["correctness", "relevance", "sufficiency"];

/// Asks whether an answer is correct, `C` or `N`, knowing title, question, evidence and gold answer; wrong facts, and a
/// rough number where a specific one is asked, are `N`.
pub(super) async fn correctness<H: Host>(
    host: &H,
    settings: Settings<'_>,
    submission: &Submission<'_>,
) -> Result<JudgeResponse, MethodError> {
    let Submission { item, title, said, .. } = submission;
    let prompt = JudgeNovelQa {
        title,
        question: &item.question,
        evidence: quotes(item),
        answers: &item.answers,
        several: item.answers.len() > 1,
        answer: said.text(),
    };
    ask(host, settings, &prompt, "", |response| judge_letter(response).map(|correct| Ruling::Correctness { correct }))
        .await
}

/// Asks for marks of what the reader cited, from 0 to 100 (section 4.5; the prompt says 1 to 100): whether it is the
/// correct evidence or means the like, is relevant to the answer, and suffices to support it. The score is the mean of
/// the three.
pub(super) async fn evidence<H: Host>(
    host: &H,
    settings: Settings<'_>,
    submission: &Submission<'_>,
) -> Result<JudgeResponse, MethodError> {
    let Submission { item, title, said, cited, .. } = submission;
    let prompt = JudgeNovelQaEvidence {
        title,
        question: &item.question,
        answers: &item.answers,
        several: item.answers.len() > 1,
        answer: said.text(),
        evidence: quotes(item),
        cited,
    };
    ask(host, settings, &prompt, "", |response| evidence_marks(response).map(Ruling::Evidence)).await
}

fn quotes(item: &Item) -> Vec<&str> {
    item.evidence.iter().map(|evidence| evidence.quote.as_str()).collect()
}

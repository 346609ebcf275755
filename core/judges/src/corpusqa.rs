//! CorpusQA's judge (section 4.1; `src/eval.py` of its repository): are two answers equivalent?

use super::ask::{about_answer, ask};
use super::{Judge, JudgeResponse, Ruling, Submission};
use closeread_eval::answer::corpusqa::verdict;
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use serde_json::Value;

/// `[[YES]]` and no `[[NO]]` is correct. The script counts everything else, and every failed call, as incorrect
/// ([`IfUnreadable::Incorrect`](super::IfUnreadable::Incorrect)); here these stay states of their own, so that they can be told
/// apart.
pub(super) async fn equivalence<H: Host>(
    host: &H,
    settings: Settings<'_>,
    submission: &Submission<'_>,
) -> Result<JudgeResponse, MethodError> {
    let variables = Value::Object(about_answer(submission));
    ask(host, settings, Judge::CorpusQa, variables, "", |reply| {
        verdict(reply).map(|correct| Ruling::Correctness { correct })
    })
    .await
}

//! CorpusQA's judge (section 4.1; `src/eval.py` of its repository): are two answers equivalent?

use super::ask::{about_answer, ask};
use super::{Heard, Judge, Ruling, Submission};
use crate::answer::corpusqa::verdict;
use crate::host::Host;
use crate::method::{MethodError, Setting};
use serde_json::Value;

/// `[[YES]]` and no `[[NO]]` is correct. The script counts everything else, and every failed call, as incorrect
/// ([`Silence::Incorrect`](super::Silence::Incorrect)); here these stay states of their own, so that they can be told
/// apart.
pub(super) async fn equivalence<H: Host>(
    host: &H,
    setting: Setting<'_>,
    submission: &Submission<'_>,
) -> Result<Heard, MethodError> {
    let variables = Value::Object(about_answer(submission));
    ask(host, setting, Judge::CorpusQa, variables, "", |reply| {
        verdict(reply).map(|correct| Ruling::Correctness { correct })
    })
    .await
}

//! CorpusQA's judge (section 4.1; `src/eval.py` of its repository): are two answers equivalent?

use super::Ruling;
use super::ask::ask;
use super::submission::{JudgeResponse, Submission};
use closeread_eval::answer::corpusqa::verdict;
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use closeread_prompts::judges::JudgeCorpusQa;

/// Asks whether two answers are equivalent: `[[YES]]` and no `[[NO]]` is correct. The script counts everything else,
/// and every failed call, as incorrect ([`IfUnreadable::Incorrect`](super::IfUnreadable::Incorrect)); here these stay
/// states of their own, so that they can be told apart.
pub(super) async fn equivalence<H: Host>(
    host: &H,
    settings: Settings<'_>,
    submission: &Submission<'_>,
) -> Result<JudgeResponse, MethodError> {
    let Submission { item, said, .. } = submission;
    let prompt = JudgeCorpusQa {
        question: &item.question,
        answers: &item.answers,
        several: item.answers.len() > 1,
        answer: said.text(),
    };
    ask(host, settings, &prompt, "", |response| verdict(response).map(|correct| Ruling::Correctness { correct })).await
}

//! Cost of judges, told before a trial is made.

use super::hamlet::list_tokens;
use super::submission::Submission;
use super::{Judge, ask};
use closeread_methods::cost::{Calls, Range, Shared, Stage, calls_of};
use closeread_methods::{MethodError, Settings};

/// Tokens of a sentence, assumed to be few: the more sentences, the longer the list over them.
const TOKENS_OF_SENTENCE: u64 = 20;

/// The calls of `n` judgements such as this one, whose `submission` says nothing yet: to the prompt come the tokens of
/// what the reader will say, `said` for each. [`Judge::Rule`] asks nobody.
///
/// # Errors
/// [`MethodError`] if the prompt cannot be filled.
pub fn cost(
    judge: Judge,
    settings: Settings<'_>,
    submission: &Submission<'_>,
    n: u64,
    said: Range,
) -> Result<Calls, MethodError> {
    let asked = calls_of(settings.tokenizer, async |host| ask(judge, host, settings, submission).await.map(drop))?;
    let n = if asked.is_empty() { 0 } else { n };
    let (prompt, mut response_limit) = asked.first().copied().unwrap_or_default();
    // Its list repeats what will be said.
    if judge == Judge::VerifyFacts {
        response_limit = response_limit.max(list_tokens(said.high / TOKENS_OF_SENTENCE, said.high));
    }
    Ok(Calls {
        stage: Stage::Question,
        n: Range::exactly(n),
        prompt: (Range::exactly(prompt) + said) * n,
        longest: prompt + said.high,
        response_limit,
        shared: Shared::Nothing,
    })
}

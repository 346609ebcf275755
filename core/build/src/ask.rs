//! Questions of a stage, each asked again where the response cannot be used.

use super::line::End;
use super::stage::Made;
use closeread_eval::Outcome;
use closeread_eval::answer::after_reasoning;
use closeread_methods::Host;
use closeread_methods::{MethodError, Session, Settings, Stop, messages, reply};
use closeread_prompts::Prompt;
use closeread_prompts::builds::BuildAgain;
use std::fmt::Display;

/// Number of times that a model is asked for the same in all: once more after a response that cannot be used.
pub(super) const ATTEMPTS: usize = 2;

/// Asks by the prompt until `read` can use the response, at most [`ATTEMPTS`] times, each time but the first with
/// what was wrong; the last problem if no response can be used. `read` is told whether there is no further attempt, so
/// that it may be content with less. `shared` is the beginning that other questions share.
pub(super) async fn asked<T, E: Display, H: Host>(
    session: &mut Session<'_, H>,
    prompt: &(impl Prompt + ?Sized),
    shared: &str,
    read: impl Fn(&str, bool) -> Result<T, E>,
) -> Result<Result<T, E>, Stop> {
    let prompts = session.settings().prompts;
    let mut messages = messages(prompt, prompts, shared)?;
    let mut attempt = 1;
    loop {
        let response = session.ask_model(prompt.name(), messages.clone()).await?;
        let problem = match read(after_reasoning(&response.text), attempt == ATTEMPTS) {
            Err(problem) if attempt < ATTEMPTS => problem.to_string(),
            end => return Ok(end),
        };
        let again = BuildAgain { problem: &problem }.render(prompts)?;
        reply(&mut messages, &response.text, again);
        attempt += 1;
    }
}

/// The work on a unit that asks one question: a response that cannot be used drops it as `unreadable`.
pub(super) async fn one<T, E: Display, H: Host>(
    host: &H,
    settings: Settings<'_>,
    prompt: &(impl Prompt + ?Sized),
    shared: &str,
    read: impl Fn(&str, bool) -> Result<T, E>,
) -> Result<Made<T>, MethodError> {
    let mut session = Session::new(host, settings);
    let end = asked(&mut session, prompt, shared, read).await;
    let end = end.map(|read| match read {
        Ok(value) => End::Kept { value },
        Err(problem) => End::dropped("unreadable", problem.to_string()),
    });
    made(session, end)
}

/// Returns the result of a unit, however its asking ended.
pub(super) fn made<T, H: Host>(session: Session<'_, H>, end: Result<End<T>, Stop>) -> Result<Made<T>, MethodError> {
    let end = match end {
        Ok(end) => end,
        Err(Stop::Error(error)) => return Err(error),
        Err(Stop::Outcome(outcome)) => match outcome {
            Outcome::Failed { error } => End::Failed { error },
            Outcome::Blocked { reason } => End::dropped("blocked", reason),
            Outcome::Overflow { needed, context_window: window } => {
                let words = |n: Option<usize>| n.map_or_else(|| "more".to_owned(), |n| n.to_string());
                End::dropped("overflow", format!("{} tokens for a window of {}", words(needed), words(window)))
            }
            other => End::dropped(other.name(), ""),
        },
    };
    Ok(Made { end, calls: session.into_calls() })
}

//! One question of a stage, asked again where the reply cannot be used.

use super::stage::{End, Made};
use crate::host::{Host, Message, Speaker};
use crate::method::ask::{self, Asking};
use crate::method::read::language_name;
use crate::method::{MethodError, Setting};
use crate::record::Outcome;
use crate::text::Book;
use serde_json::{Value, json};

/// How often a model is asked for the same in all: once more after a reply that cannot be used.
pub(super) const ATTEMPTS: usize = 2;

/// Asks by the prompt `name` until `read` can use the reply, at most [`ATTEMPTS`] times, each time but the first with
/// what was wrong; the last problem if no reply can be used. `read` is told whether there is no further attempt, so that it
/// may be content with less. `shared` is the beginning that other questions share.
pub(super) async fn asked<T, H: Host>(
    asking: &mut Asking<'_, H>,
    name: &str,
    variables: &Value,
    shared: &str,
    read: impl Fn(&str, bool) -> Result<T, String>,
) -> Result<Result<T, String>, ask::End> {
    let prompts = asking.setting().prompts;
    let mut messages = vec![Message::user(prompts.render(name, variables)?).sharing(shared)];
    let mut problem = String::new();
    for attempt in 1..=ATTEMPTS {
        let reply = asking.ask(name, messages.clone(), None).await?;
        match read(&reply.text, attempt == ATTEMPTS) {
            Ok(value) => return Ok(Ok(value)),
            Err(why) => problem = why,
        }
        if attempt < ATTEMPTS {
            let again = prompts.render("build-again", &json!({"problem": problem}))?;
            messages.push(Message { role: Speaker::Assistant, content: reply.text, shared_bytes: None });
            messages.push(Message::user(again));
        }
    }
    Ok(Err(problem))
}

/// The work on a unit that asks one question: a reply that cannot be used drops it as `unreadable`.
pub(super) async fn one<T, H: Host>(
    host: &H,
    setting: Setting<'_>,
    name: &str,
    variables: &Value,
    shared: &str,
    read: impl Fn(&str, bool) -> Result<T, String>,
) -> Result<Made<T>, MethodError> {
    let mut asking = Asking::new(host, setting);
    let end = asked(&mut asking, name, variables, shared, read).await;
    let end = end.map(|read| match read {
        Ok(value) => End::Kept { value },
        Err(problem) => End::dropped("unreadable", problem),
    });
    made(asking, end)
}

/// What came of a unit, however its asking ended.
pub(super) fn made<T, H: Host>(asking: Asking<'_, H>, end: Result<End<T>, ask::End>) -> Result<Made<T>, MethodError> {
    let end = match end {
        Ok(end) => end,
        Err(ask::End::Error(error)) => return Err(error),
        Err(ask::End::Outcome(outcome)) => match outcome {
            Outcome::Failed { error } => End::Failed { error },
            Outcome::Blocked { reason } => End::dropped("blocked", reason),
            Outcome::Overflow { needed, window } => {
                let words = |n: Option<usize>| n.map_or_else(|| "more".to_owned(), |n| n.to_string());
                End::dropped("overflow", format!("{} tokens for a window of {}", words(needed), words(window)))
            }
            other => End::dropped(other.name(), ""),
        },
    };
    Ok(Made { end, calls: asking.into_calls() })
}

/// The language of a book as a prompt names it.
pub(super) fn language_of(book: &Book) -> &str {
    match book.language.code() {
        code @ ("en" | "zh") => language_name(code),
        _ => "the language of the text",
    }
}

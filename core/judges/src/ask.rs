//! Asking a judge: the prompt is filled in and sent, the response read.

use super::submission::JudgeResponse;
use super::{Ruling, Verdict};
use closeread_eval::Outcome;
use closeread_eval::answer::{Parsed, after_reasoning};
use closeread_methods::Host;
use closeread_methods::{MethodError, Session, Settings, Stop, messages};
use closeread_prompts::Prompt;

/// Sends a judge's prompt and reads the response; `shared` is the beginning that other questions share.
pub(super) async fn ask<H: Host>(
    host: &H,
    settings: Settings<'_>,
    prompt: &impl Prompt,
    shared: &str,
    read: impl FnOnce(&str) -> Parsed<Ruling>,
) -> Result<JudgeResponse, MethodError> {
    let messages = messages(prompt, settings.prompts, shared)?;
    let mut session = Session::new(host, settings);
    let verdict = match session.ask_model(prompt.name(), messages).await {
        Ok(response) => match read(after_reasoning(&response.text)) {
            Parsed::Answer(ruling) => Verdict::Ruled { ruling },
            Parsed::Unparsed => Verdict::Unparsed,
        },
        Err(Stop::Outcome(outcome)) => silence(outcome),
        Err(Stop::Error(error)) => return Err(error),
    };
    let blocked_tokens = matches!(verdict, Verdict::Blocked { .. }).then(|| session.prompt_tokens());
    Ok(JudgeResponse { verdict, calls: session.into_calls(), blocked_tokens })
}

fn silence(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Overflow { .. } => Verdict::Overflow,
        Outcome::Blocked { reason } => Verdict::Blocked { reason },
        Outcome::Failed { error } => Verdict::Failed { error },
        other => Verdict::Failed { error: format!("the call ended as {}", other.name()) },
    }
}

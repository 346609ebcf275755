//! The last step of every method here: one prompt, one reply, one answer.

use super::{MethodError, Setting, Trial};
use crate::answer::{ShortAnswer, choice_marker, short_answer};
use crate::benchmark::{Item, Task};
use crate::hash::sha256;
use crate::host::{Call, Host, HostError, Message, Reply};
use crate::prompt::Variables;
use crate::reader::Reading;
use crate::record::{CallTrace, Context, Outcome};

/// What a reader is shown.
pub(super) struct Shown<'a> {
    /// First half of the prompt's name: `read` or `closed-book`.
    pub prompt: &'a str,
    /// Title of the work.
    pub title: &'a str,
    /// The passages, in the order of the prompt; empty for a closed book.
    pub passages: Vec<String>,
    /// The same by reference.
    pub context: Option<Context>,
    /// ISO 639-1 code of the text.
    pub language: &'a str,
}

/// Name of the prompt for a task.
pub(super) fn prompt_name(prompt: &str, task: Task) -> String {
    let task = match task {
        Task::Choice => "choice",
        Task::Generative => "question",
        Task::Summary => "summary",
    };
    format!("{prompt}-{task}")
}

/// The passages as a prompt shows them: separated by a blank line, as RAPTOR's code joins its nodes.
pub(super) fn joined(passages: &[String]) -> String {
    passages.join("\n\n")
}

/// Fills the prompt, asks the reader and reads its answer.
pub(super) async fn read<H: Host>(
    host: &H,
    setting: Setting<'_>,
    item: &Item,
    shown: Shown<'_>,
) -> Result<Trial, MethodError> {
    let name = prompt_name(shown.prompt, item.task);
    let variables = Variables {
        title: shown.title,
        context: &joined(&shown.passages),
        question: &item.question,
        options: if item.task == Task::Choice { &item.options } else { &[] },
    };
    let prompt = setting.prompts.render(&name, &variables)?;
    let prompt_tokens = setting.tokenizer.count(&prompt);
    let sha256 = sha256(prompt.as_bytes());
    let mut message = Message::user(prompt);
    // A whole document is what all questions on it share; retrieved passages differ from question to question.
    if shown.context.as_ref().is_some_and(|context| context.retriever.is_none()) {
        message = message.sharing(variables.context);
    }
    let call = Call {
        messages: vec![message],
        temperature: setting.temperature,
        max_output_tokens: setting.max_output_tokens,
        reading: Some(Reading {
            context: shown.passages,
            question: item.question.clone(),
            options: variables.options.to_vec(),
            task: item.task,
            language: shown.language.to_owned(),
        }),
    };
    let mut calls = Vec::new();
    let outcome = match host.chat(call).await {
        Ok(reply) => {
            let outcome = outcome_of(item, &reply);
            calls.push(CallTrace {
                prompt: name,
                sha256,
                reply: reply.text,
                usage: reply.usage,
                remembered: reply.remembered,
            });
            outcome
        }
        Err(HostError::Overflow { needed, window, .. }) => {
            let tokens = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok());
            Outcome::Overflow { needed: tokens(needed), window: tokens(window) }
        }
        Err(HostError::Blocked { reason }) => Outcome::Blocked { reason },
        Err(error @ (HostError::Failed(_) | HostError::Embedding(_))) => Outcome::Failed { error: error.to_string() },
    };
    Ok(Trial { outcome, prompt_tokens, context: shown.context, calls })
}

fn outcome_of(item: &Item, reply: &Reply) -> Outcome {
    let unparsed = || Outcome::Unparsed { reply: reply.text.clone() };
    match item.task {
        Task::Choice => match choice_marker(&reply.text, item.options.len()) {
            Some(choice) => Outcome::Answered { answer: item.options[choice].clone(), choice: Some(choice) },
            None => unparsed(),
        },
        Task::Generative | Task::Summary => match short_answer(&reply.text) {
            ShortAnswer::Text(answer) => Outcome::Answered { answer, choice: None },
            ShortAnswer::NotFound => Outcome::NotFound,
            ShortAnswer::Empty => unparsed(),
        },
    }
}

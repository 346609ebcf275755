//! The last step of every method here: one prompt, one reply, one answer.

use super::ask::{Asking, End};
use crate::answer::{Form, ShortAnswer, choice_marker, short_answer};
use crate::benchmark::{Item, Task};
use crate::host::{Host, Message, Reply};
use crate::reader::Reading;
use crate::record::{Context, Outcome};
use serde_json::json;

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
pub(super) async fn read<H: Host>(asking: &mut Asking<'_, H>, item: &Item, shown: Shown<'_>) -> Result<Outcome, End> {
    let name = prompt_name(shown.prompt, item.task);
    let options: &[String] = if item.task == Task::Choice { &item.options } else { &[] };
    let context = joined(&shown.passages);
    let variables = json!({
        "title": shown.title, "context": context, "question": item.question, "options": options,
    });
    let mut message = Message::user(asking.setting().prompts.render(&name, &variables)?);
    // A whole document is what all questions on it share; retrieved passages differ from question to question.
    if shown.context.as_ref().is_some_and(|context| context.retriever.is_none()) {
        message = message.sharing(&context);
    }
    asking.context = shown.context;
    let reading = Reading {
        context: shown.passages,
        question: item.question.clone(),
        options: options.to_vec(),
        task: item.task,
        form: Form::Marked,
        language: shown.language.to_owned(),
    };
    let reply = asking.ask(&name, vec![message], Some(reading)).await?;
    Ok(outcome_of(item, &reply))
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

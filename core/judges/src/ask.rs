//! Session a judge: the prompt is filled in and sent, the reply read.

use super::{Judge, JudgeResponse, Ruling, Submission, Verdict};
use closeread_eval::Outcome;
use closeread_eval::answer::{Parsed, after_thinking};
use closeread_llm::Message;
use closeread_methods::Host;
use closeread_methods::{MethodError, Session, Settings, Stop};
use serde_json::{Map, Value, json};

/// Sends the judge's prompt and reads the reply; `shared` is the beginning that other questions share.
pub(super) async fn ask<H: Host>(
    host: &H,
    settings: Settings<'_>,
    judge: Judge,
    variables: Value,
    shared: &str,
    read: impl FnOnce(&str) -> Parsed<Ruling>,
) -> Result<JudgeResponse, MethodError> {
    let message = Message::user(settings.prompts.render(judge.name(), &variables)?).sharing(shared);
    let mut session = Session::new(host, settings);
    let verdict = match session.ask(judge.name(), vec![message], None).await {
        Ok(reply) => match read(after_thinking(&reply.text)) {
            Parsed::Answer(ruling) => Verdict::Ruled { ruling },
            Parsed::Unparsed => Verdict::Unparsed,
        },
        Err(Stop::Outcome(outcome)) => silence(outcome),
        Err(Stop::Error(error)) => return Err(error),
    };
    Ok(JudgeResponse { verdict, calls: session.into_calls() })
}

fn silence(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Overflow { .. } => Verdict::Overflow,
        Outcome::Blocked { reason } => Verdict::Blocked { reason },
        Outcome::Failed { error } => Verdict::Failed { error },
        other => Verdict::Failed { error: format!("the call ended as {}", other.name()) },
    }
}

/// What prompts about an answer show: the question, its gold answers, the answer.
pub(super) fn about_answer(submission: &Submission<'_>) -> Map<String, Value> {
    let Submission { item, title, said, .. } = submission;
    let variables = json!({
        "title": title,
        "question": item.question,
        "answers": item.answers,
        "several": item.answers.len() > 1,
        "answer": said.text(),
    });
    match variables {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

//! Asking: every call of a trial is filled in, sent, counted and written down here.

use super::dress::Said;
use super::{MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::embed::{Role, Vectors};
use crate::hash::sha256;
use crate::host::{Call, Host, HostError, Message, Reply};
use crate::index::ShelfError;
use crate::prompt::PromptError;
use crate::reader::Reading;
use crate::record::{CallTrace, Context, Outcome};
use std::collections::BTreeMap;

/// Why a trial ends before its algorithm does.
#[derive(Debug)]
pub(crate) enum End {
    /// With something that is scored.
    Outcome(Outcome),
    /// With something that stops the run.
    Error(MethodError),
}

impl From<HostError> for End {
    fn from(error: HostError) -> Self {
        let tokens = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok());
        Self::Outcome(match error {
            HostError::Overflow { needed, window, .. } => {
                Outcome::Overflow { needed: tokens(needed), window: tokens(window) }
            }
            HostError::Blocked { reason } => Outcome::Blocked { reason },
            HostError::Failed(_) | HostError::Embedding(_) => Outcome::Failed { error: error.to_string() },
        })
    }
}

impl From<PromptError> for End {
    fn from(error: PromptError) -> Self {
        Self::Error(error.into())
    }
}

impl From<ShelfError> for End {
    fn from(error: ShelfError) -> Self {
        Self::Error(error.into())
    }
}

/// The host of one trial, and what was asked of it so far.
pub(crate) struct Asking<'a, H> {
    host: &'a H,
    setting: Setting<'a>,
    calls: Vec<CallTrace>,
    prompt_tokens: usize,
    /// What the reader was given of the books.
    pub(crate) context: Option<Context>,
    /// Numbers worth reporting that no score holds.
    pub(crate) measures: BTreeMap<String, f64>,
}

impl<'a, H: Host> Asking<'a, H> {
    pub(crate) fn new(host: &'a H, setting: Setting<'a>) -> Self {
        Self { host, setting, calls: Vec::new(), prompt_tokens: 0, context: None, measures: BTreeMap::new() }
    }

    pub(crate) fn setting(&self) -> Setting<'a> {
        self.setting
    }

    /// Sends a dialogue whose last message was made from the prompt `name`. One that does not fit the window with its
    /// reply is not sent: the trial ends as an overflow.
    pub(crate) async fn ask(
        &mut self,
        name: &str,
        messages: Vec<Message>,
        reading: Option<Reading>,
    ) -> Result<Reply, End> {
        let prompt_tokens = messages.iter().map(|m| self.setting.tokenizer.count(&m.content)).sum::<usize>();
        let needed = prompt_tokens + self.setting.max_output_tokens as usize;
        if let Some(window) = self.setting.window.filter(|window| needed > *window) {
            return Err(End::Outcome(Outcome::Overflow { needed: Some(needed), window: Some(window) }));
        }
        self.prompt_tokens += prompt_tokens;
        let sha256 = fingerprint(&messages);
        let call = Call {
            messages,
            temperature: self.setting.temperature,
            max_output_tokens: self.setting.max_output_tokens,
            prompt: name.to_owned(),
            reading,
        };
        let reply = self.host.chat(call).await?;
        self.calls.push(CallTrace {
            prompt: name.to_owned(),
            sha256,
            reply: reply.text.clone(),
            usage: reply.usage,
            remembered: reply.remembered,
        });
        Ok(reply)
    }

    /// The vector of one query.
    pub(crate) async fn embed_query(&self, query: &str) -> Result<Vec<f32>, End> {
        let vectors: Vectors = self.host.embed(Role::Query, &[query]).await?;
        Ok(vectors.row(0).to_vec())
    }

    /// The calls so far, in order.
    pub(crate) fn into_calls(self) -> Vec<CallTrace> {
        self.calls
    }

    /// What came of it, however it ended.
    pub(crate) fn finish(self, end: Result<Outcome, End>) -> Result<Trial, MethodError> {
        let outcome = match end {
            Ok(outcome) | Err(End::Outcome(outcome)) => outcome,
            Err(End::Error(error)) => return Err(error),
        };
        let Self { prompt_tokens, context, calls, measures, .. } = self;
        Ok(Trial { prompt_tokens, context, calls, measures, ..Trial::ended(outcome) })
    }

    /// What came of `items`, which were asked in one call. The call, its tokens and the measures are in the first one's
    /// trial, so that nothing is counted twice; the others name it.
    pub(crate) fn finish_all(self, items: &[&Item], end: Result<Vec<Said>, End>) -> Result<Vec<Trial>, MethodError> {
        let said = match end {
            Ok(said) => said,
            Err(End::Outcome(outcome)) => items.iter().map(|_| outcome.clone().into()).collect(),
            Err(End::Error(error)) => return Err(error),
        };
        let mut said = said.into_iter();
        let Said { outcome, evidence } = said.next().expect("a call asks at least one item");
        let first = Trial { evidence, ..self.finish(Ok(outcome))? };
        let (asked_with, context) = (&items[0].id, first.context.clone());
        let others = said.map(|Said { outcome, evidence }| Trial {
            evidence,
            asked_with: Some(asked_with.clone()),
            context: context.clone(),
            ..Trial::ended(outcome)
        });
        let others: Vec<Trial> = others.collect();
        Ok(std::iter::once(first).chain(others).collect())
    }
}

/// SHA-256 of what was sent: of the text alone where it is one message of the user.
fn fingerprint(messages: &[Message]) -> String {
    match messages {
        [only] => sha256(only.content.as_bytes()),
        several => sha256(&serde_json::to_vec(several).expect("messages have string keys only")),
    }
}

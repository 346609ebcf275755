//! Asking: every call of a trial is filled in, sent, counted and written down here.

use super::{MethodError, Setting, Trial};
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

    /// Sends a dialogue whose last message was made from the prompt `name`.
    pub(crate) async fn ask(
        &mut self,
        name: &str,
        messages: Vec<Message>,
        reading: Option<Reading>,
    ) -> Result<Reply, End> {
        self.prompt_tokens += messages.iter().map(|m| self.setting.tokenizer.count(&m.content)).sum::<usize>();
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
        Ok(Trial { outcome, prompt_tokens, context, calls, measures })
    }
}

/// SHA-256 of what was sent: of the text alone where it is one message of the user.
fn fingerprint(messages: &[Message]) -> String {
    match messages {
        [only] => sha256(only.content.as_bytes()),
        several => sha256(&serde_json::to_vec(several).expect("messages have string keys only")),
    }
}

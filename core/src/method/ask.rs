//! Asking: every call of a trial is filled in, sent, counted and written down here.

use super::reply::Said;
use super::{MethodError, Preparation, Prepared, Setting, Trial};
use crate::benchmark::Item;
use crate::embed::{Role, Vectors};
use crate::hash::sha256;
use crate::host::{Call, Host, HostError, Message, Reply};
use crate::index::ShelfError;
use crate::prompt::PromptError;
use crate::reader::Reading;
use crate::record::{CallTrace, Context, Outcome};
use crate::work::{Job, Workers};
use futures_util::future::join_all;
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

/// One dialogue to be sent, with what a reader without a language model answers it from.
pub(crate) type Request = (Vec<Message>, Option<Reading>);

/// A host as one who does jobs.
pub(crate) struct HostWorkers<'a, H>(&'a H);

impl<H: Host> Workers for HostWorkers<'_, H> {
    async fn all<T: Send + 'static>(&self, jobs: Vec<Job<T>>) -> Vec<T> {
        self.0.work(jobs).await
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

    /// Whatever threads the host has.
    pub(crate) fn workers(&self) -> HostWorkers<'a, H> {
        HostWorkers(self.host)
    }

    pub(crate) fn setting(&self) -> Setting<'a> {
        self.setting
    }

    /// Sets the most tokens that replies may have from now on.
    pub(crate) fn limit_replies(&mut self, max_output_tokens: u32) {
        self.setting.max_output_tokens = max_output_tokens;
    }

    /// Sends a dialogue whose last message was made from the prompt `name`. One that does not fit the window with its
    /// reply is not sent: the trial ends as an overflow.
    pub(crate) async fn ask(
        &mut self,
        name: &str,
        messages: Vec<Message>,
        reading: Option<Reading>,
    ) -> Result<Reply, End> {
        Ok(self.ask_all(name, vec![(messages, reading)]).await?.remove(0))
    }

    /// Sends dialogues that do not wait for each other's replies; the replies come in the order of `requests`, whatever
    /// order they arrive in. If one fails the others are still heard, and the first that failed is the end.
    pub(crate) async fn ask_all(&mut self, name: &str, requests: Vec<Request>) -> Result<Vec<Reply>, End> {
        self.prompt_tokens +=
            requests.iter().map(|(messages, _)| self.fitting(messages)).sum::<Result<usize, End>>()?;
        let answers = join_all(requests.into_iter().map(|(messages, reading)| {
            let sha256 = fingerprint(&messages);
            let call = Call {
                messages,
                temperature: self.setting.temperature,
                max_output_tokens: self.setting.max_output_tokens,
                prompt: name.to_owned(),
                reading,
            };
            async { (sha256, self.host.chat(call).await) }
        }))
        .await;
        let mut replies = Vec::with_capacity(answers.len());
        for (sha256, answer) in answers {
            let trace = |reply: &Reply| CallTrace {
                prompt: name.to_owned(),
                sha256,
                reply: reply.text.clone(),
                usage: reply.usage,
                remembered: reply.remembered,
            };
            self.calls.extend(answer.as_ref().ok().map(trace));
            replies.push(answer);
        }
        Ok(replies.into_iter().collect::<Result<_, HostError>>()?)
    }

    /// Tokens of a dialogue, which together with the longest reply must not exceed the window.
    fn fitting(&self, messages: &[Message]) -> Result<usize, End> {
        let n_tokens = messages.iter().map(|m| self.setting.tokenizer.count(&m.content)).sum::<usize>();
        let needed = n_tokens + self.setting.max_output_tokens as usize;
        match self.setting.window {
            Some(window) if needed > window => {
                Err(End::Outcome(Outcome::Overflow { needed: Some(needed), window: Some(window) }))
            }
            _ => Ok(n_tokens),
        }
    }

    /// The vector of one query.
    pub(crate) async fn embed_query(&self, query: &str) -> Result<Vec<f32>, End> {
        let vectors: Vectors = self.host.embed(Role::Query, &[query]).await?;
        Ok(vectors.row(0).to_vec())
    }

    /// One vector a text.
    pub(crate) async fn embed_passages(&self, texts: &[&str]) -> Result<Vectors, End> {
        Ok(self.host.embed(Role::Passage, texts).await?)
    }

    /// What came of a preparation, however it ended.
    pub(crate) fn finish_preparation(self, end: Result<Prepared, End>) -> Result<Preparation, MethodError> {
        let prepared = match end {
            Ok(prepared) => Ok(prepared),
            Err(End::Outcome(outcome)) => Err(outcome),
            Err(End::Error(error)) => return Err(error),
        };
        let Self { prompt_tokens, calls, measures, .. } = self;
        Ok(Preparation { prepared, prompt_tokens, calls, measures })
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
    pub(super) fn finish_all(self, items: &[&Item], end: Result<Vec<Said>, End>) -> Result<Vec<Trial>, MethodError> {
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

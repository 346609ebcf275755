//! Asking: every call is filled in, sent, counted and written down here.

use super::{HostWorkers, Session};
use crate::Host;
use crate::record::CallTrace;
use crate::trial::Stop;
use closeread_eval::Outcome;
use closeread_eval::reading::ExtractiveInput;
use closeread_llm::{Call, FinishReason, HostError, Message, Response};
use closeread_text::hash::sha256;
use futures_util::future::join_all;

impl<'a, H: Host> Session<'a, H> {
    /// Returns workers on the threads that the host has.
    pub fn workers(&self) -> HostWorkers<'a, H> {
        HostWorkers(self.host)
    }

    /// Sends a dialogue whose last message was made from the prompt `name`. One that does not fit the window with room
    /// for a response is not sent: the trial ends as an overflow. `input` is called by a host that has no model, see
    /// [`Host::answer_from`].
    ///
    /// # Errors
    /// [`Stop`] if it does not fit or the call fails.
    pub async fn ask(
        &mut self,
        name: &str,
        messages: Vec<Message>,
        input: impl AsyncFnOnce() -> Result<ExtractiveInput, HostError>,
    ) -> Result<Response, Stop> {
        Ok(self.ask_all(name, vec![(messages, input)]).await?.remove(0))
    }

    /// Sends a dialogue as [`Session::ask`] does, for what nobody answers but a model.
    ///
    /// # Errors
    /// As [`Session::ask`].
    pub async fn ask_model(&mut self, name: &str, messages: Vec<Message>) -> Result<Response, Stop> {
        let nothing =
            async || Err(HostError::Failed("without a model there is nothing to answer this from".to_owned()));
        self.ask(name, messages, nothing).await
    }

    /// Sends dialogues that do not wait for each other's responses; the responses come in the order of `requests`, whatever
    /// order they arrive in. If one fails the others are still heard, and the first that failed is the end.
    ///
    /// # Errors
    /// [`Stop`] if one does not fit or a call fails.
    pub async fn ask_all(
        &mut self,
        name: &str,
        requests: Vec<(Vec<Message>, impl AsyncFnOnce() -> Result<ExtractiveInput, HostError>)>,
    ) -> Result<Vec<Response>, Stop> {
        let counts: Vec<usize> =
            requests.iter().map(|(messages, _)| self.fitting(messages)).collect::<Result<_, Stop>>()?;
        self.trace.prompt_tokens += counts.iter().sum::<usize>();
        let max_output_tokens = self.settings.response_limit.sent();
        let answers = join_all(requests.into_iter().map(|(messages, input)| {
            let sha256 = fingerprint(&messages);
            let call =
                Call { messages, temperature: self.settings.temperature, max_output_tokens, prompt: name.to_owned() };
            async { (sha256, self.host.answer_from(call, input).await) }
        }))
        .await;
        let mut responses = Vec::with_capacity(answers.len());
        for ((sha256, answer), counted_tokens) in answers.into_iter().zip(counts) {
            let trace = |response: &Response| CallTrace {
                prompt: name.to_owned(),
                sha256,
                response: response.text.clone(),
                finish: response.finish,
                counted_tokens,
                usage: response.usage,
                served_by: response.served_by.clone(),
                cached: response.cached,
            };
            let is_cut = answer.as_ref().is_ok_and(|response| response.finish == FinishReason::Length);
            self.trace.cut_at = is_cut.then_some(max_output_tokens);
            self.trace.calls.extend(match &answer {
                Ok(response) => Some(trace(response)),
                Err(HostError::Billed { usage, .. }) => {
                    Some(trace(&Response { usage: **usage, ..Response::default() }))
                }
                Err(_) => None,
            });
            responses.push(answer);
        }
        Ok(responses.into_iter().collect::<Result<_, HostError>>()?)
    }

    /// Tokens of a dialogue, which together with what is kept free for the response must not exceed the window.
    fn fitting(&self, messages: &[Message]) -> Result<usize, Stop> {
        let n_tokens = messages.iter().map(|m| self.settings.tokenizer.count(&m.content)).sum::<usize>();
        let needed = n_tokens + self.settings.response_limit.reserved() as usize;
        match self.settings.context_window {
            Some(window) if needed > window => {
                Err(Stop::Outcome(Outcome::Overflow { needed: Some(needed), context_window: Some(window) }))
            }
            _ => Ok(n_tokens),
        }
    }
}

/// SHA-256 of what was sent: of the text alone where it is one message of the user.
fn fingerprint(messages: &[Message]) -> String {
    match messages {
        [only] => sha256(only.content.as_bytes()),
        several => sha256(&serde_json::to_vec(several).expect("messages have string keys only")),
    }
}

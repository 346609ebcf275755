//! Responses that come in pieces. A stream that just ends is a failure, not an answer.

use super::fault::{Fault, ServerLoad, error_in, inside_value};
use super::protocol::{MAX_RESPONSE_BYTES, Protocol, check_length};
use super::sse::{Event, Events};
use super::{anthropic, gemini, json, openai};
use crate::{FinishReason, HostError, Response, ServedBy, Usage};
use serde_json::Value;

/// Puts a response together from the bytes of a stream of server-sent events.
#[derive(Debug, Clone)]
pub struct StreamReader {
    protocol: Protocol,
    events: Events,
    text: String,
    usage: Usage,
    /// How the response ended, or what its end means; the usage may come behind it.
    finish: Option<Result<FinishReason, Fault>>,
    served_by: ServedBy,
    /// What the model said in the place of an answer (OpenAI).
    refusal: String,
    /// Number of the choice that is read, the first that came: where several were asked for, their pieces come mixed.
    choice: Option<u64>,
    /// Whether OpenAI's `[DONE]` or Anthropic's `message_stop` came, behind which nothing belongs to the response.
    done: bool,
}

impl StreamReader {
    /// A reader for a stream of that protocol.
    pub fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            events: Events::default(),
            text: String::new(),
            usage: Usage::default(),
            finish: None,
            served_by: ServedBy::default(),
            refusal: String::new(),
            choice: None,
            done: false,
        }
    }

    /// Takes the next bytes, cut anywhere.
    ///
    /// # Errors
    /// A [`Fault`] if the stream carries an error, an event that is no JSON, or a line without end.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        for event in self.events.push(bytes) {
            self.take(&event)?;
        }
        check_length(&self.text)?;
        check_length(&self.refusal)?;
        if self.events.held() > MAX_RESPONSE_BYTES {
            let message = format!("the stream does not end: more than {} MiB came", MAX_RESPONSE_BYTES >> 20);
            return Err(Fault::Final(HostError::Failed(message)));
        }
        Ok(())
    }

    /// Characters of the answer so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the server has said that nothing follows. Some keep the connection all the same.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Returns whether the server has said how the response ended. What comes behind it is its usage.
    pub fn has_ended(&self) -> bool {
        self.finish.is_some()
    }

    /// The usage so far, if the server has named any.
    pub fn usage(&self) -> Option<Usage> {
        self.usage.named()
    }

    /// The response, once the stream has ended.
    ///
    /// # Errors
    /// As [`push`](Self::push), a refusal, and a transient fault if the stream ended before the response did.
    pub fn finish(mut self) -> Result<Response, Fault> {
        if let Some(event) = std::mem::take(&mut self.events).finish() {
            self.take(&event)?;
        }
        if !self.refusal.is_empty() && self.finish.is_some() {
            return Err(Fault::blocked(&self.refusal));
        }
        // Gemini counts the prompt on every piece, also where no candidate comes.
        let is_empty = self.protocol == Protocol::Gemini && self.choice.is_none() && self.usage().is_some();
        let Self { text, usage, served_by, .. } = self;
        match self.finish {
            Some(finish) => Ok(Response { text, usage, finish: finish?, served_by, cached: false }),
            None if is_empty => Err(Fault::no_answer("candidates", &Value::Null)),
            None => Err(Fault::transient(ServerLoad::Connection, "the stream ended before the response did")),
        }
    }

    fn take(&mut self, event: &Event) -> Result<(), Fault> {
        self.done |= event.data.trim() == "[DONE]";
        if self.done {
            return Ok(());
        }
        let value = json::parse(&event.data)?;
        if let Some(error) = error_in(&value) {
            return Err(inside_value(error));
        }
        match self.protocol {
            Protocol::OpenAi => self.take_openai(&value),
            Protocol::Anthropic => self.take_anthropic(&value),
            Protocol::Gemini => self.take_gemini(&value),
        }
    }

    /// Takes the names of model and version, which every piece may give, the last as well as the first.
    fn names(&mut self, named: ServedBy) {
        self.served_by.model = named.model.or(self.served_by.model.take());
        self.served_by.fingerprint = named.fingerprint.or(self.served_by.fingerprint.take());
    }

    /// The one of a piece's choices that is read.
    fn of_choice<'v>(&mut self, choices: &'v Value) -> Option<&'v Value> {
        let number = |choice: &Value| choice["index"].as_u64().unwrap_or(0);
        let choices = choices.as_array()?;
        let read = *self.choice.get_or_insert(number(choices.first()?));
        choices.iter().find(|choice| number(choice) == read)
    }

    /// Takes a piece from OpenAI's protocol. Usage comes on the last choice, or after it on a piece without choices.
    fn take_openai(&mut self, value: &Value) -> Result<(), Fault> {
        self.names(openai::served_by(value));
        // Moonshot puts it into the choice.
        if let Some(usage) =
            [&value["usage"], &value["choices"][0]["usage"]].into_iter().find(|usage| usage.is_object())
        {
            self.usage = openai::usage(usage);
        }
        let Some(choice) = self.of_choice(&value["choices"]) else { return Ok(()) };
        // Gateways that do not stream send a whole response as one event; some repeat it beside the piece.
        let piece = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        self.text.push_str(&openai::content(&piece["content"]));
        self.refusal.push_str(piece["refusal"].as_str().unwrap_or_default());
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.finish = Some(openai::finish(reason));
        }
        Ok(())
    }

    fn take_anthropic(&mut self, value: &Value) -> Result<(), Fault> {
        match value["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.usage = anthropic::usage(&value["message"]["usage"]);
                self.names(anthropic::served_by(&value["message"]));
            }
            "content_block_start" => self.text.push_str(value["content_block"]["text"].as_str().unwrap_or_default()),
            "content_block_delta" => self.text.push_str(value["delta"]["text"].as_str().unwrap_or_default()),
            "message_delta" => {
                self.usage = anthropic::usage_at_end(self.usage, &value["usage"]);
                if let Some(reason) = value["delta"]["stop_reason"].as_str() {
                    self.finish = Some(anthropic::finish(reason));
                }
            }
            "message_stop" => self.done = true,
            _ => {}
        }
        Ok(())
    }

    /// Takes a piece from Gemini; every piece repeats the usage so far.
    fn take_gemini(&mut self, value: &Value) -> Result<(), Fault> {
        gemini::blocked_prompt(value)?;
        self.names(gemini::served_by(value));
        if value["usageMetadata"]["promptTokenCount"].is_u64() {
            let later = gemini::usage_without_text(&value["usageMetadata"]);
            let completion_tokens = later.completion_tokens.or(self.usage.completion_tokens);
            self.usage = Usage { completion_tokens, ..later };
        }
        let Some(candidate) = self.of_choice(&value["candidates"]) else { return Ok(()) };
        self.text.push_str(&gemini::text(candidate));
        if !self.text.is_empty() {
            self.usage.completion_tokens = self.usage.completion_tokens.filter(|tokens| *tokens > 0);
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.finish = Some(gemini::finish(reason));
        }
        Ok(())
    }
}

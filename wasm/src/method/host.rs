//! JavaScript callbacks as a host.

use crate::books::to_js;
use crate::provider::host_error;
use closeread_books::tokens::Tokenizer;
use closeread_embed::{PairScores, Role, Vectors};
use closeread_eval::answer::Form;
use closeread_eval::reading::{Expected, ExtractiveInput};
use closeread_llm::{Call, HostError, Response, Speaker};
use closeread_methods::cost::Stage;
use closeread_methods::{Host, Preparation};
use closeread_text::Language;
use js_sys::{Array, Float32Array, Function, Promise, Reflect};
use serde::Serialize;
use std::cell::{Cell, RefCell};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// The callbacks of one run.
pub(super) struct JsHost<'a> {
    pub(super) callbacks: JsValue,
    pub(super) tokenizer: &'a Tokenizer,
    pub(super) stage: Cell<Stage>,
    /// Inputs of the calls that were made, by which their responses are read.
    pub(super) made: &'a RefCell<Vec<ExtractiveInput>>,
}

/// One request to a chat model, before it is sent.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "MethodCall"))]
#[serde(rename_all = "camelCase")]
pub(crate) struct JsCall<'a> {
    /// Number of the call in the run, from 0, in the order in which calls were made.
    id: usize,
    /// Stage of the method.
    stage: Stage,
    /// Name of the prompt that the last message was made from.
    prompt: &'a str,
    /// The dialogue so far, oldest first.
    messages: Vec<JsMessage<'a>>,
    /// Tokens of all messages, by the run's tokenizer.
    tokens: usize,
    /// Most tokens of the response; `null`: no limit.
    max_output_tokens: Option<u32>,
    /// Sampling temperature.
    temperature: f64,
    /// What the call wants.
    want: JsWant,
    /// The question that is asked.
    question: &'a str,
    /// Options of a choice.
    options: &'a [String],
    /// What of the books the prompt holds, in its order.
    passages: &'a [String],
    /// The form that the response must have, as llama.cpp's GBNF; `null` where any text will do.
    grammar: Option<String>,
}

/// One message of a call.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "MethodMessage", optional_fields))]
#[serde(rename_all = "camelCase")]
pub(crate) struct JsMessage<'a> {
    /// Speaker of the message.
    role: Speaker,
    /// Words of the message.
    content: &'a str,
    /// Tokens of the content.
    tokens: usize,
    /// UTF-16 code units at the beginning that other calls share.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_length: Option<usize>,
}

/// What a call wants: an answer in a form, a search, a pause between pages, pages to read again.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "MethodWant"))]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(crate) enum JsWant {
    Answer { form: Form },
    Query,
    Break,
    Pages { at_most: usize },
}

impl JsHost<'_> {
    fn callback(&self, name: &str) -> Option<Function> {
        Reflect::get(&self.callbacks, &name.into()).ok()?.dyn_into().ok()
    }

    /// Tells what was made of the books.
    pub(super) fn prepared(&self, preparation: &Preparation) -> Result<(), JsValue> {
        match self.callback("prepared") {
            Some(tell) => tell.call1(&self.callbacks, &to_js(preparation)?).map(drop),
            None => Ok(()),
        }
    }

    fn described(&self, id: usize, call: &Call, input: &ExtractiveInput) -> Result<JsValue, JsValue> {
        let message = |message: &closeread_llm::Message| (self.tokenizer.count(&message.content), message.clone());
        let counted: Vec<_> = call.messages.iter().map(message).collect();
        let messages = counted.iter().map(|(tokens, message)| JsMessage {
            role: message.role,
            content: &message.content,
            tokens: *tokens,
            shared_length: message
                .shared_bytes
                .and_then(|end| Some(message.content.get(..end)?.encode_utf16().count())),
        });
        to_js(&JsCall {
            id,
            stage: self.stage.get(),
            prompt: &call.prompt,
            tokens: counted.iter().map(|(tokens, _)| tokens).sum(),
            messages: messages.collect(),
            max_output_tokens: call.max_output_tokens,
            temperature: call.temperature,
            want: match input.expected {
                Expected::Answer(form) => JsWant::Answer { form },
                Expected::Turn { must_search: true } => JsWant::Query,
                Expected::Turn { must_search: false } => JsWant::Answer { form: Form::Tags },
                Expected::Break => JsWant::Break,
                Expected::Pages(at_most) => JsWant::Pages { at_most },
                Expected::Memory | Expected::Gist | Expected::Node => JsWant::Answer { form: Form::Marked },
            },
            question: &input.question,
            options: &input.options,
            passages: &input.context,
            grammar: input.shape().map(|shape| shape.grammar()),
        })
    }

    async fn asked(&self, name: &str, arguments: &Array) -> Result<JsValue, JsValue> {
        let callback = self.callback(name).ok_or_else(|| js_sys::Error::new(&format!("the host has no `{name}`")))?;
        JsFuture::from(Promise::resolve(&callback.apply(&self.callbacks, arguments)?)).await
    }
}

impl Host for JsHost<'_> {
    async fn chat(&self, call: Call) -> Result<Response, HostError> {
        let nothing = ExtractiveInput::summary(Vec::new(), Expected::Answer(Form::Marked), Language::ENGLISH);
        self.answer_from(call, async || Ok(nothing)).await
    }

    /// Shows beside the prompt what it was made from.
    async fn answer_from(
        &self,
        call: Call,
        input: impl AsyncFnOnce() -> Result<ExtractiveInput, HostError>,
    ) -> Result<Response, HostError> {
        let input = input().await?;
        let id = self.made.borrow().len();
        let described = self.described(id, &call, &input).map_err(|error| host_error(&error))?;
        self.made.borrow_mut().push(input);
        let response = self.asked("chat", &Array::of1(&described)).await.map_err(|error| host_error(&error))?;
        if let Some(text) = response.as_string() {
            return Ok(Response { text, ..Response::default() });
        }
        serde_wasm_bindgen::from_value(response).map_err(|error| {
            HostError::Failed(format!("the host's response: {error}; expected a string or {{ text }}"))
        })
    }

    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vectors, HostError> {
        let failed = |why: &str| HostError::Embedding(why.to_owned());
        let role = match role {
            Role::Query => "query",
            Role::Passage => "passage",
        };
        let arguments = Array::of2(&role.into(), &texts.iter().map(|text| JsValue::from_str(text)).collect::<Array>());
        let rows = self.asked("embed", &arguments).await.map_err(|error| failed(&host_error(&error).to_string()))?;
        let rows: Result<Vec<Float32Array>, _> = Array::from(&rows).iter().map(JsCast::dyn_into).collect();
        let rows = rows.map_err(|_| failed("the host's vectors must be Float32Arrays"))?;
        let dimension = rows.first().map_or(0, |row| row.length() as usize);
        if rows.len() != texts.len() || rows.iter().any(|row| row.length() as usize != dimension) {
            return Err(failed("the host must give one vector a text, all of one length"));
        }
        let values: Vec<f32> = rows.iter().flat_map(Float32Array::to_vec).collect();
        if (dimension == 0 && !texts.is_empty()) || values.iter().any(|value| !value.is_finite()) {
            return Err(failed("the host's vectors must hold numbers, all of them finite"));
        }
        Ok(Vectors::new(dimension, values))
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<PairScores, HostError> {
        let texts: Array = texts.iter().map(|text| JsValue::from_str(text)).collect();
        let scores = self.asked("rerank", &Array::of2(&query.into(), &texts)).await;
        let scores = scores.map_err(|error| HostError::Reranking(host_error(&error).to_string()))?;
        // What is no number becomes one that no score is; the session says so.
        let scores = Array::from(&scores).iter().map(|score| score.as_f64().unwrap_or(f64::NAN)).collect();
        Ok(PairScores { scores, n_cut: 0 })
    }
}

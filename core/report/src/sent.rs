//! Messages sent in a trial, computed again from its record: a run folder holds prompts by their hash alone.

use super::folder::RunConfiguration;
use closeread_books::Book;
use closeread_books::tokens::Tokenizer;
use closeread_embed::{Role, Vectors};
use closeread_eval::Item;
use closeread_llm::{Call, HostError, Message, Response};
use closeread_methods::Host;
use closeread_methods::record::{CallTrace, Record};
use closeread_methods::{AnyMethod, Session, Settings};
use closeread_prompts::Prompts;
use closeread_retrieve::Retriever;
use futures_util::FutureExt;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::sync::Arc;

/// The part of a manifest that says how a trial asked.
#[derive(Debug, Deserialize)]
struct HowSent {
    #[serde(default)]
    methods: Map<String, Value>,
    retriever: Option<Retriever>,
    #[serde(default)]
    embedder: Option<Value>,
    #[serde(default)]
    reranker: Option<Value>,
}

/// The reason why a prompt cannot be computed here; `closeread verify` may be able to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    /// Not all the books are loaded.
    #[error("not all books of the item are at hand, which lie in texts/")]
    NoText,
    /// The passages were found by vectors.
    #[error("the passages were ranked by an embedding model, which is not at hand; `closeread verify` has it")]
    Vectors,
    /// A reranker put the passages in order.
    #[error("the passages were put in order by a reranker, which is not at hand; `closeread verify` has it")]
    Reranked,
    /// The method worked on more than the question, such as a preparation.
    #[error("the method works on what it made of the books, or asks several questions at once; see `closeread verify`")]
    Shared,
    /// The run says too little of how it asked, or asked by other prompts.
    #[error("what comes out is not what was sent, by its hash: the run was made by other prompts or another closeread")]
    Different,
}

/// The messages of each call of a trial, held to the hashes in its record. `books` are those of the item, in its order,
/// and hold their texts;
/// `tokenizer` is the run's.
///
/// # Errors
/// [`NotSent`] says what keeps them from being computed.
pub fn sent(
    configuration: &RunConfiguration,
    books: Vec<Arc<Book>>,
    item: &Item,
    record: &Record,
    tokenizer: &Tokenizer,
) -> Result<Vec<Vec<Message>>, NotSent> {
    if record.shared_call.is_some() {
        return Err(NotSent::Shared);
    }
    if record.calls.is_empty() {
        return Ok(Vec::new());
    }
    let how: HowSent = configuration.other().map_err(|_| NotSent::Different)?;
    let parameters = how.methods.get(&record.key.method).cloned().unwrap_or_else(|| json!({}));
    let method = AnyMethod::named(&record.key.method, &parameters).map_err(|_| NotSent::Different)?;
    if method.preparation().is_some() || method.asks_together() {
        return Err(NotSent::Shared);
    }
    if books.len() != item.documents.len() {
        return Err(NotSent::NoText);
    }
    let retriever = match (how.retriever, &how.embedder) {
        (Some(retriever), _) => retriever,
        (None, None) => Retriever::Bm25,
        (None, Some(_)) => record.context.as_ref().and_then(|context| context.retriever).unwrap_or(Retriever::Dense),
    };
    let passages = method.passages();
    if passages.is_some() && retriever.needs_vectors() {
        return Err(NotSent::Vectors);
    }
    if method.ranks_passages() && how.reranker.is_some() {
        return Err(NotSent::Reranked);
    }
    let index = passages.map(|passages| passages.index(&books, tokenizer, Book::text)).transpose();
    let index = index.map_err(|_| NotSent::NoText)?;
    let prompts = Prompts::built_in();
    let settings = Settings {
        prompts: &prompts,
        tokenizer,
        response_limit: configuration.max_output_tokens.into(),
        temperature: 0.0,
        context_window: configuration.asked().window_of(&record.key.model),
    };
    let host = Recorded { calls: &record.calls, sent: RefCell::default() };
    let session = Session::new(&host, settings);
    let session = session.about(&books).searching(index.as_ref(), retriever).within(record.key.budget);
    let tried = method.run(&session, &[item], None).now_or_never();
    let trials = tried.ok_or(NotSent::Different)?.map_err(|_| NotSent::Different)?;
    let hashes = |calls: &[CallTrace]| calls.iter().map(|call| call.sha256.clone()).collect::<Vec<_>>();
    match trials.first() {
        Some(trial) if hashes(&trial.calls) == hashes(&record.calls) => Ok(host.sent.into_inner()),
        _ => Err(NotSent::Different),
    }
}

/// A host that replies as a record has it, in order, and remembers what was asked.
struct Recorded<'a> {
    calls: &'a [CallTrace],
    sent: RefCell<Vec<Vec<Message>>>,
}

impl Host for Recorded<'_> {
    async fn chat(&self, call: Call) -> Result<Response, HostError> {
        let mut sent = self.sent.borrow_mut();
        let known = self.calls.get(sent.len());
        let known = known.ok_or_else(|| HostError::Failed("the record holds no response to this call".to_owned()))?;
        sent.push(call.messages);
        Ok(known.to_response())
    }

    async fn embed(&self, _role: Role, _texts: &[&str]) -> Result<Vectors, HostError> {
        Err(HostError::Embedding("no embedding model is at hand".to_owned()))
    }
}

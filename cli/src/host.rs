//! The command line as a host: it asks models and embeds queries.

use crate::embedder::Embedder;
use crate::provider::Reader;
use crate::reply_cache::ReplyCache;
use crate::spending::Spending;
use anyhow::Result;
use closeread_core::embed::{Role, Vectors};
use closeread_core::host::{Call, Host, HostError, Reply};
use closeread_core::reader;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Vectors of queries that were embedded before, shared by the hosts of a run.
pub(crate) type QueryVectors = Rc<RefCell<HashMap<String, Vec<f32>>>>;

/// One reader, one encoder.
pub(crate) struct CliHost {
    reader: Reader,
    embedder: Option<Arc<Embedder>>,
    queries: QueryVectors,
    replies: Rc<ReplyCache>,
    /// Who counts its calls, and by which name the model is priced.
    spending: Option<(Rc<Spending>, String)>,
}

impl CliHost {
    /// A host for one reader.
    pub(crate) fn new(
        reader: Reader,
        embedder: Option<Arc<Embedder>>,
        queries: QueryVectors,
        replies: Rc<ReplyCache>,
    ) -> Self {
        Self { reader, embedder, queries, replies, spending: None }
    }

    /// The same host, whose calls are counted as those of `model` and begin only while there is money for them.
    pub(crate) fn charged_to(self, spending: Rc<Spending>, model: &str) -> Self {
        Self { spending: Some((spending, model.to_owned())), ..self }
    }

    /// The same host for one repetition: what was replied to another one does not count.
    pub(crate) fn repetition(&self, sample: u32) -> Repetition<'_> {
        Repetition { host: self, sample }
    }
}

/// A host for the trials of one repetition.
pub(crate) struct Repetition<'a> {
    host: &'a CliHost,
    sample: u32,
}

/// Embeds all `queries` at once, so that methods find them ready.
pub(crate) fn embed_queries(embedder: &Embedder, queries: &[&str], known: &QueryVectors) -> Result<usize> {
    let mut new: Vec<&str> = queries.iter().copied().filter(|query| !known.borrow().contains_key(*query)).collect();
    new.sort_unstable();
    new.dedup();
    if new.is_empty() {
        return Ok(0);
    }
    let embedded = embedder.embed(Role::Query, &new, |_| {})?;
    let mut known = known.borrow_mut();
    for (query, vector) in new.iter().zip(embedded.vectors.rows()) {
        known.insert((*query).to_owned(), vector.to_vec());
    }
    Ok(embedded.n_cut)
}

impl Host for Repetition<'_> {
    async fn chat(&self, call: Call) -> Result<Reply, HostError> {
        match &self.host.reader {
            Reader::Chat(model) => {
                if let Some(reply) = self.host.replies.get(model.source(), &call, self.sample) {
                    return Ok(reply);
                }
                let reply = match &self.host.spending {
                    None => model.chat(&call).await,
                    Some((spending, name)) => {
                        let begun = spending.begin(name, &call).await;
                        let reply = model.chat(&call).await;
                        begun.ended(name, &reply);
                        reply
                    }
                }?;
                self.host.replies.put(model.source(), &call, self.sample, &reply);
                Ok(reply)
            }
            Reader::Extractive => {
                let Some(reading) = call.reading else {
                    return Err(HostError::Failed("the call says nothing that can be read without a model".to_owned()));
                };
                let answer = tokio::task::spawn_blocking(move || reader::answer(&reading)).await;
                let text = answer.map_err(|error| HostError::Failed(error.to_string()))?;
                Ok(Reply { text, ..Reply::default() })
            }
        }
    }

    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vectors, HostError> {
        query_vectors(self.host.embedder.as_deref(), &self.host.queries, role, texts)
    }
}

/// Vectors of texts; those of queries are remembered in `known`.
pub(crate) fn query_vectors(
    embedder: Option<&Embedder>,
    known: &QueryVectors,
    role: Role,
    texts: &[&str],
) -> Result<Vectors, HostError> {
    let Some(embedder) = embedder else {
        return Err(HostError::Embedding("no embedding model is loaded".to_owned()));
    };
    let failed = |error: anyhow::Error| HostError::Embedding(format!("{error:#}"));
    if role == Role::Query {
        embed_queries(embedder, texts, known).map_err(failed)?;
        let known = known.borrow();
        let values: Vec<f32> = texts.iter().flat_map(|text| known[*text].iter().copied()).collect();
        return Ok(Vectors::new(embedder.model().spec.dimension, values));
    }
    Ok(embedder.embed(role, texts, |_| {}).map_err(failed)?.vectors)
}

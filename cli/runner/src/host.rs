//! The command line as a host: it asks models and embeds queries.

use crate::embedder::Embedder;
use crate::journal::Journal;
use crate::reranker::Reranker;
use crate::spending::Spending;
use crate::texts::BookTexts;
use anyhow::{Context, Result};
use closeread_books::{Book, BookText};
use closeread_embed::{Embedded, PairScores, Role, Vectors};
use closeread_eval::reading::{ExtractiveInput, Shape};
use closeread_llm::{Call, HostError, Response};
use closeread_methods::work::Job;
use closeread_methods::{Host, reader};
use closeread_providers::ending::is_ending;
use closeread_providers::response_cache::{ResponseCache, request_key};
use closeread_providers::under_way::UnderWay;
use closeread_providers::{Batcher, Beginnings, ChatModel, Model, Outgoing, Permit, Source, Uncounted};
use futures_util::{StreamExt, stream};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use tokio::task::JoinError;
use tracing::{Instrument, Span, info_span, trace};

/// An encoder, and the vectors of the queries that it embedded in this run.
pub struct QueryEncoder {
    embedder: Arc<Embedder>,
    known: RefCell<HashMap<String, Vec<f32>>>,
}

impl QueryEncoder {
    /// An encoder that has embedded nothing yet.
    pub fn new(embedder: Embedder) -> Self {
        Self { embedder: Arc::new(embedder), known: RefCell::default() }
    }

    /// The encoder itself, for passages.
    pub fn embedder(&self) -> &Arc<Embedder> {
        &self.embedder
    }

    /// Embeds all `queries` at once, so that methods find them ready; says how many had to be cut.
    pub async fn prepare(&self, queries: &[&str]) -> Result<usize> {
        let mut new: Vec<&str> =
            queries.iter().copied().filter(|query| !self.known.borrow().contains_key(*query)).collect();
        new.sort_unstable();
        new.dedup();
        if new.is_empty() {
            return Ok(0);
        }
        let embedded = self.embed(Role::Query, &new).await?;
        let mut known = self.known.borrow_mut();
        for (query, vector) in new.iter().zip(embedded.vectors.rows()) {
            known.insert((*query).to_owned(), vector.to_vec());
        }
        Ok(embedded.n_cut)
    }

    /// Vectors of texts; those of queries are remembered.
    pub async fn vectors(&self, role: Role, texts: &[&str]) -> Result<Vectors> {
        if role == Role::Passage {
            return Ok(self.embed(role, texts).await?.vectors);
        }
        self.prepare(texts).await?;
        let known = self.known.borrow();
        let values: Vec<f32> = texts.iter().flat_map(|text| known[*text].iter().copied()).collect();
        Ok(Vectors::new(self.embedder.dimension(), values))
    }

    /// Embeds on a thread of its own: other trials go on while vectors are computed or a server is asked for them.
    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Embedded> {
        let embedder = Arc::clone(&self.embedder);
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let span = Span::current();
        let work = move || {
            let _inside = span.enter();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            embedder.embed(role, &texts, |_| {})
        };
        tokio::task::spawn_blocking(work).await.context("the embedding thread ended abruptly")?
    }
}

/// The host of one model.
pub struct CliHost {
    model: Model,
    beginnings: Beginnings,
    responses: Rc<ResponseCache>,
    under_way: UnderWay,
    /// Spending that counts the host's calls, and the name by which the model is priced.
    spending: Option<(Arc<Spending>, String)>,
    /// Batcher that takes the host's calls, if they go in batches.
    batcher: Option<Rc<Batcher>>,
}

impl CliHost {
    /// A host for one reader.
    pub fn new(model: Model, responses: Rc<ResponseCache>) -> Self {
        let (beginnings, under_way) = (Beginnings::default(), UnderWay::default());
        Self { model, beginnings, responses, under_way, spending: None, batcher: None }
    }

    /// Makes the host's calls count as those of `model`, and begin only while there is money for them.
    pub fn charged_to(self, spending: Arc<Spending>, model: &str) -> Self {
        Self { spending: Some((spending, model.to_owned())), ..self }
    }

    /// Makes the host's calls go in batches.
    pub fn in_batches(self, batcher: Rc<Batcher>) -> Self {
        Self { batcher: Some(batcher), ..self }
    }

    /// Returns what takes the host's calls into batches.
    pub fn batcher(&self) -> Option<&Rc<Batcher>> {
        self.batcher.as_ref()
    }

    /// Waits until there is room for one more trial beside those whose calls are under way; in batches, for one more
    /// prompt.
    pub async fn permit(&self) -> Option<Permit<'_>> {
        if let Some(batcher) = &self.batcher {
            batcher.room().await;
            return None;
        }
        match &self.model {
            Model::Chat(model) => Some(model.permit().await),
            Model::Extractive => None,
        }
    }

    /// Makes the host keep to the limits of the server together with another host, if both ask the same model there.
    pub fn share_limits_with(&mut self, other: &Self) {
        if let (Model::Chat(model), Model::Chat(other)) = (&mut self.model, &other.model) {
            model.share_limits_with(other);
        }
    }

    /// Returns the host for one repeat of a method, which embeds with `encoder`: what was replied to another repeat
    /// does not count.
    pub fn repetition<'a>(&'a self, repeat: u32, encoder: Option<&'a QueryEncoder>) -> Repetition<'a> {
        Repetition {
            host: self,
            repeat,
            encoder,
            reranker: None,
            method: None,
            journal: None,
            texts: None,
            cut_off: Cell::new(false),
        }
    }
}

/// A host for the trials of one repetition.
pub struct Repetition<'a> {
    host: &'a CliHost,
    repeat: u32,
    encoder: Option<&'a QueryEncoder>,
    reranker: Option<&'a Reranker>,
    method: Option<&'a str>,
    journal: Option<&'a Journal>,
    texts: Option<&'a BookTexts>,
    cut_off: Cell<bool>,
}

impl<'a> Repetition<'a> {
    /// Sets the method, whose extra fields the calls have.
    pub fn of_method(self, method: &'a str) -> Self {
        Self { method: Some(method), ..self }
    }

    /// Sets the model that reranks.
    pub fn reranking(self, reranker: Option<&'a Reranker>) -> Self {
        Self { reranker, ..self }
    }

    /// Sets a journal: nothing is asked that it holds a response to, and every response is written into it.
    pub fn journalled(self, journal: &'a Journal) -> Self {
        Self { journal: Some(journal), ..self }
    }

    /// Sets the texts that books do not hold.
    pub fn reading(self, texts: &'a BookTexts) -> Self {
        Self { texts: Some(texts), ..self }
    }

    /// Returns whether the end of the program kept it from a response: what came of that is no result.
    pub(crate) fn was_cut_off(&self) -> bool {
        self.cut_off.get()
    }

    fn noted<T>(&self, result: Result<T, HostError>) -> Result<T, HostError> {
        if result.is_err() && is_ending() {
            self.cut_off.set(true);
        }
        result
    }

    /// What came of a request; where there is no money for it, it waits for ever, as a call does.
    async fn paid<T>(&self, result: Result<T>) -> Result<T> {
        let is_out = || self.host.spending.as_ref().is_some_and(|(spending, _)| spending.taken().out);
        if result.is_err() && is_out() { std::future::pending().await } else { result }
    }

    fn keep(&self, request: &str, response: &Response, seconds: f64) {
        if let Some(journal) = self.journal {
            let model = self.host.spending.as_ref().map_or("", |(_, model)| model.as_str());
            journal.put(request, model, response, seconds);
        }
    }
}

impl Repetition<'_> {
    /// Asks a call; with a shape the response comes in the form that the prompt asks for, whatever the server was held
    /// by.
    async fn asked(&self, call: Call, shape: Option<&Shape>) -> Result<Response, HostError> {
        let response = self.answered(call, shape).await?;
        Ok(match shape {
            Some(shape) => Response { text: shape.render(&response.text), ..response },
            None => response,
        })
    }

    /// Takes the response from the journal or the cache, or else from the server.
    async fn answered(&self, call: Call, shape: Option<&Shape>) -> Result<Response, HostError> {
        let Model::Chat(model) = &self.host.model else {
            return Err(HostError::Failed("the call says nothing that can be read without a model".to_owned()));
        };
        let source = model.source(self.method, &call.prompt, shape);
        let call = self.host.beginnings.take_out(model.limited(call)).with_fields(&source.extra_body);
        let request = request_key(&source, &call, self.repeat);
        if let Some(response) = self.journal.and_then(|journal| journal.take(&request)) {
            trace!("answered from the journal");
            return Ok(response);
        }
        let _turn = loop {
            if let Some(response) = self.host.responses.get(&request) {
                trace!("answered from the cache");
                return Ok(response);
            }
            if let Some(turn) = self.host.under_way.turn(&request).await {
                break turn;
            }
        };
        let response = self.served(model, call, &source, &request).await?;
        self.host.responses.put(&request, source, self.repeat, &response);
        Ok(response)
    }

    /// Has the server answer once there is money for it, alone or in a batch, and keeps the response in the journal.
    async fn served(
        &self,
        model: &ChatModel,
        call: Outgoing,
        source: &Source,
        request: &str,
    ) -> Result<Response, HostError> {
        let begun = match &self.host.spending {
            None => None,
            Some((spending, name)) => {
                let in_batch = self.host.batcher.as_ref().map(|_| request);
                Some(spending.begin(name, &call, in_batch).await)
            }
        };
        let began = Instant::now();
        let response = match &self.host.batcher {
            None => match &begun {
                Some(begun) => model.chat(&call, source, begun).await,
                None => model.chat(&call, source, &Uncounted).await,
            },
            Some(batcher) => {
                if let Some(begun) = &begun {
                    begun.hand_in(batcher.knows(request))?;
                }
                let entry = batcher.entry(request, &call.whole(), source);
                // It may hold a whole book, and the response is hours away.
                drop(call);
                match &begun {
                    Some(begun) => batcher.ask(request, entry, begun).await,
                    None => batcher.ask(request, entry, &Uncounted).await,
                }
            }
        };
        let response = match begun {
            Some(begun) => begun.ended(response),
            None => response,
        };
        let response = self.noted(response)?;
        let (prompt, completion) = (response.usage.prompt_tokens, response.usage.completion_tokens);
        let seconds = began.elapsed().as_secs_f64();
        trace!(
            prompt_tokens = prompt,
            completion_tokens = completion,
            seconds,
            finish = ?response.finish,
            "answered by the server"
        );
        self.keep(request, &response, seconds);
        Ok(response)
    }
}

impl Host for Repetition<'_> {
    async fn chat(&self, call: Call) -> Result<Response, HostError> {
        let span = info_span!("call", prompt = call.prompt);
        self.asked(call, None).instrument(span).await
    }

    async fn answer_from(
        &self,
        call: Call,
        input: impl AsyncFnOnce() -> Result<ExtractiveInput, HostError>,
    ) -> Result<Response, HostError> {
        if let Model::Chat(model) = &self.host.model {
            // What it makes may hold a book as long as the prompt.
            let shape = match model.constraint() {
                Some(_) => input().await.ok().and_then(|input| input.shape()),
                None => {
                    drop(input);
                    None
                }
            };
            let span = info_span!("call", prompt = call.prompt);
            return self.asked(call, shape.as_ref()).instrument(span).await;
        }
        let input = input().await?;
        let answer = tokio::task::spawn_blocking(move || reader::answer(&input)).await;
        let text = answer.map_err(|error| HostError::Failed(error.to_string()))?;
        Ok(Response { text, ..Response::default() })
    }

    async fn text(&self, book: &Book) -> Result<Arc<BookText>, HostError> {
        let text = self.texts.map_or_else(|| book.text(), |texts| texts.open(book));
        text.map_err(|error| HostError::Text(error.to_string()))
    }

    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vectors, HostError> {
        let Some(encoder) = self.encoder else {
            return Err(HostError::Embedding("no embedding model is loaded".to_owned()));
        };
        let vectors = self.paid(encoder.vectors(role, texts).await).await;
        self.noted(vectors.map_err(|error| HostError::Embedding(format!("{error:#}"))))
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<PairScores, HostError> {
        let Some(reranker) = self.reranker else {
            return Err(HostError::Reranking("no reranker is loaded".to_owned()));
        };
        let scored = self.paid(reranker.score(query, texts).await).await;
        self.noted(scored.map_err(|error| HostError::Reranking(format!("{error:#}"))))
    }

    async fn work<T: Send + 'static>(&self, jobs: Vec<Job<T>>) -> Vec<T> {
        let n_threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let job_done = |done: Result<T, JoinError>| match done {
            Ok(result) => result,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        let jobs = stream::iter(jobs).map(tokio::task::spawn_blocking);
        jobs.buffered(n_threads).map(job_done).collect().await
    }
}

//! A session: what one trial or preparation has at hand, and the trace of what it asked.

use super::{Answer, Preparation, Questions};
use crate::Host;
use crate::host::{book_text, passage_texts};
use crate::record::{CallTrace, Context};
use crate::work::{Job, Workers};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, BookText, TextError};
use closeread_embed::{Role, Vectors};
use closeread_eval::reading::ExtractiveInput;
use closeread_eval::{Outcome, PassageRef};
use closeread_llm::{ASSUMED_REPLY_TOKENS, Call, FinishReason, HostError, Message, Response};
use closeread_prompts::{PromptError, Prompts};
use closeread_retrieve::context::with_neighbours;
use closeread_retrieve::{IndexError, PassageIndex, Ranked, Ranking, Retriever};
use closeread_text::Language;
use closeread_text::hash::sha256;
use futures_util::future::join_all;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long replies may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyLimit {
    /// At most so many tokens.
    AtMost(u32),
    /// As long as the provider lets them be: no limit is sent. So many tokens are kept free for them in a window, and
    /// assumed where their length must be said beforehand.
    Provider(u32),
}

impl ReplyLimit {
    /// The limit of a run without options: none, for no paper names one.
    pub const NONE: Self = Self::Provider(ASSUMED_REPLY_TOKENS);

    /// What a call is sent with.
    pub fn sent(self) -> Option<u32> {
        match self {
            Self::AtMost(tokens) => Some(tokens),
            Self::Provider(_) => None,
        }
    }

    /// Tokens that are kept free for a reply: its limit, or the assumption.
    pub fn reserved(self) -> u32 {
        let (Self::AtMost(tokens) | Self::Provider(tokens)) = self;
        tokens
    }

    /// The limit, but not below so many tokens.
    #[must_use]
    pub fn at_least(self, least: u32) -> Self {
        match self {
            Self::AtMost(tokens) => Self::AtMost(tokens.max(least)),
            Self::Provider(tokens) => Self::Provider(tokens.max(least)),
        }
    }

    /// The limit with so many tokens more.
    #[must_use]
    pub fn plus(self, more: u32) -> Self {
        match self {
            Self::AtMost(tokens) => Self::AtMost(tokens.saturating_add(more)),
            Self::Provider(tokens) => Self::Provider(tokens.saturating_add(more)),
        }
    }
}

impl From<Option<u32>> for ReplyLimit {
    fn from(tokens: Option<u32>) -> Self {
        tokens.map_or(Self::NONE, Self::AtMost)
    }
}

/// What every session of a run shares.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The prompts.
    pub prompts: &'a Prompts,
    /// Counts budgets, prompts and windows.
    pub tokenizer: &'a Tokenizer,
    /// How long a reply may be.
    pub reply_limit: ReplyLimit,
    /// Sampling temperature; the papers decode greedily, 0.
    pub temperature: f32,
    /// Tokens a model can take, prompt and reply together; `None` for a reader without a limit.
    pub context_window: Option<usize>,
}

impl<'a> Settings<'a> {
    /// Greedy decoding, replies and a window without limit.
    pub fn new(prompts: &'a Prompts, tokenizer: &'a Tokenizer) -> Self {
        Self { prompts, tokenizer, reply_limit: ReplyLimit::NONE, temperature: 0.0, context_window: None }
    }
}

/// A finished attempt at an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// How it ended.
    pub outcome: Outcome,
    /// Tokens of all its prompts together by the run's tokenizer; 0 if none was made.
    pub prompt_tokens: usize,
    /// What the reader was given of the books.
    pub context: Option<Context>,
    /// The calls, in order.
    pub calls: Vec<CallTrace>,
    /// Numbers worth reporting that no score holds, such as `searches`.
    pub measures: BTreeMap<String, f64>,
    /// Sentences of the books that the reader cited, where it was asked for them.
    pub evidence: Option<Vec<String>>,
    /// Id of the item in whose trial the call stands that asked this one as well.
    pub shared_call: Option<String>,
}

impl Trial {
    /// A trial that ended before anything was asked.
    pub fn ended(outcome: Outcome) -> Self {
        Self {
            outcome,
            prompt_tokens: 0,
            context: None,
            calls: Vec::new(),
            measures: BTreeMap::new(),
            evidence: None,
            shared_call: None,
        }
    }
}

/// Why a trial could not be made at all. A refusal, an overflow or an answer that does not parse is an
/// [`Outcome`], because it is scored.
#[derive(Debug, thiserror::Error)]
pub enum MethodError {
    /// A prompt is unusable.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The index cannot rank.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The method searches, and its session has no index.
    #[error("the method searches passages, and there is no index of them")]
    NoIndex,
    /// The method works on what it prepares, and that was not handed over.
    #[error("the method works on what it makes of the books first, and that was not made")]
    NotPrepared,
    /// The text of a book cannot be had.
    #[error(transparent)]
    Text(#[from] TextError),
    /// What was prepared is of something else.
    #[error("what the run folder keeps in `preparations` cannot be used: {0}; remove it, or start anew")]
    Unprepared(String),
}

/// Why a session stops before its method is through.
#[derive(Debug)]
pub enum Stop {
    /// With something that is scored.
    Outcome(Outcome),
    /// With something that stops the run.
    Error(MethodError),
}

impl From<HostError> for Stop {
    fn from(error: HostError) -> Self {
        let tokens = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok());
        Self::Outcome(match error {
            HostError::Overflow { needed, context_window: window, .. } => {
                Outcome::Overflow { needed: tokens(needed), context_window: tokens(window) }
            }
            HostError::Blocked { reason } => Outcome::Blocked { reason },
            HostError::Failed(_) | HostError::Embedding(_) | HostError::Text(_) => {
                Outcome::Failed { error: error.to_string() }
            }
        })
    }
}

impl From<PromptError> for Stop {
    fn from(error: PromptError) -> Self {
        Self::Error(error.into())
    }
}

impl From<IndexError> for Stop {
    fn from(error: IndexError) -> Self {
        Self::Error(error.into())
    }
}

impl From<MethodError> for Stop {
    fn from(error: MethodError) -> Self {
        Self::Error(error)
    }
}

/// A host as one who does jobs.
#[derive(Debug)]
pub struct HostWorkers<'a, H>(&'a H);

impl<H: Host> Workers for HostWorkers<'_, H> {
    async fn all<T: Send + 'static>(&self, jobs: Vec<Job<T>>) -> Vec<T> {
        self.0.work(jobs).await
    }
}

/// The host, the books and their index, and what one trial or preparation asked so far.
#[derive(Debug)]
pub struct Session<'a, H> {
    host: &'a H,
    settings: Settings<'a>,
    books: &'a [Arc<Book>],
    index: Option<&'a PassageIndex>,
    retriever: Retriever,
    budget: Option<usize>,
    trace: Trace,
}

/// What a session leaves behind.
#[derive(Debug, Default)]
struct Trace {
    calls: Vec<CallTrace>,
    prompt_tokens: usize,
    context: Option<Context>,
    measures: BTreeMap<String, f64>,
    /// The limit at which the last response ended, if it did: `None` inside is the provider's own.
    cut_at: Option<Option<u32>>,
}

impl<'a, H> Session<'a, H> {
    /// A session without books.
    pub fn new(host: &'a H, settings: Settings<'a>) -> Self {
        let (trace, retriever) = (Trace::default(), Retriever::Bm25);
        Self { host, settings, books: &[], index: None, retriever, budget: None, trace }
    }

    /// The same about these books, in the order of the item.
    #[must_use]
    pub fn about(self, books: &'a [Arc<Book>]) -> Self {
        Self { books, ..self }
    }

    /// The same with an index of the books, cut as the method's [`passages`](super::Method::passages) say, and how it is
    /// searched.
    #[must_use]
    pub fn searching(self, index: Option<&'a PassageIndex>, retriever: Retriever) -> Self {
        Self { index, retriever, ..self }
    }

    /// The same within a budget of tokens, for methods that take one.
    #[must_use]
    pub fn within(self, budget: Option<usize>) -> Self {
        Self { budget, ..self }
    }

    /// A new session with the same things at hand.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self { trace: Trace::default(), ..*self }
    }

    /// What all sessions of the run share.
    pub fn settings(&self) -> Settings<'a> {
        self.settings
    }

    /// The books, in the order of the item.
    pub fn books(&self) -> &'a [Arc<Book>] {
        self.books
    }

    /// The index of the books.
    ///
    /// # Errors
    /// [`MethodError::NoIndex`] if there is none: the method's [`passages`](super::Method::passages) name none.
    pub fn index(&self) -> Result<&'a PassageIndex, MethodError> {
        self.index.ok_or(MethodError::NoIndex)
    }

    /// How passages are ranked.
    pub fn retriever(&self) -> Retriever {
        self.retriever
    }

    /// Most tokens of what is retrieved; without a budget everything fits.
    pub fn budget(&self) -> usize {
        self.budget.unwrap_or(usize::MAX)
    }

    /// The language of the first book.
    pub fn language(&self) -> Language {
        self.books.first().map_or(Language::ENGLISH, |book| book.language)
    }

    /// The title of the books as a prompt names it; empty if none has one.
    pub fn title(&self) -> String {
        joined_titles(self.books.iter().map(|book| book.title.as_str()))
    }

    /// Sets how long replies may be from now on.
    pub fn limit_output(&mut self, reply_limit: ReplyLimit) {
        self.settings.reply_limit = reply_limit;
    }

    /// Sets the sampling temperature from now on.
    pub fn set_temperature(&mut self, temperature: f32) {
        self.settings.temperature = temperature;
    }

    /// A number worth reporting that no score holds.
    pub fn measure(&mut self, name: &str, value: impl Into<Count>) {
        self.trace.measures.insert(name.to_owned(), value.into().0);
    }

    /// Counts one more of `name` among the measures.
    pub fn count(&mut self, name: &str) {
        *self.trace.measures.entry(name.to_owned()).or_default() += 1.0;
    }

    /// Says what the reader is given of the books.
    pub fn shows(&mut self, context: Option<Context>) {
        self.trace.context = context;
    }

    /// The calls so far, in order.
    pub fn into_calls(self) -> Vec<CallTrace> {
        self.trace.calls
    }
}

/// A measure's value.
#[derive(Debug, Clone, Copy)]
pub struct Count(f64);

impl From<usize> for Count {
    fn from(n: usize) -> Self {
        Self(n as f64)
    }
}

impl From<f64> for Count {
    fn from(value: f64) -> Self {
        Self(value)
    }
}

/// The titles of several books as one; those without a title are left out.
pub(super) fn joined_titles<'t>(titles: impl Iterator<Item = &'t str>) -> String {
    titles.filter(|title| !title.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Texts.
impl<'a, H: Host> Session<'a, H> {
    /// The text of a book, see [`Host::text`]: open for as long as it is held.
    ///
    /// # Errors
    /// [`Stop`] if it cannot be had.
    pub async fn text(&self, book: &Book) -> Result<Arc<BookText>, Stop> {
        Ok(book_text(self.host, book).await?)
    }

    /// Passages of the index as a model sees them, in this order, each of their books opened once.
    ///
    /// # Errors
    /// [`Stop`] if there is no index, or the text of a book cannot be had.
    pub async fn texts(&self, passages: impl IntoIterator<Item = usize>) -> Result<Vec<String>, Stop> {
        let passages: Vec<usize> = passages.into_iter().collect();
        Ok(passage_texts(self.host, self.index()?, &passages).await?)
    }

    /// Who is asked.
    pub(crate) fn host(&self) -> &'a H {
        self.host
    }
}

/// Searching.
impl<H: Host> Session<'_, H> {
    /// Every passage by how well it matches the query, best first, each with its neighbours right behind it.
    ///
    /// # Errors
    /// [`Stop`] if the query cannot be embedded or the index cannot rank.
    pub async fn rank(&self, query: &str, neighbours: usize) -> Result<Ranking, Stop> {
        let index = self.index()?;
        let vector = self.query_vector(query).await?;
        let ranking = index.ranking(self.retriever, query, vector.as_deref())?;
        Ok(with_neighbours(ranking, neighbours, |idx| index.passages()[idx].book))
    }

    /// The vector of a query, where the retriever needs one.
    ///
    /// # Errors
    /// [`Stop`] if it cannot be embedded.
    pub async fn query_vector(&self, query: &str) -> Result<Option<Vec<f32>>, Stop> {
        match self.retriever.needs_vectors() {
            true => Ok(Some(self.embed_query(query).await?)),
            false => Ok(None),
        }
    }

    /// The vector of one query.
    ///
    /// # Errors
    /// [`Stop`] if it cannot be embedded.
    pub async fn embed_query(&self, query: &str) -> Result<Vec<f32>, Stop> {
        Ok(self.embed(Role::Query, &[query]).await?.row(0).to_vec())
    }

    /// One vector a text.
    ///
    /// # Errors
    /// [`Stop`] if they cannot be embedded.
    pub async fn embed_passages(&self, texts: &[&str]) -> Result<Vectors, Stop> {
        self.embed(Role::Passage, texts).await
    }

    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vectors, Stop> {
        let vectors = self.host.embed(role, texts).await?;
        match vectors.len() == texts.len() {
            true => Ok(vectors),
            false => Err(HostError::Embedding(format!("{} vectors for {} texts", vectors.len(), texts.len())).into()),
        }
    }

    /// Passages of the index as a record names what a reader was given.
    ///
    /// # Errors
    /// [`MethodError::NoIndex`].
    pub fn context_of(&self, passages: &[Ranked]) -> Result<Context, MethodError> {
        let index = self.index()?;
        Ok(Context {
            retriever: Some(self.retriever),
            n_tokens: passages.iter().map(|ranked| index.n_tokens()[ranked.idx]).sum(),
            passages: passages.iter().map(|ranked| reference(index, *ranked)).collect(),
        })
    }
}

/// A passage of the index as records name it.
pub(super) fn reference(index: &PassageIndex, Ranked { idx, score }: Ranked) -> PassageRef {
    let passage = &index.passages()[idx];
    PassageRef {
        document: index.books()[passage.book].id.clone(),
        start: passage.span.start,
        end: passage.span.end,
        score: Some(score),
    }
}

/// Asking: every call is filled in, sent, counted and written down here.
impl<'a, H: Host> Session<'a, H> {
    /// Whatever threads the host has.
    pub fn workers(&self) -> HostWorkers<'a, H> {
        HostWorkers(self.host)
    }

    /// Sends a dialogue whose last message was made from the prompt `name`. One that does not fit the window with room
    /// for a reply is not sent: the trial ends as an overflow. `input` is called by a host that has no model, see
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

    /// The same for what nobody answers but a model.
    ///
    /// # Errors
    /// As [`Session::ask`].
    pub async fn ask_model(&mut self, name: &str, messages: Vec<Message>) -> Result<Response, Stop> {
        let nothing =
            async || Err(HostError::Failed("without a model there is nothing to answer this from".to_owned()));
        self.ask(name, messages, nothing).await
    }

    /// Sends dialogues that do not wait for each other's replies; the replies come in the order of `requests`, whatever
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
        let max_output_tokens = self.settings.reply_limit.sent();
        let answers = join_all(requests.into_iter().map(|(messages, input)| {
            let sha256 = fingerprint(&messages);
            let call =
                Call { messages, temperature: self.settings.temperature, max_output_tokens, prompt: name.to_owned() };
            async { (sha256, self.host.answer_from(call, input).await) }
        }))
        .await;
        let mut replies = Vec::with_capacity(answers.len());
        for ((sha256, answer), counted_tokens) in answers.into_iter().zip(counts) {
            let trace = |reply: &Response| CallTrace {
                prompt: name.to_owned(),
                sha256,
                response: reply.text.clone(),
                finish: reply.finish,
                counted_tokens,
                usage: reply.usage,
                served_by: reply.served_by.clone(),
                cached: reply.cached,
            };
            let is_cut = answer.as_ref().is_ok_and(|reply| reply.finish == FinishReason::Length);
            self.trace.cut_at = is_cut.then_some(max_output_tokens);
            self.trace.calls.extend(answer.as_ref().ok().map(trace));
            replies.push(answer);
        }
        Ok(replies.into_iter().collect::<Result<_, HostError>>()?)
    }

    /// Tokens of a dialogue, which together with what is kept free for the reply must not exceed the window.
    fn fitting(&self, messages: &[Message]) -> Result<usize, Stop> {
        let n_tokens = messages.iter().map(|m| self.settings.tokenizer.count(&m.content)).sum::<usize>();
        let needed = n_tokens + self.settings.reply_limit.reserved() as usize;
        match self.settings.context_window {
            Some(window) if needed > window => {
                Err(Stop::Outcome(Outcome::Overflow { needed: Some(needed), context_window: Some(window) }))
            }
            _ => Ok(n_tokens),
        }
    }
}

/// The end.
impl<H> Session<'_, H> {
    /// The trials of `questions`, however their asking ended. The calls, their tokens and the measures are in the first
    /// one's, so that nothing is counted twice; the others name it.
    ///
    /// # Errors
    /// What stops the run.
    pub fn into_trials(
        self,
        questions: &Questions<'_>,
        end: Result<Vec<Answer>, Stop>,
    ) -> Result<Vec<Trial>, MethodError> {
        let answers = match end {
            Ok(answers) => answers,
            Err(Stop::Outcome(outcome)) => questions.items().iter().map(|_| outcome.clone().into()).collect(),
            Err(Stop::Error(error)) => return Err(error),
        };
        let Trace { prompt_tokens, context, calls, measures, cut_at } = self.trace;
        let shared_call = questions.first().id.clone();
        let trials = answers.into_iter().enumerate().map(|(n, Answer { outcome, evidence })| Trial {
            evidence,
            shared_call: (n > 0).then(|| shared_call.clone()),
            context: context.clone(),
            ..Trial::ended(cut_short(outcome, cut_at))
        });
        let mut trials: Vec<Trial> = trials.collect();
        if let Some(first) = trials.first_mut() {
            (first.prompt_tokens, first.calls, first.measures) = (prompt_tokens, calls, measures);
        }
        Ok(trials)
    }

    /// What came of a preparation, however it ended.
    ///
    /// # Errors
    /// What stops the run.
    pub(super) fn into_preparation<P>(self, end: Result<P, Stop>) -> Result<Preparation<P>, MethodError> {
        let prepared = match end {
            Ok(prepared) => Ok(prepared),
            Err(Stop::Outcome(outcome)) => Err(outcome),
            Err(Stop::Error(error)) => return Err(error),
        };
        let Trace { prompt_tokens, calls, measures, .. } = self.trace;
        Ok(Preparation { prepared, prompt_tokens, calls, measures })
    }
}

/// The outcome, where the last response ended at a limit and holds no answer.
fn cut_short(outcome: Outcome, cut_at: Option<Option<u32>>) -> Outcome {
    match (outcome, cut_at) {
        (Outcome::Unparsed { response }, Some(max_output_tokens)) => Outcome::CutShort { response, max_output_tokens },
        (outcome, _) => outcome,
    }
}

/// SHA-256 of what was sent: of the text alone where it is one message of the user.
fn fingerprint(messages: &[Message]) -> String {
    match messages {
        [only] => sha256(only.content.as_bytes()),
        several => sha256(&serde_json::to_vec(several).expect("messages have string keys only")),
    }
}

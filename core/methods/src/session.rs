//! A session: what one trial or preparation has at hand, and the trace of what it asked.

mod ask;
pub(crate) mod search;

use crate::host::Host;
use crate::host::{book_text, passage_texts};
use crate::questions::Questions;
use crate::record::{CallTrace, Context};
use crate::settings::{ResponseLimit, Settings};
use crate::trial::{MethodError, Preparation, Stop, Trial};
use crate::work::{Job, Workers};
use closeread_books::{Book, BookText};
use closeread_eval::Outcome;
use closeread_eval::reading::Answer;
use closeread_retrieve::{PassageIndex, Retriever};
use closeread_text::Language;
use std::collections::BTreeMap;
use std::sync::Arc;

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
    rerank_from: Option<usize>,
    budget: Option<usize>,
    trace: Trace,
}

/// The trace of a session: its calls, context and measures.
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
    /// Begins a session without books.
    pub fn new(host: &'a H, settings: Settings<'a>) -> Self {
        let (trace, retriever) = (Trace::default(), Retriever::Bm25);
        Self { host, settings, books: &[], index: None, retriever, rerank_from: None, budget: None, trace }
    }

    /// Sets the books that the session is about, in the order of the item.
    #[must_use]
    pub fn about(self, books: &'a [Arc<Book>]) -> Self {
        Self { books, ..self }
    }

    /// Sets the index of the books, cut as the method's [`passages`](super::Method::passages) say, and how it is
    /// searched.
    #[must_use]
    pub fn searching(self, index: Option<&'a PassageIndex>, retriever: Retriever) -> Self {
        Self { index, retriever, ..self }
    }

    /// Sets how many of the best passages of every ranking the host reranks; `None`: nothing is reranked.
    #[must_use]
    pub fn reranking(self, from: Option<usize>) -> Self {
        Self { rerank_from: from, ..self }
    }

    /// Sets the budget of tokens, for methods that take one.
    #[must_use]
    pub fn within(self, budget: Option<usize>) -> Self {
        Self { budget, ..self }
    }

    /// A new session with the same things at hand.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self { trace: Trace::default(), ..*self }
    }

    /// Returns the settings that all sessions of the run share.
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

    /// Returns how passages are ranked.
    pub fn retriever(&self) -> Retriever {
        self.retriever
    }

    /// Returns the most tokens that retrieved passages may have; without a budget everything fits.
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

    /// Sets how long responses may be from now on.
    pub fn limit_output(&mut self, response_limit: ResponseLimit) {
        self.settings.response_limit = response_limit;
    }

    /// Sets the sampling temperature from now on.
    pub fn set_temperature(&mut self, temperature: f64) {
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

    /// The tokens of all prompts so far, those of calls without a response included.
    pub const fn prompt_tokens(&self) -> usize {
        self.trace.prompt_tokens
    }

    /// The calls so far, in order.
    pub fn into_calls(self) -> Vec<CallTrace> {
        self.trace.calls
    }
}

/// The value of a measure.
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

/// Reading texts.
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

    /// Returns the host that is asked.
    pub(crate) fn host(&self) -> &'a H {
        self.host
    }
}

/// Ending the session.
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

    /// Returns the preparation, however its making ended.
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

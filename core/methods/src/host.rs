//! The host: a method's one way to models, vectors, texts and threads.
//!
//! A method is an async function that awaits only what a [`Host`] gives it, so the same code runs under tokio, under a
//! browser's event loop and under a test's scripted host.

use crate::work::{Inline, Job, Workers};
use closeread_books::{Book, BookText};
use closeread_embed::{PairScores, Role, Vectors};
use closeread_eval::reading::ExtractiveInput;
use closeread_llm::{Call, HostError, Response};
use closeread_retrieve::PassageIndex;
use std::sync::Arc;

/// All that a method may ask of the world outside. Implementations: the command line, the browser, a test's script.
///
/// Futures need not be `Send`: a browser's are not. The command line drives them on one thread and hands CPU work to
/// others.
#[allow(async_fn_in_trait, reason = "futures are deliberately not Send, see above")]
pub trait Host {
    /// Asks for one chat completion.
    ///
    /// # Errors
    /// [`HostError`]; a method decides whether it ends the item.
    async fn chat(&self, call: Call) -> Result<Response, HostError>;

    /// Asks for a chat completion, of a host that may have no model and then answers from `input`, what the prompt was
    /// made from. A host with a model leaves this as it is: what a model never sees is not loaded.
    ///
    /// # Errors
    /// As [`Host::chat`], and what `input` fails with.
    async fn answer_from(
        &self,
        call: Call,
        input: impl AsyncFnOnce() -> Result<ExtractiveInput, HostError>,
    ) -> Result<Response, HostError> {
        // It may hold a text as long as the prompt.
        drop(input);
        self.chat(call).await
    }

    /// The text of a book, which is let go of as soon as it was read. A host whose books hold their texts leaves this as
    /// it is; any other loads the text and has it checked by [`Book::read_again`].
    ///
    /// # Errors
    /// [`HostError::Text`] if it cannot be had: the trial fails.
    async fn text(&self, book: &Book) -> Result<Arc<BookText>, HostError> {
        book.text().map_err(|error| HostError::Text(error.to_string()))
    }

    /// Returns one vector a text, each of the model's dimension, L2-normalised, in the order of `texts`. A host without
    /// an embedding model leaves this as it is: ranking by words asks for no vectors.
    ///
    /// # Errors
    /// [`HostError::Embedding`] if no embedding model is at hand or it failed.
    async fn embed(&self, _role: Role, _texts: &[&str]) -> Result<Vectors, HostError> {
        Err(HostError::Embedding("this host has no embedding model".to_owned()))
    }

    /// Scores how well each of `texts` answers `query`, by a reranker. A host without one leaves this as it is: it is
    /// asked only where a session says that passages are reranked.
    ///
    /// # Errors
    /// [`HostError::Reranking`] if no reranker is at hand or it failed.
    async fn rerank(&self, _query: &str, _texts: &[&str]) -> Result<PairScores, HostError> {
        Err(HostError::Reranking("this host has no reranker".to_owned()))
    }

    /// Does `jobs` and returns their results in order: on this thread, one after the other, unless the host has more.
    async fn work<T: Send + 'static>(&self, jobs: Vec<Job<T>>) -> Vec<T> {
        Inline.all(jobs).await
    }
}

/// Returns [`Host::text`], which is held to be the book's: offsets are only good in that.
pub(crate) async fn book_text<H: Host>(host: &H, book: &Book) -> Result<Arc<BookText>, HostError> {
    let text = host.text(book).await?;
    match text.hash() == book.hash() {
        true => Ok(text),
        false => Err(HostError::Text(book.gone("the host has another text under its name").to_string())),
    }
}

/// Returns [`PassageIndex::texts`], each book opened by the host.
pub(crate) async fn passage_texts<H: Host>(
    host: &H,
    index: &PassageIndex,
    passages: &[usize],
) -> Result<Vec<String>, HostError> {
    let mut texts = vec![String::new(); passages.len()];
    for (book, places) in index.by_book(passages) {
        let text = book_text(host, &index.books()[book]).await?;
        places.into_iter().for_each(|place| texts[place] = index.text_in(&text, passages[place]));
    }
    Ok(texts)
}

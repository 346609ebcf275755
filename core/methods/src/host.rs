//! The one door to the world.
//!
//! A method is an async function that awaits only what a [`Host`] gives it, so the same code runs under tokio, under a
//! browser's event loop and under a test's scripted host.

use crate::work::{Inline, Job, Workers};
use closeread_embed::{Role, Vectors};
use closeread_llm::{Call, HostError, Response};

/// What a method may ask of the world outside. Implementations: the command line, the browser, a test's script.
///
/// Futures need not be `Send`: a browser's are not. The command line drives them on one thread and hands CPU work to
/// others.
#[allow(async_fn_in_trait, reason = "futures are deliberately not Send, see above")]
pub trait Host {
    /// One chat completion.
    ///
    /// # Errors
    /// [`HostError`]; a method decides whether it ends the item.
    async fn chat(&self, call: Call) -> Result<Response, HostError>;

    /// One vector a text, each of the model's dimension, L2-normalised, in the order of `texts`. A host without an
    /// embedding model leaves this as it is: ranking by words asks for no vectors.
    ///
    /// # Errors
    /// [`HostError::Embedding`] if no embedding model is at hand or it failed.
    async fn embed(&self, _role: Role, _texts: &[&str]) -> Result<Vectors, HostError> {
        Err(HostError::Embedding("this host has no embedding model".to_owned()))
    }

    /// What each of `jobs` gives, in their order: on this thread, one after the other, unless the host has more.
    async fn work<T: Send + 'static>(&self, jobs: Vec<Job<T>>) -> Vec<T> {
        Inline.all(jobs).await
    }
}

//! A host that replies nothing and counts what it is asked.

use crate::Host;
use crate::MethodError;
use closeread_books::tokens::Tokenizer;
use closeread_embed::{PairScores, Role, Vectors};
use closeread_llm::{Call, HostError, Response};
use std::cell::RefCell;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The calls that `ask` makes of a host that replies nothing: tokens of each prompt, and the limit of its response.
///
/// # Errors
/// What `ask` fails with.
pub fn calls_of<'a>(
    tokenizer: &'a Tokenizer,
    ask: impl AsyncFnOnce(&CountingHost<'a>) -> Result<(), MethodError>,
) -> Result<Vec<(u64, u64)>, MethodError> {
    let host = CountingHost { tokenizer, calls: RefCell::default() };
    at_once(ask(&host))?;
    Ok(host.calls.into_inner())
}

/// A host that replies nothing, and writes down the lengths of its prompts.
#[derive(Debug)]
pub struct CountingHost<'a> {
    tokenizer: &'a Tokenizer,
    calls: RefCell<Vec<(u64, u64)>>,
}

impl Host for CountingHost<'_> {
    async fn chat(&self, call: Call) -> Result<Response, HostError> {
        let prompt = call.messages.iter().map(|message| self.tokenizer.count(&message.content) as u64).sum();
        self.calls.borrow_mut().push((prompt, call.assumed_response_tokens().into()));
        Ok(Response::default())
    }

    async fn embed(&self, _role: Role, texts: &[&str]) -> Result<Vectors, HostError> {
        Ok(Vectors::new(1, vec![1.0; texts.len()]))
    }

    async fn rerank(&self, _query: &str, texts: &[&str]) -> Result<PairScores, HostError> {
        Ok(PairScores { scores: vec![0.0; texts.len()], n_cut: 0 })
    }
}

/// The value of a future that waits for nothing outside.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

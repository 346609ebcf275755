//! A trial on books of one word: what a method's prompts hold besides the text.

use super::BookSize;
use super::shape::Shape;
use crate::benchmark::Item;
use crate::embed::{Role, Vectors};
use crate::host::{Call, Host, HostError, Reply};
use crate::index::{Retriever, Shelf};
use crate::method::{Material, Method, MethodError, Setting};
use crate::text::tokens::Tokenizer;
use crate::text::{Book, ReadOptions};
use serde_json::json;
use std::cell::RefCell;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The whole text of a blank book.
const WORD: &str = "x";
/// Calls after which a trial is ended: no method needs as many on a book of one word.
const MOST_CALLS: usize = 20;

/// A call as it was made on blank books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// Tokens of the prompt without the words of the blank books.
    pub prompt: u64,
    /// Most tokens of the reply.
    pub reply_limit: u64,
}

/// Blank books in the place of real ones.
pub(super) struct Blank<'a> {
    method: Method,
    setting: Setting<'a>,
    books: Vec<Arc<Book>>,
    shelf: Option<Shelf>,
}

impl<'a> Blank<'a> {
    /// Titles and languages are those of the real books. A method that prepares is asked as `dos-rag` in its place:
    /// without its preparation it could not run.
    pub(super) fn new(
        method: &Method,
        shape: &Shape,
        setting: Setting<'a>,
        books: &[BookSize],
    ) -> Result<Self, MethodError> {
        let method = match shape {
            Shape::Tree { .. } | Shape::Pages { .. } => {
                Method::named("dos-rag", &json!({})).expect("a method of this crate, its own parameters")
            }
            _ => method.clone(),
        };
        let blank = |size: &BookSize| {
            let options = ReadOptions { language: Some(size.language), keep_frame: true, keep_wraps: true };
            Arc::new(Book::new("blank", size.title.clone(), WORD.to_owned(), &options).expect("a word is text"))
        };
        let books: Vec<Arc<Book>> = books.iter().map(blank).collect();
        let shelf = method.cut().map(|cut| {
            let mut shelf = Shelf::new(books.clone(), cut.chunker, cut.max_tokens, setting.tokenizer);
            shelf.put_vectors(same_vectors(shelf.passages().len()));
            shelf
        });
        Ok(Self { method, setting: Setting { window: None, ..setting }, books, shelf })
    }

    /// The calls about `items`, which are asked at once.
    pub(super) fn frames(&self, items: &[&Item], budget: Option<usize>) -> Result<Vec<Frame>, MethodError> {
        let host = Silent::new(self.setting.tokenizer);
        let retriever = Retriever::Bm25;
        let material = Material { books: &self.books, shelf: self.shelf.as_ref(), retriever, prepared: None };
        at_once(self.method.run(&host, self.setting, &material, items, budget))?;
        let words = (self.setting.tokenizer.count(WORD) * self.books.len()) as u64;
        let frames = host.frames.into_inner().into_iter();
        Ok(frames.map(|frame| Frame { prompt: frame.prompt.saturating_sub(words), ..frame }).collect())
    }
}

/// The calls that `ask` makes of a host that replies nothing: tokens of each prompt, and the limit of its reply.
pub(crate) fn calls_of<'a>(
    tokenizer: &'a Tokenizer,
    ask: impl AsyncFnOnce(&Silent<'a>) -> Result<(), MethodError>,
) -> Result<Vec<(u64, u64)>, MethodError> {
    let host = Silent::new(tokenizer);
    at_once(ask(&host))?;
    Ok(host.frames.into_inner().into_iter().map(|frame| (frame.prompt, frame.reply_limit)).collect())
}

/// Replies nothing, and writes down how long it was asked.
pub(crate) struct Silent<'a> {
    tokenizer: &'a Tokenizer,
    frames: RefCell<Vec<Frame>>,
}

impl<'a> Silent<'a> {
    fn new(tokenizer: &'a Tokenizer) -> Self {
        Self { tokenizer, frames: RefCell::default() }
    }
}

impl Host for Silent<'_> {
    async fn chat(&self, call: Call) -> Result<Reply, HostError> {
        let mut frames = self.frames.borrow_mut();
        if frames.len() == MOST_CALLS {
            return Err(HostError::Failed("a blank book is not asked about for ever".to_owned()));
        }
        let prompt = call.messages.iter().map(|message| self.tokenizer.count(&message.content) as u64).sum();
        frames.push(Frame { prompt, reply_limit: call.max_output_tokens.into() });
        Ok(Reply::default())
    }

    async fn embed(&self, _role: Role, texts: &[&str]) -> Result<Vectors, HostError> {
        Ok(same_vectors(texts.len()))
    }
}

fn same_vectors(n: usize) -> Vectors {
    Vectors::new(1, vec![1.0; n])
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

//! Methods that read whole books, and what their answers are worth: the public side of closeread's core.
//!
//! It does no I/O. [`read`] makes passages of books, [`ask`] runs a method over whatever answers a [`Host`](ask::Host),
//! [`score`] says what the answers are worth, [`report`] makes tables of finished runs. The same code is compiled natively
//! and to WebAssembly, and gives the same numbers in both.
//!
//! DOS RAG (Stronger Baselines, section 2.3) on a book in a string, by the built-in reader, which is no language model:
//!
//! ```
//! use closeread_core::ask::{self, Call, ExtractiveInput, Host, HostError, Item, Prompts, Rag, Response, Session};
//! use closeread_core::ask::{Settings, Task};
//! use closeread_core::read::{Book, Language, PassageIndex, ReadOptions, Retriever, Tokenizer};
//! use closeread_core::score::score;
//!
//! struct BuiltIn;
//!
//! impl Host for BuiltIn {
//!     async fn chat(&self, _: Call) -> Result<Response, HostError> {
//!         Err(HostError::Failed("there is no language model here".to_owned()))
//!     }
//!
//!     async fn answer_from(
//!         &self,
//!         _: Call,
//!         input: impl AsyncFnOnce() -> Result<ExtractiveInput, HostError>,
//!     ) -> Result<Response, HostError> {
//!         Ok(Response { text: ask::extractive(&input().await?), ..Response::default() })
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let story = "Ana kept the lighthouse. In spring Bo sold the boat to Carla. Carla painted it red.";
//! let books = [Book::new("harbour", "The Harbour", story.to_owned(), &ReadOptions::default())?.into()];
//! let mut item = Item::new("q1", "harbour", "To whom did Bo sell the boat in spring?", Task::Generative);
//! item.answers = vec!["Carla".to_owned()];
//!
//! let (method, prompts, tokenizer) = (Rag::dos(), Prompts::built_in(), Tokenizer::cl100k());
//! let index: PassageIndex = method.passages.index(&books, &tokenizer, Book::text)?;
//! let session = Session::new(&BuiltIn, Settings::new(&prompts, &tokenizer))
//!     .about(&books)
//!     .searching(Some(&index), Retriever::Bm25)
//!     .within(Some(500));
//! let trials = pollster::block_on(ask::run(&method, &session, &[&item], None))?;
//!
//! let scores = score(&item, &trials[0].outcome, Language::ENGLISH);
//! println!("{:?}: F1 {:.2}", trials[0].outcome, scores["f1"]);
//! // Answered { answer: "sold the boat to Carla", choice: None }: F1 0.40
//! assert_eq!(scores["f1"], 0.4);
//! # Ok(())
//! # }
//! ```
//!
//! A host with a language model has [`Host::chat`](ask::Host::chat) alone, and sends the [`Call`](ask::Call) to a server:
//! [`ask::provider`] has requests and responses of the servers' protocols as values. One that embeds also implements
//! [`Host::embed`](ask::Host::embed). The book above holds its text; where texts lie on a disk or elsewhere, books let go of
//! them ([`Book::let_go`](read::Book::let_go)) and the host loads them one at a time ([`Host::text`](ask::Host::text)).
//!
//! This crate names what is stable. The crates below it, `closeread-text` to `closeread-report`, change without notice.

#![forbid(unsafe_code)]

pub mod ask;
pub mod read;
pub mod report;
pub mod score;

//! The methods of the papers, one file each: async functions over a [`Host`](crate::host::Host) that read like the
//! paper's algorithm.

mod agentic_rag;
pub(crate) mod ask;
mod catalog;
mod closed_book;
mod corpus_rag;
pub mod cost;
mod dress;
mod full_document;
mod heard;
mod memory_agent;
mod naive_rag;
mod prepare;
mod query_summary;
mod rag;
mod raptor;
pub(crate) mod read;
mod read_agent;
mod reply;
mod sections;
mod together;
mod whole;

pub use agentic_rag::{AgenticRag, OnBoth, OnNeither, agentic_rag};
pub use catalog::{Cut, Entry, METHODS, Method, ParameterError, entry};
pub use closed_book::{ClosedBook, closed_book};
pub use corpus_rag::{CHUNKS, CorpusRag, DOCUMENTS, DOCUMENTS_READ, FEWER_CHUNKS_THAN_DOCUMENTS, corpus_rag};
pub use dress::Dress;
pub use full_document::{FullDocument, WindowPolicy, full_document};
pub use heard::{Heard, heard};
pub use memory_agent::{MemoryAgent, memory_agent};
pub use naive_rag::{NaiveRag, SAGASCALE_EMBEDDER, naive_rag};
pub use prepare::{Preparation, Prepared};
pub use query_summary::{QuerySummary, query_summary};
pub use rag::{Rag, rag};
pub use raptor::{Leaf, Raptor, Summary, Tree, TreeSearch, node_text, raptor, traversal};
pub use read_agent::{Page, PageLength, Pages, ReadAgent, Stretch, Unit, expand, prepare_pages, read_agent};
pub use sections::{Section, Sections};
pub use together::batches;

use crate::index::{Retriever, Shelf, ShelfError};
use crate::prompt::{PromptError, Prompts};
use crate::record::{CallTrace, Context, Outcome};
use crate::text::Book;
use crate::text::tokens::Tokenizer;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What every method of a run shares.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The prompts.
    pub prompts: &'a Prompts,
    /// Counts budgets, prompts and windows.
    pub tokenizer: &'a Tokenizer,
    /// Most tokens a reply may have.
    pub max_output_tokens: u32,
    /// Sampling temperature; the papers decode greedily, 0.
    pub temperature: f32,
    /// Tokens a model can take, prompt and reply together; `None` for a reader without a limit.
    pub window: Option<usize>,
}

/// What a trial works with.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// The books of the item, in its order.
    pub books: &'a [Arc<Book>],
    /// The same books cut as [`Method::cut`] wants them; `None` where it wants none.
    pub shelf: Option<&'a Shelf>,
    /// How passages are ranked.
    pub retriever: Retriever,
    /// What [`Method::prepare`] made of them, where it makes something.
    pub prepared: Option<&'a Prepared>,
}

impl<'a> Material<'a> {
    /// ISO 639-1 code of the first book.
    pub fn language(&self) -> &'a str {
        self.books.first().map_or("en", |book| book.language.code())
    }

    /// The shelf of a method that searches.
    ///
    /// # Panics
    /// If there is none: the caller did not ask [`Method::cut`].
    pub fn shelf(&self) -> &'a Shelf {
        self.shelf.expect("a method that searches is given the shelf that its cut names")
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
    pub asked_with: Option<String>,
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
            asked_with: None,
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
    /// The shelf cannot rank.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    /// What was prepared is of something else.
    #[error("what the run folder keeps in `preparations` cannot be used: {0}; remove it, or start anew with --fresh")]
    Unprepared(String),
}

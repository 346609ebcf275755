//! The methods of the papers, one file each: async functions over a [`Host`](crate::host::Host) that read like the
//! paper's algorithm.

mod closed_book;
mod full_document;
mod rag;
mod read;

pub use closed_book::closed_book;
pub use full_document::{Window, WindowPolicy, full_document};
pub use rag::{Rag, rag};

use crate::host::HostError;
use crate::index::ShelfError;
use crate::prompt::{PromptError, Prompts};
use crate::record::{CallTrace, Context, Outcome};
use crate::text::tokens::Tokenizer;

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
}

/// A finished attempt at an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// How it ended.
    pub outcome: Outcome,
    /// Tokens of the prompt by the run's tokenizer; 0 if none was made.
    pub prompt_tokens: usize,
    /// What the reader was given of the books.
    pub context: Option<Context>,
    /// The calls, in order.
    pub calls: Vec<CallTrace>,
}

/// Why a trial could not be made at all. A refusal, an overflow or an answer that does not parse is an
/// [`Outcome`], because it is scored.
#[derive(Debug, thiserror::Error)]
pub enum MethodError {
    /// The host could not embed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A prompt is unusable.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The shelf cannot rank.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
}

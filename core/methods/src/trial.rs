//! A finished attempt at an item, and why one ends before its method is through.

use crate::record::{CallTrace, Context};
use closeread_books::TextError;
use closeread_eval::Outcome;
use closeread_llm::HostError;
use closeread_prompts::PromptError;
use closeread_retrieve::IndexError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A finished attempt at an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Outcome of the trial.
    pub outcome: Outcome,
    /// Tokens of all its prompts together by the run's tokenizer; 0 if none was made.
    pub prompt_tokens: usize,
    /// Context that the model was given.
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

/// The reason why a trial could not be made at all. A refusal, an overflow or an answer that does not parse is an
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
    /// The method works on its preparation, and that was not handed over.
    #[error("the method works on what it makes of the books first, and that was not made")]
    NotPrepared,
    /// The text of a book cannot be had.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The preparation is of something else.
    #[error("what the run folder keeps in `preparations` cannot be used: {0}; remove it, or start anew")]
    Unprepared(String),
}

/// The reason why a session stops before its method is through.
#[derive(Debug)]
pub enum Stop {
    /// An outcome, which is scored.
    Outcome(Outcome),
    /// An error, which stops the run.
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
            HostError::Billed { error, .. } => return (*error).into(),
            HostError::Failed(_) | HostError::Embedding(_) | HostError::Reranking(_) | HostError::Text(_) => {
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

/// The work of a method on books before the first question, as a run keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Preparation<P> {
    /// The preparation; where a call failed, how every question on these books ends.
    pub prepared: Result<P, Outcome>,
    /// Tokens of all its prompts together by the run's tokenizer.
    pub prompt_tokens: usize,
    /// The calls, in order.
    pub calls: Vec<CallTrace>,
    /// Numbers worth reporting, such as `nodes`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
}

impl<P> Preparation<P> {
    /// As of a record: the tokens of all prompts, where the last response was blocked.
    pub fn blocked_tokens(&self) -> Option<usize> {
        matches!(self.prepared, Err(Outcome::Blocked { .. })).then_some(self.prompt_tokens)
    }
}

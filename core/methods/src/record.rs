//! Records: plain serde types, the public format of `records.jsonl`.

use closeread_eval::{Outcome, PassageRef};
use closeread_llm::{FinishReason, Response, ServedBy, Usage};
use closeread_retrieve::Retriever;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the run folder's format.
pub const FORMAT: u32 = 2;

/// The measure that holds how many searches a method made of its own.
pub const SEARCHES: &str = "searches";

/// The key that names a trial: the same key is never run twice in one folder.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TrialKey {
    /// Id of the item.
    pub item: String,
    /// Name of the method.
    pub method: String,
    /// The model, `provider/model`.
    pub model: String,
    /// Token budget of the retrieved context, where the method has one.
    pub budget: Option<usize>,
    /// Number of the repetition, from 0.
    pub repeat: u32,
}

/// One finished trial: one line of `records.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "TrialRecord"))]
pub struct Record {
    /// Key of the trial.
    #[serde(flatten)]
    pub key: TrialKey,
    /// Outcome of the trial.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Score by metric, in 0..=1; empty if nothing could be scored.
    pub scores: BTreeMap<String, f64>,
    /// Tokens of the prompt by the run's tokenizer.
    pub prompt_tokens: usize,
    /// Context that the model was given; absent for a closed book.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// The calls that were made, in order.
    pub calls: Vec<CallTrace>,
    /// Numbers worth reporting that no score holds, such as [`SEARCHES`]; see the method's documentation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub measures: BTreeMap<String, f64>,
    /// Sentences of the books that the reader cited; absent where it was not asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<String>>,
    /// Id of the item whose record, otherwise of the same key, holds the call that asked this one as well: `calls` is
    /// empty here, and tokens and seconds are 0, so that nothing counts twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_call: Option<String>,
    /// Wall time of the trial, waiting included.
    pub seconds: f64,
}

impl Record {
    /// A record that says how a trial ended and nothing more.
    pub fn ended(key: TrialKey, outcome: Outcome) -> Self {
        Self {
            key,
            outcome,
            scores: BTreeMap::new(),
            prompt_tokens: 0,
            context: None,
            calls: Vec::new(),
            measures: BTreeMap::new(),
            evidence: None,
            shared_call: None,
            seconds: 0.0,
        }
    }

    /// The tokens of all prompts of a trial whose last response was blocked.
    pub fn blocked_tokens(&self) -> Option<usize> {
        matches!(self.outcome, Outcome::Blocked { .. }).then_some(self.prompt_tokens)
    }
}

/// The context: what a model was given of the books.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Context {
    /// Retriever that found the context; absent for a whole document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retriever: Option<Retriever>,
    /// Number of best passages that a reranker put in order; absent without one. Passages behind these have no score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reranked: Option<usize>,
    /// Tokens of the passages, without separators and prompt.
    pub n_tokens: usize,
    /// The passages, in the order in which the reader saw them.
    pub passages: Vec<PassageRef>,
}

/// One call to a model, by hash.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallTrace {
    /// Name of the prompt.
    pub prompt: String,
    /// SHA-256 of the messages sent, in hex.
    pub sha256: String,
    /// The response, as it came.
    pub response: String,
    /// The reason why the response ended.
    pub finish: FinishReason,
    /// Tokens of the prompt by the run's tokenizer.
    pub counted_tokens: usize,
    /// Tokens as the provider counted them.
    pub usage: Usage,
    /// The model and its version, as the provider named them.
    #[serde(default, skip_serializing_if = "ServedBy::is_unnamed")]
    pub served_by: ServedBy,
    /// Whether the response was known from an earlier run: nothing was spent on it now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

impl CallTrace {
    /// Returns the response again.
    pub fn to_response(&self) -> Response {
        let (text, served_by) = (self.response.clone(), self.served_by.clone());
        Response { text, usage: self.usage, finish: self.finish, served_by, cached: self.cached }
    }
}

/// One request to the server of an embedding model or of a reranker: one line of `embeddings.jsonl` or of `reranking.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedCall {
    /// The model, `provider/model`.
    pub model: String,
    /// Number of texts that it embedded, or passages that it scored; 0 if its response was lost or cannot be used.
    pub texts: usize,
    /// Number of tokens as the server counted them, or as closeread did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Whether closeread counted the tokens, because the server said nothing, or a number that cannot be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_count: bool,
    /// Number of searches as the server billed them; `None` where the server said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searches: Option<u64>,
    /// Name of the request, which no other one has: an object store keeps equal lines once.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
}

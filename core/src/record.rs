//! What a run leaves behind: plain serde types, the public format of `records.jsonl`.

use crate::host::Usage;
use crate::index::Retriever;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the run folder's format.
pub const FORMAT: u32 = 1;

/// The measure that holds how many searches a method made of its own.
pub const SEARCHES: &str = "searches";

/// What names a trial: the same key is never run twice in one folder.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TrialKey {
    /// Id of the item.
    pub item: String,
    /// Name of the method.
    pub method: String,
    /// Reader, `provider/model`.
    pub model: String,
    /// Token budget of the retrieved context, where the method has one.
    pub budget: Option<usize>,
    /// Number of the repetition, from 0.
    pub sample: u32,
}

/// One finished trial: one line of `records.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What was tried.
    #[serde(flatten)]
    pub key: TrialKey,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Score by metric, in 0..=1; empty if nothing could be scored.
    pub scores: BTreeMap<String, f64>,
    /// Tokens of the prompt by the run's tokenizer.
    pub prompt_tokens: usize,
    /// What the reader was given; absent for a closed book.
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
    pub asked_with: Option<String>,
    /// Wall time of the trial, waiting included.
    pub seconds: f64,
}

/// How a trial ended. A wrong, missing or unparsable answer is a value, not an error: it is what gets scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// With an answer.
    Answered {
        /// Its text; for a choice the text of the option.
        answer: String,
        /// The option chosen, from 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<usize>,
    },
    /// The reader said that its context does not hold the answer.
    NotFound,
    /// The reader spent its searches without an answer.
    Unanswered,
    /// The prompt does not fit the model's window.
    Overflow {
        /// Tokens needed, reply included; absent where only the provider counted.
        needed: Option<usize>,
        /// Tokens the window holds; absent where only the provider counted.
        window: Option<usize>,
    },
    /// The provider refused the content.
    Blocked {
        /// The provider's words.
        reason: String,
    },
    /// The reply holds no answer in the agreed form.
    Unparsed {
        /// The reply.
        reply: String,
    },
    /// A call failed for good.
    Failed {
        /// What went wrong.
        error: String,
    },
    /// The method does not answer items of this kind: nothing was asked, and nothing is scored.
    NotAsked {
        /// What it answers.
        reason: String,
    },
}

impl Outcome {
    /// Its name in JSON, which is also that of its field in a [`Ledger`]; `not_asked` is counted as `unscored` there.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Answered { .. } => "answered",
            Self::NotFound => "not_found",
            Self::Unanswered => "unanswered",
            Self::Overflow { .. } => "overflow",
            Self::Blocked { .. } => "blocked",
            Self::Unparsed { .. } => "unparsed",
            Self::Failed { .. } => "failed",
            Self::NotAsked { .. } => "not_asked",
        }
    }
}

/// What a reader was given of the books.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// How it was found; absent for a whole document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retriever: Option<Retriever>,
    /// Tokens of the passages, without separators and prompt.
    pub n_tokens: usize,
    /// The passages, in the order in which the reader saw them.
    pub passages: Vec<PassageRef>,
}

/// A passage by reference: the text lies once in `texts/`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PassageRef {
    /// Id of the document.
    pub document: String,
    /// First byte in the document's file as decoded to UTF-8.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Score under the retriever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// One call to a model, by hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallTrace {
    /// Name of the prompt.
    pub prompt: String,
    /// SHA-256 of the messages sent, in hex.
    pub sha256: String,
    /// The reply, as it came.
    pub reply: String,
    /// Tokens as the provider counted them.
    pub usage: Usage,
    /// The reply was known from an earlier run: nothing was spent on it now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remembered: bool,
}

/// One request to the server of an embedding model: one line of `embeddings.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbeddingCall {
    /// The model, `provider/model`.
    pub model: String,
    /// How many texts it embedded.
    pub texts: usize,
    /// Tokens as the server counted them; `None` where it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

/// How many items ended in which way; the fields add up to `items`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// All items of the benchmark, or of the selection that was run.
    pub items: usize,
    /// With an answer.
    pub answered: usize,
    /// The reader said that its context does not hold the answer.
    pub not_found: usize,
    /// Searches spent.
    pub unanswered: usize,
    /// Did not fit.
    pub overflow: usize,
    /// Refused.
    pub blocked: usize,
    /// No answer in the agreed form.
    pub unparsed: usize,
    /// The call failed.
    pub failed: usize,
    /// No record.
    pub missing: usize,
    /// Nothing to score against: the item has no gold answer, or the method does not answer items of its kind.
    pub unscored: usize,
}

impl Ledger {
    /// Counts one outcome.
    pub fn count(&mut self, outcome: &Outcome) {
        let field = match outcome {
            Outcome::Answered { .. } => &mut self.answered,
            Outcome::NotFound => &mut self.not_found,
            Outcome::Unanswered => &mut self.unanswered,
            Outcome::Overflow { .. } => &mut self.overflow,
            Outcome::Blocked { .. } => &mut self.blocked,
            Outcome::Unparsed { .. } => &mut self.unparsed,
            Outcome::Failed { .. } => &mut self.failed,
            Outcome::NotAsked { .. } => &mut self.unscored,
        };
        *field += 1;
    }

    /// Every field but `items` with its name, which add up to `items`.
    pub fn parts(&self) -> [(&'static str, usize); 9] {
        [
            ("answered", self.answered),
            ("not_found", self.not_found),
            ("unanswered", self.unanswered),
            ("overflow", self.overflow),
            ("blocked", self.blocked),
            ("unparsed", self.unparsed),
            ("failed", self.failed),
            ("missing", self.missing),
            ("unscored", self.unscored),
        ]
    }

    /// Sum of all fields but `items`.
    pub fn accounted(&self) -> usize {
        self.parts().into_iter().map(|(_, n)| n).sum()
    }
}

//! Outcomes: how trials end.

use serde::{Deserialize, Serialize};

/// The outcome of a trial. A wrong, missing or unparsable answer is a value, not an error: it is what gets scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The trial ended with an answer.
    Answered {
        /// Text of the answer; for a choice the text of the option.
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
        /// Tokens needed, response included; absent where only the provider counted.
        needed: Option<usize>,
        /// Tokens the window holds; absent where only the provider counted.
        context_window: Option<usize>,
    },
    /// The provider refused the content.
    Blocked {
        /// The provider's words on the refusal.
        reason: String,
    },
    /// The response holds no answer in the agreed form.
    Unparsed {
        /// The response.
        response: String,
    },
    /// The last response ended at its limit of tokens and holds no answer.
    CutShort {
        /// The response, as far as it came.
        response: String,
        /// Limit of the response in tokens; `None`: the provider's own.
        max_output_tokens: Option<u32>,
    },
    /// A call failed for good.
    Failed {
        /// Message of the error.
        error: String,
    },
    /// The method does not answer items of this kind: nothing was asked, and nothing is scored.
    NotAsked {
        /// What the method answers instead.
        reason: String,
    },
}

impl Outcome {
    /// Returns the outcome's name in JSON, which is also that of its field in a
    /// [`Ledger`](crate::observations::Ledger).
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Answered { .. } => "answered",
            Self::NotFound => "not_found",
            Self::Unanswered => "unanswered",
            Self::Overflow { .. } => "overflow",
            Self::Blocked { .. } => "blocked",
            Self::Unparsed { .. } => "unparsed",
            Self::CutShort { .. } => "cut_short",
            Self::Failed { .. } => "failed",
            Self::NotAsked { .. } => "not_asked",
        }
    }
}

/// A passage by reference: the text lies once in `texts/`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PassageRef {
    /// Id of the document.
    pub document: String,
    /// First byte in the document's file as decoded to UTF-8.
    pub start: usize,
    /// End in bytes: one past the last byte.
    pub end: usize,
    /// Score under the retriever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

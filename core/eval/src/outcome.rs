//! How trials end, and how many ended in which way.

use serde::{Deserialize, Serialize};

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

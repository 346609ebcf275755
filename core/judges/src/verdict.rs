//! How a judgement ended, and what the judge says.

use super::{ByRule, FactRuling, QuestionType, SentenceRuling};
use closeread_eval::answer::novelqa::EvidenceMarks;
use serde::{Deserialize, Serialize};

/// How a judgement ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Verdict {
    /// With a ruling.
    Ruled {
        /// What the judge says.
        ruling: Ruling,
    },
    /// The reply is not in the agreed form; the call's trace holds it.
    Unparsed,
    /// The prompt does not fit the model's window.
    Overflow,
    /// The provider refused the content.
    Blocked {
        /// The provider's words.
        reason: String,
    },
    /// The call failed for good.
    Failed {
        /// What went wrong.
        error: String,
    },
}

impl Verdict {
    /// The ruling, if there is one.
    pub const fn ruling(&self) -> Option<&Ruling> {
        match self {
            Self::Ruled { ruling } => Some(ruling),
            _ => None,
        }
    }

    /// Its name in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ruled { .. } => "ruled",
            Self::Unparsed => "unparsed",
            Self::Overflow => "overflow",
            Self::Blocked { .. } => "blocked",
            Self::Failed { .. } => "failed",
        }
    }
}

/// What a judge says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ruling {
    /// Of [`Judge::SagaScale`], [`Judge::NovelQa`], [`Judge::CorpusQa`].
    Correctness {
        /// The answer is correct.
        correct: bool,
    },
    /// Of [`Judge::Rule`].
    Rule(ByRule),
    /// Of [`Judge::NovelQaEvidence`], each mark in 1..=100.
    Evidence(EvidenceMarks),
    /// Of [`Judge::VerifyFacts`], one entry a sentence of the summary; `None` where the judge left a sentence out.
    Sentences {
        /// In the order of the summary.
        sentences: Vec<Option<SentenceRuling>>,
    },
    /// Of [`Judge::AlignKeyFacts`], one entry a key fact; `None` where the judge left a fact out.
    KeyFacts {
        /// In the order of [`linearised`].
        facts: Vec<Option<FactRuling>>,
    },
    /// Of [`Judge::ClassifyQuestion`].
    QuestionType {
        /// The type.
        question_type: QuestionType,
    },
}

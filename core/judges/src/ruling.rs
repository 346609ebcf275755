//! What a judge says, by the kind of judgement.

use super::ByRule;
#[cfg(doc)]
use super::Judge;
use closeread_eval::answer::novelqa::EvidenceMarks;
use closeread_eval::hamlet::ErrorCategory;
use serde::{Deserialize, Serialize};

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
        /// In the order of [`linearised`](crate::linearised).
        facts: Vec<Option<FactRuling>>,
    },
    /// Of [`Judge::ClassifyQuestion`].
    QuestionType {
        /// The type.
        question_type: QuestionType,
    },
}

/// What the judge says of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentenceRuling {
    /// What is wrong with it.
    pub category: ErrorCategory,
    /// Why; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What the judge says of a key fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactRuling {
    /// The summary states it.
    pub stated: bool,
    /// Numbers of the sentences that state it, from 1, ascending, each once and within the summary; none if it is not
    /// stated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<usize>,
}

/// What a question asks for (figure 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum QuestionType {
    /// A place.
    Location,
    /// A person or another acting being.
    Character,
    /// A cause, a motive or a purpose.
    Reason,
    /// A way of doing something.
    Method,
    /// Something that happened.
    Event,
    /// A thing, a group, an institution, a name.
    Entity,
    /// A number or an amount.
    Quantity,
    /// A time, a date, a duration, an order in time.
    Temporal,
    /// Words that were said or written.
    Quotation,
    /// None of these.
    Miscellaneous,
}

impl QuestionType {
    /// All ten, in the order of the paper; a tied vote goes to the earlier.
    pub const ALL: [Self; 10] = [
        Self::Location,
        Self::Character,
        Self::Reason,
        Self::Method,
        Self::Event,
        Self::Entity,
        Self::Quantity,
        Self::Temporal,
        Self::Quotation,
        Self::Miscellaneous,
    ];

    /// Its name, as label and in the prompt.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Location => "Location",
            Self::Character => "Character",
            Self::Reason => "Reason",
            Self::Method => "Method",
            Self::Event => "Event",
            Self::Entity => "Entity",
            Self::Quantity => "Quantity",
            Self::Temporal => "Temporal",
            Self::Quotation => "Quotation",
            Self::Miscellaneous => "Miscellaneous",
        }
    }

    /// What the prompt says of it; the paper prints the names alone.
    pub(super) const fn meaning(self) -> &'static str {
        match self {
            Self::Location => "where something is or happens",
            Self::Character => "which person or other acting being",
            Self::Reason => "why: a cause, a motive or a purpose",
            Self::Method => "how: a way or a means of doing something",
            Self::Event => "what happened or what somebody did",
            Self::Entity => "which thing, group, institution or name, other than a person or a place",
            Self::Quantity => "how many or how much",
            Self::Temporal => "when, how long or in which order",
            Self::Quotation => "which words were said or written",
            Self::Miscellaneous => "none of the others",
        }
    }
}

//! Rulings of judges, by the kind of judgement.

#[cfg(doc)]
use super::Judge;
use super::rule::by_rule::ByRule;
use closeread_eval::answer::novelqa::EvidenceMarks;
use closeread_eval::hamlet::ErrorCategory;
use serde::{Deserialize, Serialize};

/// The ruling of a judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ruling {
    /// The ruling of [`Judge::SagaScale`], [`Judge::NovelQa`] or [`Judge::CorpusQa`].
    Correctness {
        /// Whether the answer is correct.
        correct: bool,
    },
    /// The ruling of [`Judge::Rule`].
    Rule(ByRule),
    /// The ruling of [`Judge::NovelQaEvidence`], each mark in 0..=100.
    Evidence(EvidenceMarks),
    /// The ruling of [`Judge::VerifyFacts`], one entry a sentence of the summary; `None` where the judge left a
    /// sentence out.
    Sentences {
        /// Rulings in the order of the summary's sentences.
        sentences: Vec<Option<SentenceRuling>>,
    },
    /// The ruling of [`Judge::AlignKeyFacts`], one entry a key fact; `None` where the judge left a fact out.
    KeyFacts {
        /// Rulings in the order of [`linearised`](crate::linearised).
        facts: Vec<Option<FactRuling>>,
    },
    /// The ruling of [`Judge::ClassifyQuestion`].
    QuestionType {
        /// Type of the question.
        question_type: QuestionType,
    },
}

/// The judge's ruling on a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SentenceRuling {
    /// Error of the sentence.
    pub category: ErrorCategory,
    /// Reason that the judge gives; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// The judge's ruling on a key fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FactRuling {
    /// Whether the summary states the fact.
    pub stated: bool,
    /// Numbers of the sentences that state it, from 1, ascending, each once and within the summary; none if it is not
    /// stated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sentences: Vec<usize>,
}

/// The type of a question: what it asks for (figure 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum QuestionType {
    /// A place.
    Location,
    /// A person or another acting being.
    Character,
    /// A cause, a motive or a purpose.
    Reason,
    /// A way of doing something.
    Method,
    /// An event: something that happened.
    Event,
    /// A thing, a group, an institution, a name.
    Entity,
    /// A number or an amount.
    Quantity,
    /// A time, a date, a duration, an order in time.
    Temporal,
    /// Words that were said or written.
    Quotation,
    /// None of the other types.
    Miscellaneous,
}

impl QuestionType {
    /// All ten types, in the order of the paper; a tied vote goes to the earlier.
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

    /// Returns the type's name, as label and in the prompt.
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

    /// Returns what questions of the type ask for, as the prompt says it.
    pub(super) const fn meaning(self) -> &'static str {
        match self {
            Self::Location => "a place",
            Self::Character => "a role in the narrative, and who has it",
            Self::Reason => "a reason or a motive",
            Self::Method => "how somebody accomplished something",
            Self::Event => "a certain occurrence or a point of the plot",
            Self::Entity => "a certain entity that is neither a character nor a place",
            Self::Quantity => "an amount or a number",
            Self::Temporal => "when something happens or how long it takes",
            Self::Quotation => "a certain phrase or term of the text",
            Self::Miscellaneous => "anything else",
        }
    }

    /// A question of it, our own, as the prompt shows it.
    pub(super) const fn example(self) -> &'static str {
        match self {
            Self::Location => "Where does Jim Hawkins overhear the plan of the mutiny?",
            Self::Character => "Who turns out to be the benefactor that pays for Pip's life in London?",
            Self::Reason => "Why does Elizabeth Bennet turn Mr Darcy down at first?",
            Self::Method => "How does Edmond Dantes get out of the Chateau d'If?",
            Self::Event => "What becomes of the Pequod on the third day of the chase?",
            Self::Entity => "What does Hester Prynne have to wear on her dress?",
            Self::Quantity => "How many pounds does Phileas Fogg bet on his journey?",
            Self::Temporal => "How long does Robinson Crusoe live alone on his island before he meets Friday?",
            Self::Quotation => "With which words does Bartleby refuse every task?",
            Self::Miscellaneous => "Under which name does Jean Valjean become a mayor?",
        }
    }
}

//! SagaScale's judge of answers (appendix A.4.2, figure 15) and its classifier of questions (A.3, figure 8).

use super::ask::ask;
use super::{JudgeResponse, Ruling, Submission};
use closeread_eval::answer::boxed::boxed_label;
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use closeread_prompts::judges::{ClassifyQuestion, JudgeSagaScale};
use closeread_prompts::variables::Named;
use serde::{Deserialize, Serialize};

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
    const fn meaning(self) -> &'static str {
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

/// Correct iff the answer addresses the question, contradicts nothing in the gold answer and has its key points.
pub(super) async fn correctness<H: Host>(
    host: &H,
    settings: Settings<'_>,
    submission: &Submission<'_>,
) -> Result<JudgeResponse, MethodError> {
    let Submission { item, title, said, .. } = submission;
    let prompt = JudgeSagaScale {
        title,
        question: &item.question,
        answers: &item.answers,
        several: item.answers.len() > 1,
        answer: said.text(),
    };
    ask(host, settings, &prompt, "", |reply| {
        boxed_label(reply, &["CORRECT", "INCORRECT"]).map(|label| Ruling::Correctness { correct: label == 0 })
    })
    .await
}

/// One of the ten types.
pub(super) async fn classify_question<H: Host>(
    host: &H,
    settings: Settings<'_>,
    submission: &Submission<'_>,
) -> Result<JudgeResponse, MethodError> {
    let types = QuestionType::ALL.map(|kind| Named { name: kind.name(), meaning: kind.meaning() });
    let item = submission.item;
    let answers = &item.answers[..item.answers.len().min(1)];
    let prompt = ClassifyQuestion { question: &item.question, answers, types: &types };
    ask(host, settings, &prompt, "", |reply| {
        boxed_label(reply, &QuestionType::ALL.map(QuestionType::name))
            .map(|label| Ruling::QuestionType { question_type: QuestionType::ALL[label] })
    })
    .await
}

//! SagaScale's judge of answers (appendix A.4.2, figure 15) and its classifier of questions (A.3, figure 8).

use super::ask::ask;
use super::ruling::{QuestionType, Ruling};
use super::submission::{JudgeResponse, Submission};
use closeread_eval::answer::boxed::boxed_label;
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use closeread_prompts::judges::{ClassifyQuestion, JudgeSagaScale};
use closeread_prompts::variables::Kind;

/// Asks whether an answer is correct: iff it addresses the question, contradicts nothing in the gold answer and has its
/// key points.
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
    ask(host, settings, &prompt, "", |response| {
        boxed_label(response, &["CORRECT", "INCORRECT"]).map(|label| Ruling::Correctness { correct: label == 0 })
    })
    .await
}

/// Asks for one of the ten types, by the question alone.
pub(super) async fn classify_question<H: Host>(
    host: &H,
    settings: Settings<'_>,
    submission: &Submission<'_>,
) -> Result<JudgeResponse, MethodError> {
    let types = QuestionType::ALL.map(|of| Kind { name: of.name(), meaning: of.meaning(), example: of.example() });
    let prompt = ClassifyQuestion { question: &submission.item.question, types: &types };
    ask(host, settings, &prompt, "", |response| {
        boxed_label(response, &QuestionType::ALL.map(QuestionType::name))
            .map(|label| Ruling::QuestionType { question_type: QuestionType::ALL[label] })
    })
    .await
}
